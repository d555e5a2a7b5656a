#include "features/arc_words.hpp"

#include <algorithm>

#include "features/affixes.hpp"
#include "features/characters.hpp"
#include "features/look.hpp"

namespace certus::features {
namespace {

constexpr Key kRoot = spread(1), kBefore = spread(2), kAfter = spread(3), kEmpty = spread(4);

Key evaluate(const ArcView& view, std::string_view cell, std::vector<char>& bytes) {
  Key affixes[16];
  switch (view.function) {
    case ArcFunction::lower:
      bytes.resize(2 * cell.size());
      return hash({bytes.data(), static_cast<std::size_t>(lower_case(cell, bytes.data()) - bytes.data())});
    case ArcFunction::shape: return look_at(cell).shape;
    case ArcFunction::prefix: return affixes[prefixes(cell, view.length, affixes) - 1];
    case ArcFunction::suffix: return affixes[suffixes(cell, view.length, affixes) - 1];
    default: return hash(cell);
  }
}

// The parts of a cell between bars, "_" apart, which stands for none.
void split(std::string_view cell, std::vector<Key>& out) {
  if (cell == "_") return;
  while (true) {
    const std::size_t bar = cell.find('|');
    out.push_back(hash(cell.substr(0, bar)));
    if (bar == std::string_view::npos) return;
    cell.remove_prefix(bar + 1);
  }
}

}  // namespace

void look_up_words(const Sentence& sentence, const std::vector<ArcView>& single, const std::vector<ArcView>& several,
                   ArcWords& words) {
  const Index n = words.length = sentence.length, width = words.width();
  words.values.resize(single.size() * static_cast<std::size_t>(width));
  std::vector<char> bytes;
  Key* row = words.values.data();
  for (const ArcView& view : single) {
    std::fill_n(row, kFarthestArc, kBefore);
    row[kFarthestArc] = kRoot;
    const std::string_view* cells = sentence.column(view.column);
    for (Index t = 0; t < n; ++t)
      row[kFarthestArc + 1 + t] = cells[t].empty() ? kEmpty : evaluate(view, cells[t], bytes);
    std::fill(row + kFarthestArc + 1 + n, row + width, kAfter);
    row += width;
  }
  words.firsts.resize(several.size());
  words.lists.resize(several.size());
  for (std::size_t v = 0; v < several.size(); ++v) {
    std::vector<Key>& list = words.lists[v];
    std::vector<std::uint32_t>& first = words.firsts[v];
    list.assign(1, kRoot);
    first.assign({0, 1});
    const std::string_view* cells = sentence.column(several[v].column);
    for (Index t = 0; t < n; ++t) {
      split(cells[t], list);
      first.push_back(static_cast<std::uint32_t>(list.size()));
    }
    list.push_back(kAfter);
    first.push_back(static_cast<std::uint32_t>(list.size()));
  }
}

}  // namespace certus::features
