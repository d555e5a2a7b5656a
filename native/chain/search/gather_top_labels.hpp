// Collecting the few large elements of a row, by the maxima that a step left behind: see Maxima in sweep_step.hpp, and
// Blocks.
#pragma once

#include <algorithm>

#include "chain/search/sweep_step.hpp"

namespace certus {

// A label with what it is chosen by; ranked by value, then label.
template <class S>
struct Found {
  S value;
  Label label;
  bool operator<(const Found& other) const { return value != other.value ? value > other.value : label < other.label; }
};

// Blocks of labels that lie side by side, and those of them that were looked into.
template <class S>
struct Blocks {
  S* most;          // [padded_blocks(n)]: the largest element of a block, or a bound; -inf where it was not looked into
  Label* taken;     // [padded_blocks(n)]: the blocks that were,
  Index count = 0;  // and how many there are
  S left_out = 0;   // a bound on all elements of the others
};

// Marks the groups whose maximum is at least `least`, as bits, a word a chunk; returns how many there are. *below
// becomes the largest of the others.
Index mark(const Maxima<float>& maxima, Index chunks, float least, unsigned* marked, float* below);
Index mark(const Maxima<double>& maxima, Index chunks, double least, unsigned* marked, double* below);

// Writes the labels y < n of the marked groups with x[y] + other[y] >= least, group by group; returns how many there
// are. *below becomes the largest sum of the others in those groups, if larger.
Index collect(const float* x, const float* other, Index n, const unsigned* marked, float least, Found<float>* found,
              float* below);
Index collect(const double* x, const double* other, Index n, const unsigned* marked, double least, Found<double>* found,
              double* below);

// Writes the labels of these blocks with x[y] >= least, block by block; returns how many there are. *below becomes the
// largest of all others, or a bound on them. Labels of the padding may be among them where `least` is -inf.
Index collect(const float* x, const Blocks<float>& blocks, float least, Found<float>* found, float* below);
Index collect(const double* x, const Blocks<double>& blocks, double least, Found<double>* found, double* below);

// Keeps those with value >= least; returns how many there are. *below becomes the largest value of the others, if
// larger.
template <class S>
Index drop_below(Found<S>* found, Index count, S least, S* below) {
  Index kept = 0;
  for (Index n = 0; n < count; ++n) {
    if (found[n].value >= least) found[kept++] = found[n];
    else *below = std::max(*below, found[n].value);
  }
  return kept;
}

}  // namespace certus
