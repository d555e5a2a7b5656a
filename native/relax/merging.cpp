#include "relax/merging.hpp"

#include <algorithm>
#include <numeric>

namespace certus::relax {
namespace {

Index find_root(std::vector<Index>& up, Index cell) {
  while (up[cell] != cell) cell = up[cell] = up[up[cell]];
  return cell;
}

}  // namespace

CellClasses merge_cells(Index size, const Index* left, const Index* right, Index pairs) {
  std::vector<Index> up(size), count(size, 1), number(size, -1);
  std::iota(up.begin(), up.end(), Index{0});
  for (Index i = 0; i < pairs; ++i) {
    const Index a = find_root(up, left[i]), b = find_root(up, right[i]);
    if (a == b) continue;
    up[std::max(a, b)] = std::min(a, b);  // so the least cell of a class is its root
    count[std::min(a, b)] += count[std::max(a, b)];
  }
  CellClasses classes;
  Index known = 0;
  for (Index cell = 0; cell < size; ++cell) {
    const Index root = find_root(up, cell);
    if (count[root] == 1) continue;
    if (number[root] < 0) number[root] = known++;
    classes.cells.push_back(cell);
    classes.number.push_back(number[root]);
  }
  return classes;
}

}  // namespace certus::relax
