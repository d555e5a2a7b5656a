// The loops of the narrow search (narrow_search.hpp): a look at all labels of some positions, and a step to few of
// them.
#pragma once

#include "chain/search/gather_top_labels.hpp"
#include "chain/search/sweep_step.hpp"

namespace certus {

// What a label could add to a path at most, with bounds on the transitions into it and out of it, or out of it only:
//   near(y) = node[y] + inside[y],   own(y) = node[y] + leave[y].
// All but `node` are padded with -inf.
template <class S>
struct Scan {
  const S* node;
  const S* inside;
  const S* leave;
};

// Finds the maxima of both over each block of labels 0 .. n-1, for `positions` of them, whose nodes are `stride` apart:
// near and own are [positions][padded_blocks(n)], with -inf after the last block. Tells whether the nodes may hold more
// than moderate numbers (is_moderate).
bool scan(const Scan<float>& at, float* near, float* own, Index n, Index positions, Index stride);
bool scan(const Scan<double>& at, double* near, double* own, Index n, Index positions, Index stride);

// What blocks promise: bounds on reach[y] + other[y] after a step with a cap. Both `near` of a block and `own` with the
// best of the rows' transitions into it are such bounds for labels that come from the rows.
template <class S>
struct Promises {
  S* near;               // [padded_blocks(n)]: as a scan found it; then what blocks promise
  const S* own;          // [padded_blocks(n)]
  const S* enter;        // [padded_blocks(n)]: the largest of steps.enter
  const S* const* rows;  // [steps.count][padded_blocks(n)]: the largest of steps.rows
  Index best = 0;        // the block that promises most,
  Index tied = 0;        // and how many promise the same
};
void promise(const Steps<float>& steps, Promises<float>& promises, Index n);
void promise(const Steps<double>& steps, Promises<double>& promises, Index n);

// The largest node[y] + max(lift + inside[y], rest + outside[y]), in double whatever the nodes are held in.
double find_promise(const float* node, const double* inside, double lift, const double* outside, double rest, Index n);
double find_promise(const double* node, const double* inside, double lift, const double* outside, double rest, Index n);

// Takes a step that has a cap to the blocks that may hold a sum reach[y] + other[y] of `least` or more; blocks.most
// says what they promise. It begins with block `best`; `least` rises to `margin` over the largest reach so far, without
// the cap. Returns that reach. What is written to steps.reach are the sums.
float step_blocks(const Steps<float>& steps, Blocks<float>& blocks, Index n, Index best, float least, float margin);
double step_blocks(const Steps<double>& steps, Blocks<double>& blocks, Index n, Index best, double least,
                   double margin);

}  // namespace certus
