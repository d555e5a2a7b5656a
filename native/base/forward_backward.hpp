// The recursion of sums over the paths of a sequence, forward and backward, written once for all steps and all kinds of
// numbers. With node[t] and link[t] the weights of the states of position t and of the step into it, in one kind of
// number (numbers.hpp),
//
//   alpha[0] = node[0],                     alpha[t] = node[t] (alpha[t-1] link[t]),
//   beta[T-1] = 1,     onward[t] = node[t] beta[t],     beta[t-1] = link[t] onward[t],
//
// alpha[t][i] is the sum over the paths that end in state i at position t, and beta[t][i] the sum over all ways to go
// on from there; every row is brought in range as soon as it is made. Their product says what goes through a state.
//
// What a sequence is made of is given by its steps, an object with
//
//   alpha(t), beta(t), onward(t)              where the rows of a position stand: pointers, which may be shared where a
//                                             row is not needed any more, or whatever else names a row;
//   begin(alpha)                              makes the first row, before its nodes;
//   forward(t, alpha[t-1], alpha[t])          the step into position t >= 1, before its nodes;
//   settle(t, alpha[t])                       multiplies a row by its nodes and brings it in range; tells whether any
//                                             path reaches the position;
//   finish(beta)                              makes the last row;
//   look_back(t, alpha[t], beta[t], onward)   collects what is to be known of a position, and makes onward[t];
//   backward(t, onward[t], beta[t-1])         the same step the other way round;
//   work()                                    where a sequence may take so long that the user wants to stop: what a
//   step
//                                             counts for (interrupt.hpp).
#pragma once

#include <algorithm>

#include "base/interrupt.hpp"
#include "base/vector.hpp"

namespace certus {

template <class Steps>
CERTUS_INLINE void heed_step(const Steps& steps, Heed& heed) {
  if constexpr (requires { steps.work(); }) heed(steps.work());
}

// Makes alpha[0 .. T). Returns the first position that no path reaches, or T.
template <class Steps>
CERTUS_INLINE Index run_forward(Steps& steps, Index T) {
  Heed heed;
  for (Index t = 0; t < T; ++t) {
    if (t == 0) steps.begin(steps.alpha(0));
    else steps.forward(t, steps.alpha(t - 1), steps.alpha(t));
    if (!steps.settle(t, steps.alpha(t))) return t;
    heed_step(steps, heed);
  }
  return T;
}

// Makes beta and onward of all T >= 1 positions, the last one first.
template <class Steps>
CERTUS_INLINE void run_backward(Steps& steps, Index T) {
  Heed heed;
  steps.finish(steps.beta(T - 1));
  for (Index t = T - 1;; --t) {
    steps.look_back(t, steps.alpha(t), steps.beta(t), steps.onward(t));
    if (t == 0) return;
    steps.backward(t, steps.onward(t), steps.beta(t - 1));
    heed_step(steps, heed);
  }
}

// What most steps have in common, for rows of width() numbers of a kind: `Steps` derives from this, and gives
// weigh(t, row), which multiplies a row by the nodes of position t, and collect(t, alpha, beta).
template <class Steps, class Kind>
class StepsOver {
 public:
  using Value = typename Kind::Value;

  void begin(Value* alpha) const { std::fill_n(alpha, self().width(), Kind::one); }
  void finish(Value* beta) const { std::fill_n(beta, self().width(), Kind::one); }
  bool settle(Index t, Value* alpha) {
    self().weigh(t, alpha);
    return Kind::rescale(alpha, self().width(), total);
  }
  void look_back(Index t, Value* alpha, const Value* beta, Value* onward) {
    std::copy_n(beta, self().width(), onward);
    self().weigh(t, onward);
    Kind::rescale(onward, self().width(), total_onward);
    self().collect(t, alpha, beta);  // what it writes may take the place of the nodes
  }

  typename Kind::Total total, total_onward;  // what was taken out of alpha, and out of onward

 private:
  Steps& self() { return static_cast<Steps&>(*this); }
  const Steps& self() const { return static_cast<const Steps&>(*this); }
};

}  // namespace certus
