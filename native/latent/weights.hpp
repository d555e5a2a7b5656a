// One sentence under a latent model, as weights, and the sums over its paths.
#pragma once

#include "base/arena.hpp"
#include "base/numbers.hpp"
#include "latent/model.hpp"

namespace certus::latent {

// out[j] = sum over i < count of x[i] rows[i][j] for j < width, where rows are `stride` apart; zeros past their end.
void multiply_rows(const double* x, const double* rows, Index count, Index stride, Index width, double* out);
void multiply_rows(const Logarithm* x, const Logarithm* rows, Index count, Index stride, Index width, Logarithm* out);

// node(t)[h] = exp(score of state h at position t, start and end included, less taken_t) and link(t, i)[j] =
// exp(transition into position t - the largest there): what is taken out is the same for all paths, `taken` in all.
// Rows of nodes are [width], zeros past the states; so are those of links for powers of two.
template <class Kind>
class Weights {
 public:
  using N = typename Kind::Value;

  Weights(const LatentModel& model, const Moves& moves, const double* emissions, Index T, Arena& arena);

  const LatentModel& model() const { return model_; }
  Index length() const { return length_; }
  const N* node(Index t) const { return nodes_ + t * model_.width(); }
  const N* link(Index t, Index i) const { return link_ + (t - 1) * step_ + i * stride_; }
  // The transpose of the links into position t, [H][width]; `scratch` has room for it.
  const N* across(Index t, N* scratch) const;
  double taken() const { return taken_; }

  // The log of the sum over all paths, less `taken`.
  double sum(Arena& arena) const;
  // The same over the paths of some labels: the restricted forward sum (equation 8).
  double sum_of(const Label* labels, Arena& arena) const;

  // p [T][states]: the probability of each state at each position, for powers of two. Returns the first position
  // that no path reaches, or -1; the log of the sum over all paths is written, less `taken`.
  Index posteriors(double* p, double* log_sum, Arena& arena) const;

  // out[j] = node(t)[j] sum over the states i of label y of x[i] link(t, i)[j], for the states j of label z; x and out
  // begin with the labels' own first state, and have room for a whole vector. Returns the exponent that was taken out.
  Index step(const N* x, Label y, Index t, Label z, N* out) const;
  // out[j] = sum over the states i of label y of x[i] link(t, i)[j], for all j.
  void leave(const N* x, Label y, Index t, N* out) const {
    multiply_rows(x, link(t, model_.begin(y)), model_.count(y), stride_, model_.width(), out);
  }

 private:
  const LatentModel& model_;
  Index length_;
  N* nodes_;
  const N* link_;
  Index stride_, step_;  // from row to row of the links, and from step to step: 0 where all share one matrix
  double taken_ = 0;
};

// Whether a sentence may be done in weights as they are, scaled by powers of two: nothing that is allowed comes out
// below exp(-2 kSpan) of the largest. As long as all states that lead on lead to the same ones, these get their weights
// from the same, so what counts is how much the scores of one step span; also where states are forbidden altogether, in
// the model or at a position. Where transitions forbid more than that, it is the span of the whole sentence.
inline constexpr double kSpan = 300;
bool spans_little(const LatentModel& model, const Moves& moves, const double* emissions, Index T);

// How far a computed log-probability may be from the truth, in units of 1: products and sums of positive numbers lose
// at most a unit in the last place each, and scores lose as much of their own size.
double rounding(const LatentModel& model, const Moves& moves, const double* emissions, Index T);

}  // namespace certus::latent
