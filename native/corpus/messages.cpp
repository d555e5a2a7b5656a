// Multipliers of one slot after the other, best given all others (block coordinate descent on the dual).
//
// At a slot i of node c, let q(z) be the best that the block reaches with z_c = z, multipliers of i aside, and r(z) the
// total of the node without those of i. Any split of t(z) = q(z) + r(z) between block and node makes their sum of maxima
// as small as it can be, max_z t(z). The block keeps a share of it, the node passes the rest on to its other words. The
// maxima q of all slots of a block come from one backward and one forward pass.
#include <algorithm>
#include <cmath>
#include <limits>

#include "corpus/field.hpp"
#include "corpus/sums.hpp"

namespace certus::corpus {
namespace {

constexpr double kSame = 1e-13;  // changes of multipliers that are none

}  // namespace

// What a slot adds to its candidates: at the value given, or at the best.
void Field::adjust(Index slot, std::int32_t value, bool with_multipliers) {
  const Index c = blocks_.consensus[slot];
  const std::size_t first = value_begin_[c], n = values(c);
  const double* const m = multipliers(slot);
  const std::size_t begin = blocks_.candidates[slot], end = blocks_.candidates[slot + 1];
  double* const added = added_.data() + (begin - blocks_.candidates[blocks_.slot[blocks_.block_of[slot]]]);
  if (value != kFree) {
    for (std::size_t k = begin; k < end; ++k)
      added[k - begin] = agreement_(blocks_.candidate_label[k], value_[first + value]) - (with_multipliers ? m[value] : 0);
    return;
  }
  const double none = alive_[first + n - 1] ? agreement_.null - m[n - 1] : kNever<double>;
  double most = none;
  for (std::size_t v = 0; v + 1 < n; ++v) most = std::max(most, alive_[first + v] ? -m[v] : kNever<double>);
  for (std::size_t k = begin; k < end; ++k) {
    const std::size_t v = candidate_value_[k];
    added[k - begin] = alive_[first + v] ? std::max(most, agreement_.same - m[v]) : most;
  }
  if (agreement_.close == 0) return;
  for (std::size_t k = begin; k < end; ++k)
    for (std::size_t v = 0; v + 1 < n; ++v)
      if (alive_[first + v] && agreement_.group[blocks_.candidate_label[k]] == agreement_.group[value_[first + v]])
        added[k - begin] = std::max(added[k - begin], agreement_.close - m[v]);
}

// The best of a block with each value of a slot's node, the slot's multipliers aside. `apart`: [candidates] the best with
// each label, without what the slot adds.
void Field::reachable(Index slot, const double* apart, double* out) const {
  const Index c = blocks_.consensus[slot];
  const std::size_t first = value_begin_[c], n = values(c);
  const std::size_t begin = blocks_.candidates[slot], end = blocks_.candidates[slot + 1];
  const double most = *std::max_element(apart, apart + (end - begin));
  std::fill_n(out, n, most);
  out[n - 1] += agreement_.null;
  for (std::size_t k = begin; k < end; ++k) {
    double& x = out[candidate_value_[k]];
    x = std::max(x, apart[k - begin] + agreement_.same);
  }
  if (agreement_.close == 0) return;
  for (std::size_t k = begin; k < end; ++k)
    for (std::size_t v = 0; v + 1 < n; ++v)
      if (agreement_.group[blocks_.candidate_label[k]] == agreement_.group[value_[first + v]])
        out[v] = std::max(out[v], apart[k - begin] + agreement_.close);
}

// The best of a block, where `held_` says what its nodes are held to.
double Field::search(Index block, bool with_multipliers, Label* out) {
  const std::size_t first = blocks_.first_state(block), slot = blocks_.slot[block];
  const std::size_t base = blocks_.candidates[slot];
  added_.resize(blocks_.candidates[blocks_.slot[block + 1]] - base);
  for (std::size_t i = slot; i < blocks_.slot[block + 1]; ++i) adjust(static_cast<Index>(i), held_[i], with_multipliers);
  forward_.resize(blocks_.states(block));
  if (out) back_.resize(forward_.size());
  double most = kNever<double>;
  std::size_t end = 0;
  for (std::size_t p = blocks_.position[block]; p < blocks_.position[block + 1]; ++p) {
    const Index at = blocks_.slot_at[p];
    const double* const added = at < 0 ? nullptr : added_.data() + (blocks_.candidates[at] - base);
    const std::size_t before = p > blocks_.position[block] ? blocks_.state[p - 1] - first : 0;
    most = kNever<double>;
    for (std::size_t s = blocks_.state[p]; s < blocks_.state[p + 1]; ++s) {
      double best = p == blocks_.position[block] ? 0 : kNever<double>;
      const std::size_t count = blocks_.arc[s + 1] - blocks_.arc[s], origin = before + blocks_.origin[s];
      if (count) best = largest_sum(forward_.data() + origin, blocks_.score.data() + blocks_.arc[s], count);
      if (out && count) {
        std::size_t a = 0;
        while (forward_[origin + a] + static_cast<double>(blocks_.score[blocks_.arc[s] + a]) != best) ++a;
        back_[s - first] = static_cast<std::uint32_t>(origin + a);
      }
      best += blocks_.node[s];
      if (added) best += added[blocks_.candidate[s]];
      forward_[s - first] = best;
      if (best > most) most = best, end = s - first;
    }
  }
  for (Index p = blocks_.length(block) - 1; out && p >= 0; --p) {
    out[p] = blocks_.label[first + end];
    end = back_[end];
  }
  return most;
}

// Chooses the multipliers of a slot, and says whether they changed. `apart`: [candidates] the best of the block with each,
// without what the slot adds.
bool Field::update(Index slot, const double* apart) {
  const Index c = blocks_.consensus[slot];
  const std::size_t first = value_begin_[c], n = values(c);
  if (alive_count_[c] == 1) return false;
  double* const m = multipliers(slot);
  // The rest goes evenly to the words that are still to come, and to the node.
  const Index to_come = slot_begin_[c + 1] - (std::lower_bound(slots_.begin() + slot_begin_[c], slots_.begin() + slot_begin_[c + 1], slot) - slots_.begin());
  const double share = all_to_nodes_ ? 0 : 1.0 / (1.0 + static_cast<double>(to_come));
  both_.resize(n);
  reachable(slot, apart, both_.data());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t v = 0; v < n; ++v) {
    if (!alive_[first + v]) continue;
    both_[v] -= share * (both_[v] + total_[first + v] - m[v]);
    least = std::min(least, both_[v]);
  }
  double change = 0;
  for (std::size_t v = 0; v < n; ++v)
    if (alive_[first + v]) change = std::max(change, std::fabs(both_[v] - least - m[v]));
  if (change <= kSame) return false;
  for (std::size_t v = 0; v < n; ++v) {
    if (!alive_[first + v]) continue;
    total_[first + v] += both_[v] - least - m[v];
    m[v] = both_[v] - least;
  }
  return true;
}

