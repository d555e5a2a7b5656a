// The best tree over candidate arcs, whatever parts are scored.
#pragma once

#include <vector>

#include "syntax/dependency/arcs.hpp"

namespace certus::scoring {

struct TreeKind {
  bool projective = false;
  bool single_root = true;
};

struct FoundTree {
  bool exists = false;
  bool proven = false;
  double score = 0, bound = 0;
  std::vector<Label> arc_of;  // [n]: the arc into each word
};

// Buffers of one thread, kept from sentence to sentence.
class TreeSearch {
 public:
  void find(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind, FoundTree& found);

 private:
  std::vector<double> dense_;
  std::vector<Index> heads_;
};

}  // namespace certus::scoring
