// What the label sequences may score that a cascade has dropped: an upper bound, from all of its levels together.
//
// A sequence is followed from position to position at the highest order m whose lattice has a state for its last m
// labels there. That state is made of two of order m - 1 that stayed, so the order rises by one from a position to the
// next while all states stay, and falls where the sequence meets one that was dropped. At order m the n-grams of up to
// m + 1 labels are known; NgramBounds says what longer ones may add. All labels that are no candidates at a position
// are one degenerate label for each coarse tag (Kaji et al. 2010). It scores the largest sum of what such a label
// scores by itself and what n-grams of labels may add that end with it, or also with the next label if that is a
// candidate, which then count nothing elsewhere; the n-grams of coarse tags are those of any label (CoarseContexts). A
// sequence that is at the highest order at every position is a path of the last lattice; what is bounded here are all
// others, each followed in one way only.
//
//   out_m[s] = node_m[s] + max( out_{m-1}[prev s] + above_{m-1},  max_r any_m[r] + edge_m[r, s] + above_m )
//
// over the sources r of s of which not both stayed (at the highest order: over all, of out instead of any), where
// any_m[r] is the largest of out_m[r], of any_{m+1}[q] for the states q that end with r, and at the highest order of
// the best path to r. Degenerate labels lead to states of order 1. `onward` is the same from the other end. With both,
// the best dropped sequence through a state is bounded: what is no better than what is known already can be left out
// of the next pass, whose bounds are closer then.
#pragma once

#include <algorithm>
#include <functional>

#include "scoring/cascade.hpp"
#include "scoring/coarse_contexts.hpp"

namespace certus::scoring {

class Outside {
 public:
  // The cascade must outlive this. `best` is the score of the best path to each state of the last lattice.
  void begin(Cascade& cascade, const NgramTable& ngrams, Index order, const std::vector<double>& best);
  // The largest score that a dropped sequence may have, -inf if there is none.
  double find_forward();
  // The logarithm of the sum of exp(score) over all dropped sequences is not above this. `sums` is the same of all
  // paths to each state of the last lattice, and the scores of degenerate labels must be such sums, too.
  double find_mass(const std::vector<double>& sums);
  // Scores the labels that are no candidates where one, alone, may lead above the limit. Those that may be better are
  // followed one by one from then on, until `find_backward`, also those that lead up to a margin below. `score` gives
  // the scores of the units of a token, by its position.
  using Score = std::function<const float*(Index)>;
  void name_labels(double limit, double margin, const Allowed* allowed, const Score& score);
  // After `find_forward`: the best ways on. From now on, what does not lead above `limit` is left out.
  void find_backward(double limit);
  // After `find_backward`: scores the labels that are no candidates where one may lead above the limit, and leaves out
  // all others.
  void score_labels(const Allowed* allowed, const Score& score);
  // After another `find_backward`: bounds these by the n-grams that they make with their neighbours.
  void look_closer();
  // After `find_backward`: what leads above the limit. Of candidates `states`, by the states of order 1, where those
  // already marked stay; and `labels` that are none, after `score_labels`.
  void find_alive(std::vector<std::uint8_t>& states, std::vector<Cascade::Taken>& labels);
  // After `find_alive`: the best of these labels, so many per position; all others are degenerate labels again.
  void take_back(Index most, std::vector<Cascade::Taken>& labels);
  // Which states of order m may be part of a sequence of candidates that scores at least so much.
  void drop_states(Index m, double least, std::vector<std::uint8_t>& states);

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;  // no candidate

  // A label that is no candidate.
  struct Named {
    Index position;
    Label label;
    float score;
    double out;           // the best sequence up to it
    std::size_t weights;  // in `named_weights_`: of its pairs with candidates before it and after it, the n-grams of
                          // two labels and what longer ones may add
  };

  static void raise(double& x, double y) { x = std::max(x, y); }
  // x[i] = max(x[i], y[i] + z)
  static void raise_all(double* x, const double* y, double z, Index n);
  template <class Most>
  static void lead(const double* from, const double* table, const Most& most, double* into, Index n);

  void lead_alone();
  void go_on_alone();
  void leave_alone(Index t, Index m);
  double bound_alone(Index i, const RestScore& rest) const;
  void name_labels_of(Index t, Index group);
  void name_label(Index t, Label y, float score);
  void enter_named(Index t);
  double lead_from_named(Index t, std::uint32_t s) const;
  void forget_names();
  void enter_rest(Index t);
  void lead_to_rest(Index t);
  void lead_sums_to_rest(Index t);
  void gather(double& x, double y) const;
  void enter(Index t, Index m);
  double enter_at(Index t, Index m, std::uint32_t s) const;
  double reach(Index t, Index m, std::uint32_t r, Label y, std::uint32_t candidate) const;
  void join(Index t);
  void go_backward(Index t);
  void leave(Index t, Index m);
  bool leads_above(Index i) const;
  void find_labels(Index t, Index group);
  double bound_by_tags(Index t, Index group, Index place, float score) const;
  bool is_alive(Cascade::Taken& label, bool close) const;
  void list_neighbours(Index t);
  void lead_from_rests(Index t, Index group);
  void list_beside(Index t, const float* (NgramBounds::*of)(Unit) const, std::vector<const float*>& rows) const;
  double bound_label(Index t, Label y, float score) const;
  float above_edge(Index t, Index m, std::uint32_t r, std::uint32_t s) const;
  float above_state(Index t, Index m, std::uint32_t s) const;
  double weigh_edge(Index t, Index m, std::uint32_t r, std::uint32_t s, std::uint32_t e) const;

  CoarseContexts contexts_;
  Cascade* cascade_ = nullptr;
  const NgramTable* ngrams_ = nullptr;
  const std::vector<double>* best_ = nullptr;
  Index order_ = 0, width_ = 0;
  double limit_ = kNever<double>;
  bool sum_ = false;                                 // whether to add up, not to take the largest
  bool closer_ = false;                              // whether ways on are known
  std::vector<std::vector<double>> out_, any_;       // [order][states]
  std::vector<std::vector<double>> onward_, lower_;  // [order][states]: the best way on; that at this order or below
  std::vector<double> leaving_lattice_;              // [states of the highest order]: the best way on that leaves it
  // All of [positions][groups + 1]. The best way to each coarse tag: from anything; with the n-grams of labels that may
  // end there; from degenerate labels to those of candidates. The best sequence up to a label of each; up to a
  // degenerate one, with n-grams that end there; and before a candidate, without n-grams that end there, or with them.
  std::vector<double> after_, entering_, after_rest_, before_, followed_, left_, around_;
  // The best way on from a coarse tag to a degenerate label, from a degenerate one to candidates, and what follows
  // `after` and `entering` from there on.
  std::vector<double> to_rest_, to_label_, onward_after_, onward_entering_;
  std::vector<double> own_to_label_;                      // as `to_label`, of `entering`
  std::vector<double> ahead_, around_ahead_, own_ahead_;  // [groups + 1]
  double from_rests_ = kNever<double>;  // the best way from degenerate labels to the coarse tag looked at
  std::vector<Named> named_;            // in the order of positions
  std::vector<float> named_weights_;
  std::vector<std::size_t> named_begin_;     // [positions + 1]
  std::vector<Cascade::Taken> found_;        // labels that are no candidates
  std::vector<float> places_;                // scores of the labels of a position
  std::vector<const float*> ending_, next_;  // rows of NgramBounds for the neighbours of a position
};

}  // namespace certus::scoring
