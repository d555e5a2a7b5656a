// The vector step over rows of single-precision scores, for whatever vectors the machine has.
//
// Rows are worked on in blocks of kLanes, from anywhere; they are readable and writable to the end of such a block.
#pragma once

#include "syntax/constituency/rules.hpp"

namespace certus::syntax {

inline constexpr Index kLanes = 8;
inline Index blocks(Index count) { return (count + kLanes - 1) / kLanes; }

// A left child over a span, with the rules that have a right child beside it.
struct LeftChild {
  const std::int32_t *begin, *end;  // numbers of rules
  float score;
};

// Where the wider spans are, and what stands to the right of the left children.
struct Raise {
  const Rules::Rule* rules;
  float* const* rows;            // [symbol] that begin with the left children
  std::uint64_t* widths;         // [symbol] of these rows
  const float* const* right;     // [symbol] that begin after them
  const std::uint64_t* present;  // [symbol] the widths of those
  Index width, blocks;           // of the left children; how much is to be read
  Index shift, carry;            // a width in present may be one of these further on in `widths`
};

// For all left children and rules and all x from 1 on in the blocks, rows[rule.parent][width + x] is raised to the sum
// of child.score, rule.score and right[rule.right][x]; the widths are noted. Where a parent has no row yet, it stops
// and returns that left child, which then begins with that rule; else `end`.
LeftChild* raise_rows(const Raise& raise, LeftChild* begin, LeftChild* end);

}  // namespace certus::syntax
