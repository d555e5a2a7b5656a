// Multipliers of one slot after the other, best given all others (block coordinate descent on the dual).
//
// At a slot i of node c, let q(z) be the best that the block reaches with z_c = z, multipliers of i aside, and r(z) the
// total of the node without those of i. Any split of t(z) = q(z) + r(z) between block and node makes their sum of maxima
// as small as it can be, max_z t(z). The block keeps a share of it, the node passes the rest on to its other words. The
// maxima q of all slots of a block come from one backward and one forward pass.
#include <algorithm>
#include <cmath>

#include "corpus/field.hpp"

namespace certus::corpus {
namespace {

constexpr double kSame = 1e-13;  // changes of multipliers that are none

}  // namespace

// What a slot adds to its candidates: at the value given, or at the best.
void Field::adjust(Index slot, std::int32_t value, bool with_multipliers) {
  const Index c = blocks_.consensus[slot];
  const std::size_t first = value_begin_[c], n = values(c);
  const double* const m = multipliers(slot);
  const std::size_t begin = blocks_.candidates[slot], base = blocks_.candidates[blocks_.slot[blocks_.block_of[slot]]];
  for (std::size_t k = begin; k < blocks_.candidates[slot + 1]; ++k) {
    const Label y = blocks_.candidate_label[k];
    double most = kNever<double>;
    if (value != kFree) {
      most = agreement_(y, value_[first + value]) - (with_multipliers ? m[value] : 0);
    } else {
      for (std::size_t v = 0; v < n; ++v)
        if (alive_[first + v]) most = std::max(most, agreement_(y, value_[first + v]) - m[v]);
    }
    added_[k - base] = most;
  }
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
      for (std::size_t a = blocks_.arc[s]; a < blocks_.arc[s + 1]; ++a) {
        const double x = forward_[before + blocks_.origin[a]] + blocks_.score[a];
        if (x > best) {
          best = x;
          if (out) back_[s - first] = static_cast<std::uint32_t>(before + blocks_.origin[a]);
        }
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

// Solved again, a block that changed nothing the last time changes nothing, unless one of its nodes has changed since.
bool Field::stale(Index block) const {
  if (!settled_[block]) return true;
  for (std::size_t i = blocks_.slot[block]; i < blocks_.slot[block + 1]; ++i)
    if (seen_[i] != version_[blocks_.consensus[i]]) return true;
  return false;
}

// Chooses the multipliers of a slot, and says whether they changed. `apart`: [candidates] the best of the block with each,
// without what the slot adds.
bool Field::update(Index slot, const double* apart) {
  const Index c = blocks_.consensus[slot];
  const std::size_t first = value_begin_[c], n = values(c);
  if (alive_count_[c] == 1) return false;
  double* const m = multipliers(slot);
  const double share = 1.0 / (1.0 + static_cast<double>(slot_begin_[c + 1] - slot_begin_[c]));
  both_.resize(n);
  double least = 0;
  bool any = false;
  for (std::size_t v = 0; v < n; ++v) {
    if (!alive_[first + v]) continue;
    double q = kNever<double>;
    for (std::size_t k = blocks_.candidates[slot]; k < blocks_.candidates[slot + 1]; ++k)
      q = std::max(q, apart[k - blocks_.candidates[slot]] + agreement_(blocks_.candidate_label[k], value_[first + v]));
    both_[v] = q - share * (q + total_[first + v] - m[v]);
    if (!any || both_[v] < least) least = both_[v], any = true;
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
  ++version_[c];
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
      for (std::size_t a = blocks_.arc[s]; a < blocks_.arc[s + 1]; ++a) {
        double& rest = before[blocks_.origin[a]];
        const double x = onward + blocks_.score[a];
        rest = x > rest ? x : rest;
      }
    }
  }
  bool changed = false;
  for (std::size_t p = begin; p < end; ++p) {
    const Index at = blocks_.slot_at[p];
    const double* const before = p > begin ? forward_.data() + (blocks_.state[p - 1] - first) : nullptr;
    if (at >= 0) apart_.assign(blocks_.candidates[at + 1] - blocks_.candidates[at], kNever<double>);
    for (std::size_t s = blocks_.state[p]; s < blocks_.state[p + 1]; ++s) {
      double best = before ? kNever<double> : 0;
      for (std::size_t a = blocks_.arc[s]; a < blocks_.arc[s + 1]; ++a) {
        const double x = before[blocks_.origin[a]] + blocks_.score[a];
        best = x > best ? x : best;
      }
      best += blocks_.node[s];
      forward_[s - first] = best;
      if (at >= 0) apart_[blocks_.candidate[s]] = std::max(apart_[blocks_.candidate[s]], best + backward_[s - first]);
    }
    if (at >= 0) {
      if (update(at, apart_.data())) {
        adjust(at, kFree, true);
        changed = true;
      }
      const double* const added = added_at(p);
      for (std::size_t s = blocks_.state[p]; s < blocks_.state[p + 1]; ++s) forward_[s - first] += added[blocks_.candidate[s]];
    }
  }
  settled_[block] = !changed;
  for (std::size_t i = slot; i < blocks_.slot[block + 1]; ++i) seen_[i] = version_[blocks_.consensus[i]];
  return *std::max_element(forward_.begin() + (blocks_.state[end - 1] - first), forward_.end());
}

Index Field::sweep(const Region& region, bool lazy) {
  Index solved = 0;
  for (const Index b : region.blocks) {
    if (lazy && !stale(b)) continue;
    bound_[b] = solve(b);
    ++solved;
  }
  return solved;
}

}  // namespace certus::corpus
