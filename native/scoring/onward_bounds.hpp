// What the rest of a sentence may score at most, after the last labels of a sequence: upper bounds from all levels of a
// cascade together, for sequences that leave its last lattice.
//
// A sequence is followed from position to position at the highest order m whose lattice has a state for its last m
// labels there. That state is made of two of order m - 1 that stayed, so the order rises by one from a position to the
// next while all states stay, and falls where the sequence meets one that was dropped. At order m the n-grams of up to
// m + 1 labels are known; NgramBounds says what longer ones may add. All labels that are no candidates at a position
// are one degenerate label for each coarse tag (Kaji et al. 2010). It scores the largest sum of what such a label
// scores by itself and what n-grams of labels may add that end with it, or also with the next label if that is a
// candidate, which then count nothing elsewhere; the n-grams of coarse tags are those of any label (CoarseContexts).
//
//   on_m[r] = max( lower_m[r],  max_q node_{m+1}[q] + above_{m+1} + on_{m+1}[q] )
//   lower_m[r] = max( lower_{m-1}[the last m - 1 labels of r],  max_s edge_m[r, s] + above_m + node_m[s] + on_m[s] )
//
// over the states q that r is the beginning of, and the states s after r where not both stayed; at the highest order
// on_m[r] goes on along all edges of the lattice. `leaving` is the same of sequences that leave the last lattice later
// on. Each sequence is followed in one way only, so the same recurrence bounds sums of exp(score).
#pragma once

#include <span>
#include <vector>

#include "scoring/cascade.hpp"
#include "scoring/coarse_contexts.hpp"
#include "scoring/rest_sums.hpp"

namespace certus::scoring {

class Onward {
 public:
  // A label that is no candidate and is followed by itself, because as part of a degenerate label it would lift the
  // bounds of all sequences before it.
  struct Named {
    Index position;
    Label label;
    float score;
    double on;  // the best way on from it
  };

  // The cascade must outlive this. Then come `step_back` and `join` for each position from the last one on, which make
  // the ways on from the position before. Degenerate labels that may lead above the limit are told apart.
  void begin(Cascade& cascade, const NgramTable& ngrams, Index order);
  void tell_apart(double limit, const Allowed* allowed, const UnitScores& units);
  void step_back(Index t);
  void join(Index t);
  // The logarithm of the sum of exp(score) over all dropped sequences is not above this. The scores of degenerate
  // labels must be those of `rests`, and the sums of the cascade those of the last lattice.
  double find_mass(Cascade& cascade, const NgramTable& ngrams, Index order, RestSums& rests);

  // The best way on from a state of order m; and at the highest order, of those that leave the lattice.
  double from(Index m, std::uint32_t s) const { return on_[m][s]; }
  double leaving(std::uint32_t s) const { return leaving_[s]; }
  // Between `step_back` and `join`: of those that leave the lattice at once; what is known of them otherwise.
  double departing(std::uint32_t s) const { return lower_[order_][s]; }
  void limit_departing(std::uint32_t s, double most) { lower_[order_][s] = std::min(lower_[order_][s], most); }
  // From a label at position t, given its coarse tag, to a degenerate one.
  double to_rest(Index t, Unit group) const { return to_rest_[t * stride_ + group]; }
  // From before a degenerate label of a coarse tag, after a label of another.
  double through_rest(Index t, Unit before, Index group) const;
  // From a label that is no candidate.
  double from_label(Index t, Label y) const;
  // What it may add to the ways on of later states.
  double excess(Index t, Label y) const { return contexts_.excess(t)[cascade_->bounds->group(y)]; }
  // Makes the labels that were told apart part of degenerate ones again.
  void put_back();
  // The labels told apart at a position.
  std::span<const Named> named(Index t) const {
    return {named_.data() + named_begin_[t + 1], named_.data() + named_begin_[t]};
  }
  // An edge of order 1 that was followed at that order, with what longer n-grams may add.
  float pair(std::size_t edge) const { return pairs_[edge]; }

 private:
  void prefetch(Index t) const;
  void go_back(Index t);
  void look_ahead(Index t);
  void lead_to_rests(Index t);
  AloneRows rows_from(Index t) const;
  void pass_on(Index t, Index m);
  void leave(Index t, Index m);
  void enter_from_below(Index t, Index m);
  void follow_lattice(Index t);
  void follow_dropped(Index t, Index m);
  void leave_to_named(Index t);
  void name_labels(Index t);
  void lead_alone(Index t);
  double bound_alone(Index t, Index group, const RestScore& rest) const;
  bool name_labels_of(Index t, Index group);
  double find_way_on(Index t, Label y) const;
  void gather(double& x, double y) const;
  void lead_to_labels(Index t);
  bool find_shift(Index t, double& shift) const;
  void add_up(Index t, double shift);
  void add_up_entered(Index t, Index m, double shift);
  void add_up_dropped(Index t, Index m, double shift);
  void add_up_lattice(Index t);
  float above_edge(Index t, Index m, std::uint32_t r, std::uint32_t s) const;
  float above_state(Index t, Index m, std::uint32_t s) const;
  double* row(std::vector<double>& table, Index t) const { return table.data() + t * stride_; }
  const double* row(const std::vector<double>& table, Index t) const { return table.data() + t * stride_; }

  CoarseContexts contexts_;
  Cascade* cascade_ = nullptr;
  const NgramTable* ngrams_ = nullptr;
  Index order_ = 0, stride_ = 0;
  bool sum_ = false;  // whether to add up, not to take the largest
  RestSums* rests_ = nullptr;
  double limit_ = kNever<double>;
  double far_ = -kNever<double>;  // how far below the best ways on others are all the same; infinite if none are
  const Allowed* allowed_ = nullptr;
  UnitScores units_;
  std::vector<std::vector<double>> on_, lower_;  // [order][states]
  std::vector<double> leaving_;                  // [states of the highest order]
  std::vector<float> pairs_;                     // [edges of order 1]
  // All of [positions][stride]. The best way on from a coarse tag to a degenerate label; to that or a named one; to a
  // candidate, with or without what n-grams of labels add; and from before a degenerate label, without and with n-grams
  // that end there.
  std::vector<double> to_rest_, to_other_, to_label_, own_to_label_, after_, entering_;
  std::vector<double> ahead_, reached_;              // [stride]: by coarse tag, -inf while they are not used
  std::vector<TagLead> ahead_leads_, leads_;         // those that are not -inf
  std::vector<double> alone_, own_alone_, through_;  // [stride]
  std::vector<Index> open_;                          // coarse tags that are looked at more closely
  std::vector<Named> named_;                         // from the last position to the first
  std::vector<std::size_t> named_begin_;             // [positions + 1]: how many there are from each position on
  std::vector<float> places_;
  std::vector<double> weights_, ahead_weights_, leaving_weights_, sums_;  // of a position, while they are added up
};

}  // namespace certus::scoring
