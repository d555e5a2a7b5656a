// Vine parsing: short arcs between words, and for what is farther away only that it is, and on which side. Eisner &
// Smith (2005); with outer arcs Rush & Petrov (2012), section 3.3. O(n b^2) for arcs of up to b words.
//
// Long arcs cut away, a projective tree is a row of fragments that are connected by short arcs. The head of a fragment
// has its own head outside, to the left or to the right; or it is the root. Any word with nothing above it on one side
// may have modifiers outside on that side. Structures are all that look so: more than the trees there are, which is
// what a pruning pass may do.
//
// Parts are numbered: first the candidate arcs; then, for word m, outer(m, kind); then the root's outer modifiers. An
// outer arc of b words or less would be no outer arc: those do not exist.
#pragma once

#include <vector>

#include "syntax/dependency/arcs.hpp"
#include "syntax/dependency/program.hpp"

namespace certus::syntax {

class Vine {
 public:
  enum Outer : std::uint8_t { head_left, head_right, modifiers_left, modifiers_right };

  static Index outer(Index word, Outer kind) { return 4 * (word - 1) + kind; }
  static Index count_outer(Index words) { return 4 * words + 1; }

  // `arcs`: those from the root of any length, others of at most `longest` words. outer_scores: [count_outer(n)].
  // False where there is no structure.
  template <class S>
  bool build(const Arcs& arcs, const S* arc_scores, const S* outer_scores, Index longest);

  // After build() with success. Arrays are [arcs + count_outer(n)].
  double max_marginals(double* out) { return program_.max_marginals(parts_, out); }
  double marginals(double* out) { return program_.marginals(parts_, out); }
  double decode(std::vector<Label>& used) { return program_.decode(used); }
  // After max_marginals(): see Program.
  void count_max_marginal_trees(double* counts) { program_.count_max_marginal_trees(parts_, counts, nullptr); }

 private:
  void build_span(Index i, Index j);
  void build_vine_left(Index e);
  void build_vine_right(Index e);
  // An item that may also have an outer arc: both together.
  Label add_choice(Label item, Index word, Outer kind);
  Label add_part(Label item, Index part, double score);
  bool exists(Index word, Outer kind) const;

  Label& right(Index h, Index e) { return right_[h * (longest_ + 1) + (e - h)]; }
  Label& left(Index h, Index e) { return left_[h * (longest_ + 1) + (h - e)]; }

  const Arcs* arcs_ = nullptr;
  Program program_;
  Index n_ = 0, longest_ = 0, parts_ = 0;
  std::vector<double> arc_, outer_;
  std::vector<Label> right_, left_, item_;     // complete items by head and length; [arcs]
  std::vector<Label> vine_left_, vine_right_;  // [n + 1]
  std::vector<Label> span_right_, span_left_;  // the arcs between two words, by the first and their distance, or -1
};

}  // namespace certus::syntax