double Field::solve(Index block) {
  const std::size_t first = blocks_.first_state(block), slot = blocks_.slot[block];
  const std::size_t base = blocks_.candidates[slot];
  const std::size_t begin = blocks_.position[block], end = blocks_.position[block + 1];
  added_.resize(blocks_.candidates[blocks_.slot[block + 1]] - base);
  for (std::size_t i = slot; i < blocks_.slot[block + 1]; ++i) adjust(static_cast<Index>(i), kFree, true);
  forward_.resize(blocks_.states(block));
  backward_.assign(blocks_.states(block), kNever<double>);
  std::fill(backward_.begin() + (blocks_.state[end - 1] - first), backward_.end(), 0.0);
  const auto added_at = [&](std::size_t p) {
    const Index at = blocks_.slot_at[p];
    return at < 0 ? nullptr : added_.data() + (blocks_.candidates[at] - base);
  };
  for (std::size_t p = end - 1; p > begin; --p) {
    const double* const added = added_at(p);
    double* const before = backward_.data() + (blocks_.state[p - 1] - first);
    for (std::size_t s = blocks_.state[p]; s < blocks_.state[p + 1]; ++s) {
      const double onward = backward_[s - first] + blocks_.node[s] + (added ? added[blocks_.candidate[s]] : 0);
      const std::size_t count = blocks_.arc[s + 1] - blocks_.arc[s];
      raise(before + blocks_.origin[s], blocks_.score.data() + blocks_.arc[s], onward, count);
    }
  }
  for (std::size_t p = begin; p < end; ++p) {
    const Index at = blocks_.slot_at[p];
    const double* const before = p > begin ? forward_.data() + (blocks_.state[p - 1] - first) : nullptr;
    if (at >= 0) apart_.assign(blocks_.candidates[at + 1] - blocks_.candidates[at], kNever<double>);
    for (std::size_t s = blocks_.state[p]; s < blocks_.state[p + 1]; ++s) {
      const std::size_t count = blocks_.arc[s + 1] - blocks_.arc[s];
      double best = before ? largest_sum(before + blocks_.origin[s], blocks_.score.data() + blocks_.arc[s], count) : 0;
      best += blocks_.node[s];
      forward_[s - first] = best;
      if (at >= 0) apart_[blocks_.candidate[s]] = std::max(apart_[blocks_.candidate[s]], best + backward_[s - first]);
    }
    if (at >= 0) {
      if (update(at, apart_.data())) adjust(at, kFree, true);
      const double* const added = added_at(p);
      for (std::size_t s = blocks_.state[p]; s < blocks_.state[p + 1]; ++s) forward_[s - first] += added[blocks_.candidate[s]];
    }
  }
  return *std::max_element(forward_.begin() + (blocks_.state[end - 1] - first), forward_.end());
}

