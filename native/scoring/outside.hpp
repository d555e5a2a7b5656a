// What the label sequences may score that a cascade has dropped: an upper bound, from all of its levels together.
//
// A sequence is followed from position to position at the highest order m whose lattice has a state for its last m
// labels there. That state is made of two of order m - 1 that stayed, so the order rises by one from a position to the
// next while all states stay, and falls where the sequence meets one that was dropped. At order m the n-grams of up to
// m + 1 labels are known; NgramBounds says what longer ones may add. All labels that are no candidates at a position
// are one degenerate label for each coarse tag (Kaji et al. 2010). It scores the largest sum of what such a label
// scores by itself and what n-grams of labels may add that end with it or with the next label, which then count nothing
// elsewhere; the n-grams of coarse tags are those of any label. A sequence that is at the highest order at
// every position is a path of the last lattice; what is bounded here are all others, each followed in one way only.
//
//   out_m[s] = node_m[s] + max( out_{m-1}[prev s] + above_{m-1},  max_r any_m[r] + edge_m[r, s] + above_m )
//
// over the sources r of s of which not both stayed (at the highest order: over all, of out instead of any), where
// any_m[r] is the largest of out_m[r], of any_{m+1}[q] for the states q that end with r, and at the highest order of
// the best path to r. Degenerate labels lead to states of order 1. `onward` is the same from the other end.
#pragma once

#include "scoring/cascade.hpp"

namespace certus::scoring {

class Outside {
 public:
  // The largest score that a dropped sequence may have, -inf if there is none. `best` is that of the best path to each
  // state of the last lattice. With `once`, of those alone that leave the last lattice at one place.
  double find(const Cascade& cascade, const NgramTable& ngrams, Index order, const std::vector<double>& best,
              bool once = false);

  // After `find`: dropped labels, [position, place], and for each order the dropped states that a
  // sequence with a bound above `limit` goes through.
  void find_above(const Cascade& cascade, double limit);
  std::vector<std::pair<Index, Index>> labels;
  std::vector<std::vector<std::uint32_t>> states;  // [order]
  // How many labels and states these are.
  std::size_t size() const {
    std::size_t size = labels.size();
    for (const auto& listed : states) size += listed.size();
    return size;
  }

 private:
  void go_forward(const Cascade& cascade, Index t);
  void enter(const Cascade& cascade, Index t, Index m);
  double reach(const Cascade& cascade, Index t, Index m, std::uint32_t r, Label y) const;
  void join(const Cascade& cascade, Index t);
  void enter_rest(const Cascade& cascade, Index t);
  void find_states(const Cascade& cascade, Index m, double limit);
  void find_labels(const Cascade& cascade, Index t, double limit);
  void list_beside(const Cascade& cascade, Index t, const float* (NgramBounds::*of)(Unit) const,
                   std::vector<const float*>& rows) const;
  double bound_label(const Cascade& cascade, Index t, Index i) const;
  void go_backward(const Cascade& cascade, Index t);
  void leave(const Cascade& cascade, Index t, Index m);

  Index order_ = 0;
  bool once_ = false;
  std::vector<std::vector<double>> out_, any_;       // [order][states]
  std::vector<std::vector<double>> onward_, lower_;  // [order][states]: the best way on; that at this order or below
  // All of [positions][groups + 1]. Of sequences up to a degenerate label: one between labels, the first of several,
  // and others of several.
  std::vector<double> between_, first_, several_;
  // Of all sequences up to a label; what goes on from there to each coarse tag, from degenerate labels to a label, and
  // from degenerate ones to another.
  std::vector<double> before_, after_, after_rest_, after_several_;
  // The best way on from a degenerate label to a label, or to another degenerate one; from a label to a degenerate one.
  std::vector<double> to_label_, to_rest_, from_label_;
  std::vector<double> ahead_, between_ahead_, several_ahead_;  // [groups + 1]
  std::vector<std::pair<double, Index>> found_;                // of a position, with their bounds
  std::vector<const float*> ending_, leaving_;                 // rows of NgramBounds for the neighbours of a position
  const std::vector<double>* best_ = nullptr;
  const NgramTable* ngrams_ = nullptr;
};

}  // namespace certus::scoring
