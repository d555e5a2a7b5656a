// Which nodes have their best labels, whatever the others have.
//
// Let z* be the labels with the highest totals. Where a block's best, less multipliers, is reached at z*, block and nodes
// agree. Let A be a set of nodes such that every block with all its nodes in A agrees, and every block b with some of
// its nodes in A, and others in a set O, prefers z*_A whatever the others are:
//
//   max_{z_A} F_b(z_A, z_O) - m(z_A, z_O)  =  F_b(z*_A, z_O) - m(z*_A, z_O)   for all z_O.
//
// Then no z does better than z with z*_A in place of z_A: each term of the objective is at least as large. So z*_A is part
// of an optimum, A can be fixed, and what is left falls into components that are solved by themselves. A is found by
// taking nodes out of it until this holds (compare Swoboda et al. 2014, "Partial optimality by pruning").
#include <algorithm>

#include "corpus/field.hpp"

namespace certus::corpus {
namespace {

constexpr std::size_t kMostCombinations = 128;  // of labels of nodes outside, for the test of a block

}  // namespace

// Takes the nodes of a block out.
void Field::open_up(Index block, std::vector<Index>& opened) {
  for (std::size_t i = blocks_.slot[block]; i < blocks_.slot[block + 1]; ++i) {
    const Index c = blocks_.consensus[i];
    if (open_[c] || alive_count_[c] == 1) continue;
    open_[c] = 1;
    opened.push_back(c);
  }
}

// Whether a block prefers the choices of its nodes that are not open, whatever the open ones choose.
bool Field::dominates(Index block) {
  const std::size_t begin = blocks_.slot[block], end = blocks_.slot[block + 1];
  std::vector<Index> outside;
  bool inside = false;
  std::size_t combinations = 1;
  for (std::size_t i = begin; i < end; ++i) {
    const Index c = blocks_.consensus[i];
    if (alive_count_[c] == 1) continue;
    if (!open_[c]) {
      inside = true;
    } else if (std::find(outside.begin(), outside.end(), c) == outside.end()) {
      outside.push_back(c);
      combinations *= static_cast<std::size_t>(alive_count_[c]);
      if (combinations > kMostCombinations) return false;
    }
  }
  if (!inside) return true;
  std::vector<std::int32_t> value(outside.size(), -1);
  const auto next_alive = [&](std::size_t o) {
    const std::size_t first = value_begin_[outside[o]], n = values(outside[o]);
    std::size_t v = static_cast<std::size_t>(value[o] + 1);
    while (v < n && !alive_[first + v]) ++v;
    value[o] = static_cast<std::int32_t>(v);
    return v < n;
  };
  const auto hold = [&](bool all) {
    for (std::size_t i = begin; i < end; ++i) {
      const Index c = blocks_.consensus[i];
      const auto found = std::find(outside.begin(), outside.end(), c);
      if (found != outside.end()) held_[i] = value[found - outside.begin()];
      else held_[i] = all ? choice_[c] : kFree;
    }
  };
  for (std::size_t o = 0; o < outside.size(); ++o) next_alive(o);
  bool preferred = true;
  for (bool more = true; more && preferred;) {
    hold(false);
    const double best = search(block, true, nullptr);
    hold(true);
    const double chosen = search(block, true, nullptr);
    preferred = best - chosen <= tolerance(best) || best == chosen;  // both may be -inf
    more = false;
    for (std::size_t o = 0; o < outside.size() && !more; ++o) {
      more = next_alive(o);
      if (!more) value[o] = -1, next_alive(o);
    }
  }
  std::fill(held_.begin() + begin, held_.begin() + end, kFree);
  return preferred;
}

// Fixes a node to its choice; multipliers no longer matter.
void Field::fix(Index node) {
  restrict(node, choice_[node]);
  for (std::size_t k = slot_begin_[node]; k < slot_begin_[node + 1]; ++k) {
    double* const m = multipliers(slots_[k]);
    std::fill_n(m, values(node), 0.0);
    settled_[blocks_.block_of[slots_[k]]] = 0;
  }
  std::copy_n(prior_.data() + value_begin_[node], values(node), total_.data() + value_begin_[node]);
}

void Field::certify(Region& region) {
  total_up(region);
  for (const Index c : region.nodes) {
    choice_[c] = best_value(c);
    open_[c] = 0;
  }
  std::vector<Index> opened;
  for (const Index b : region.blocks) {
    for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i) held_[i] = choice_[blocks_.consensus[i]];
    block_score_[b] = search(b, true, nullptr);
    for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i) held_[i] = kFree;
    if (bound_[b] - block_score_[b] > tolerance(bound_[b])) open_up(b, opened);
  }
  while (!opened.empty()) {
    const Index c = opened.back();
    opened.pop_back();
    for (std::size_t k = slot_begin_[c]; k < slot_begin_[c + 1]; ++k)
      if (const Index b = blocks_.block_of[slots_[k]]; !dominates(b)) open_up(b, opened);
  }
  Region left;
  for (const Index c : region.nodes) {
    if (open_[c]) left.nodes.push_back(c);
    else fix(c);
  }
  for (const Index b : region.blocks) {
    const auto open = [&](Index c) { return open_[c] && alive_count_[c] > 1; };
    const auto first = blocks_.consensus.begin() + blocks_.slot[b], last = blocks_.consensus.begin() + blocks_.slot[b + 1];
    if (!settled_[b]) bound_[b] = search(b, true, nullptr);
    if (std::any_of(first, last, open)) left.blocks.push_back(b);
  }
  for (const Index c : left.nodes) open_[c] = 0;
  region = std::move(left);
}

}  // namespace certus::corpus
