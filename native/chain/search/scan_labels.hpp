// A look at all labels of some positions: what each of them could add to a path at most.
#pragma once

#include "chain/search/sweep_step.hpp"

namespace certus {

// By the score of a label itself and two bounds on the transitions into and out of it:
//   near(y) = node[y] + inside[y],   far(y) = node[y] + outside[y].
// All but `node` are padded with -inf.
template <class S>
struct Scan {
  const S* node;
  const S* inside;
  const S* outside;
};

// Finds the maxima of both over each chunk of labels 0 .. n-1, for `positions` of them, whose nodes are `stride` apart:
// near and far are [positions][chunks]. Tells whether the nodes may hold more than moderate numbers (is_moderate).
bool scan(const Scan<float>& at, float* near, float* far, Index n, Index positions, Index stride);
bool scan(const Scan<double>& at, double* near, double* far, Index n, Index positions, Index stride);

// The largest node[y] + max(lift + inside[y], rest + outside[y]), in double whatever the nodes are held in.
double find_promise(const float* node, const double* inside, double lift, const double* outside, double rest, Index n);
double find_promise(const double* node, const double* inside, double lift, const double* outside, double rest, Index n);

}  // namespace certus