void Field::sweep(const std::vector<Index>& blocks) {
  for (const Index b : blocks) bound_[b] = solve(b);
}

// Scores blocks with the nodes at the labels that they have.
void Field::evaluate(Index block) {
  hold(block);
  block_score_[block] = search(block, true, nullptr);
  let_go(block);
}

Index Field::iterate(Region& region, Reach reach) {
  const std::vector<Index> solved = reach == Reach::all ? region.blocks : reach == Reach::near ? near(region) : region.torn;
  sweep(solved);
  std::vector<Index> pending = solved;
  for (const Index b : solved) queued_[b] = 1;
  for (const Index b : solved)
    for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i) {
      const Index c = blocks_.consensus[i];
      const std::int32_t before = choice_[c];
      choice_[c] = best_value(c);
      if (choice_[c] != before) queue_blocks(c, pending);
    }
  for (const Index b : pending) {
    evaluate(b);
    queued_[b] = 0;
  }
  find_torn(region);
  return static_cast<Index>(solved.size());
}

// Adds the blocks of a node that are not queued yet.
void Field::queue_blocks(Index node, std::vector<Index>& queue) {
  for (std::size_t k = slot_begin_[node]; k < slot_begin_[node + 1]; ++k)
    if (const Index b = blocks_.block_of[slots_[k]]; !queued_[b]) queued_[b] = 1, queue.push_back(b);
}

void Field::find_torn(Region& region) const {
  region.torn.clear();
  for (const Index b : region.blocks)
    if (torn(b)) region.torn.push_back(b);
}

// The blocks that share a node with a torn one.
std::vector<Index> Field::near(const Region& region) {
  std::vector<Index> found;
  for (const Index b : region.torn)
    for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i)
      if (alive_count_[blocks_.consensus[i]] > 1) queue_blocks(blocks_.consensus[i], found);
  for (const Index b : found) queued_[b] = 0;
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace certus::corpus
