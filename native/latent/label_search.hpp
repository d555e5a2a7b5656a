// Label sequences in decreasing order of probability: best-first search over prefixes of labels, and with it an upper
// bound on the probability of every label sequence that was not found yet.
//
// A prefix y_0 .. y_t has the exact sums a[h] over its latent paths that end in state h of y_t. What can follow is
// bounded by
//   w[T-1][h] = 1,   w[t][h] = max over labels z of  sum over states j of z of  link(h, j) node[t+1][j] w[t+1][j],
// in which every state may choose the label that follows best by itself.
//
//   Claim: w[t][h] >= S[t][h](z), the sum over the paths of any labels z = z_t+1 .. z_T-1 that go on from state h.
//   Proof, from the end: both are 1 at T-1. S[t][h](z) = sum over j of z_t+1 of link(h, j) node[t+1][j] S[t+1][j](z),
//   in which S[t+1][j] <= w[t+1][j] and all factors are >= 0; and the label z_t+1 is one of those the maximum is over.
//
// So f = sum over h of a[h] w[t][h] bounds the mass of every sequence that begins with the prefix; it never grows when
// a prefix is extended (each a[h] goes to one label z instead of to the best one for h), and for whole sequences it is
// their mass itself. Whole sequences therefore leave the agenda in the order of their mass, and the largest f on it
// bounds those that are still to come. With one state per label, w is what Viterbi computes, and the search never errs.
#pragma once

#include <queue>
#include <vector>

#include "latent/weights.hpp"

namespace certus::latent {

template <class Kind>
class LabelSearch {
 public:
  using N = typename Kind::Value;

  // Sequences with a mass of at most `least` (its log) are of no interest. The arena must outlive the search.
  LabelSearch(const Weights<Kind>& weights, double least, Arena& arena);

  // The log of a bound on the mass of every sequence of more than `least` that was not found yet.
  double bound() const { return agenda_.empty() ? kNever<double> : agenda_.top().mass; }

  // Takes the best prefix from the agenda. Whether it was a whole sequence: then labels [T] and its mass are written.
  bool expand(double least, Label* labels, double* mass);

  Index expanded = 0;

 private:
  struct Entry {
    double mass;   // log f
    Index order;   // earlier offers first among equals
    Index before;  // the prefix that is extended, or -1
    Label label;
    bool operator<(const Entry& other) const { return mass != other.mass ? mass < other.mass : order > other.order; }
  };
  struct Prefix {
    Index before, t, exponent;
    Label label;
  };

  class Futures;

  void bound_futures();
  void offer(Index before, Index t, Index exponent, const N* arrivals, double least);
  Index open(const Entry& entry);

  const Weights<Kind>& weights_;
  Arena& arena_;
  const LatentModel& model_ = weights_.model();
  N* ahead_ = arena_.get<N>(weights_.length() * model_.width());  // [T][width]: node[t][h] w[t][h], over 2^exponent
  Index* exponents_ = arena_.get<Index>(weights_.length(), 0);
  N* arrivals_ = arena_.get<N>(model_.width(), Kind::one);
  std::vector<Prefix> prefixes_;
  std::vector<N> sums_;  // [prefixes][room]: a
  std::priority_queue<Entry> agenda_;
  Index offered_ = 0;
};

}  // namespace certus::latent
