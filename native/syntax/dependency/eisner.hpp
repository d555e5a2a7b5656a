// The best projective tree by the scores of its arcs, over all arcs at once: Eisner (2000).
//
// ProjectiveTrees writes down a program over candidate arcs, and is fast where these are few. Here all n * n arcs are
// scored, and tables are dense: O(n^3) additions and maxima, which vectorise.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace certus::syntax {

class Eisner {
 public:
  // scores[i][h], of [n][n + 1], as in relax/spanning_tree.hpp: word i + 1 with head h, -inf forbids. Fills heads[n];
  // false where there is no tree.
  bool decode(const double* scores, Index n, bool single_root, Index* heads);

 private:
  // Of words i <= j: complete items C(h, e), which hold all modifiers of h towards e, and incomplete items I(h, m),
  // which hold the arc from h to m and all between the two. [N][N], N = n + 1, -inf where there is none; rows are heads
  // unless the name says ends.
  struct Items {
    std::vector<double> complete, by_end, incomplete;
    void reset(Index cells);
  };
  double score(Index head, Index modifier) const { return scores_[(modifier - 1) * size_ + head]; }
  void read(const double* scores, Index n);
  void find_inside(Index first);
  void trace(Index root, Index* heads);

  Index size_ = 0;
  const double* scores_ = nullptr;
  struct Span {
    Index head, end;
  };
  std::vector<Span> spans_;  // complete items that are yet to be traced
  Items right_, left_;       // to the right and to the left of heads
};

}  // namespace certus::syntax
