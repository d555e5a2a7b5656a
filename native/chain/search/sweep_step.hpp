// A step of the sweeps of `auto`: from a few labels of one position to all labels of the next.
#pragma once

#include <limits>
#include <type_traits>

#include "base/simd.hpp"

namespace certus {

// Finding the few large elements of a row without reading it twice: labels are taken in chunks of kChunk; within
// a chunk, group g holds the labels g, g + kLanes, g + 2 kLanes, ... The maxima of groups and chunks tell where to
// look.
inline constexpr Index kLanes = 16;
inline constexpr Index kChunk = 8 * kLanes;
inline Index chunk_count(Index n) { return (n + kChunk - 1) / kChunk; }

template <class S>
struct Maxima {
  S* group;  // [chunks][kLanes]
  S* chunk;  // [chunks]
};

// One step from a few labels to all, with everything else folded into `rest`:
//   reach[y] = max(rest + enter[y], max_i alpha[i] + rows[i][y]) + node[y]
// Where there is a cap, it bounds further labels: reach[y] is max(that, lift + cap[y] + node[y]).
// All but `node` are padded with -inf.
template <class S>
struct Steps {
  S* reach;
  const S* node;
  const S* enter;
  S rest;
  const S* other;  // the maxima are those of reach + other
  const S* const* rows;
  const S* alpha;
  Index count;
  const S* cap = nullptr;
  S lift = 0;
  Index ahead = 0;  // elements from `node` to what the next step will read, which is asked for
};

// What a sum of a few terms of this magnitude may be off by in S. In double it is left as it is.
template <class S>
inline double rounding(double magnitude) {
  if constexpr (std::is_same_v<S, double>) return 0;
  return 2 * static_cast<double>(std::numeric_limits<S>::epsilon()) * magnitude;
}

// Takes the step to labels 0 .. n-1; returns the largest reach, without the cap. *suspicious tells that `node` may hold
// more than moderate numbers (is_moderate).
float step(const Steps<float>& steps, const Maxima<float>& maxima, Index n, bool* suspicious);
double step(const Steps<double>& steps, const Maxima<double>& maxima, Index n, bool* suspicious);

// Takes the step to the labels of chunk c only.
void step_chunk(const Steps<float>& steps, const Maxima<float>& maxima, Index n, Index c);
void step_chunk(const Steps<double>& steps, const Maxima<double>& maxima, Index n, Index c);

}  // namespace certus
