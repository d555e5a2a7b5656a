// Multipliers of one slot after the other, best given all others (block coordinate descent on the dual).
//
// At a slot i of node c, let q(z) be the best that the block reaches with z_c = z, multipliers of i aside, and r(z) the
// total of the node without those of i. Any split of t(z) = q(z) + r(z) between block and node makes their sum of
// maxima as small as it can be, max_z t(z). The block keeps a share of it, the node passes the rest on to its other
// words. The maxima q of all slots of a block come from one backward and one forward pass.
#include <algorithm>
#include <cmath>
#include <limits>

#include "corpus/field.hpp"

namespace certus::corpus {
namespace {

constexpr double kSame = 1e-14;  // changes of multipliers that are none, as a share of the block's scores

}  // namespace

// What a slot adds to its candidates: at the value given, or at the best.
void Field::adjust(Index slot, std::int32_t value, bool with_multipliers) {
  const Index c = mrf_.node_of[slot];
  const std::size_t first = mrf_.value_begin[c], n = mrf_.values(c);
  const double* const m = multipliers(slot);
  const std::size_t begin = mrf_.candidates[slot], end = mrf_.candidates[slot + 1];
  double* const added = added_.data() + (begin - mrf_.candidates[blocks_.slot[blocks_.block_of[slot]]]);
  if (value != kFree) {
    for (std::size_t k = begin; k < end; ++k)
      added[k - begin] =
          mrf_.agreement(mrf_.candidate_label[k], mrf_.value[first + value]) - (with_multipliers ? m[value] : 0);
    return;
  }
  const double none = alive_[first + n - 1] ? mrf_.agreement.null - m[n - 1] : kNever<double>;
  double most_label = kNever<double>;
  for (std::size_t v = 0; v + 1 < n; ++v) most_label = std::max(most_label, alive_[first + v] ? -m[v] : kNever<double>);
  const double most = std::max(none, most_label);
  for (std::size_t k = begin; k < end; ++k) {
    if (mrf_.candidate_label[k] == mrf_.agreement.any()) {
      added[k - begin] = std::max(none, most_label + mrf_.agreement.same);
      continue;
    }
    const std::size_t v = mrf_.candidate_value[k];
    added[k - begin] = alive_[first + v] ? std::max(most, mrf_.agreement.same - m[v]) : most;
  }
  if (mrf_.agreement.close == 0) return;
  for (std::size_t k = begin; k < end; ++k)
    for (std::size_t v = 0; v + 1 < n; ++v)
      if (alive_[first + v] && mrf_.agreement.is_close(mrf_.candidate_label[k], mrf_.value[first + v]))
        added[k - begin] = std::max(added[k - begin], mrf_.agreement.close - m[v]);
}

// The best of a block with each value of a slot's node, the slot's multipliers aside. `apart`: [candidates] the best
// with each label, without what the slot adds.
void Field::find_reachable(Index slot, const double* apart, double* out) const {
  const Index c = mrf_.node_of[slot];
  const std::size_t first = mrf_.value_begin[c], n = mrf_.values(c);
  const std::size_t begin = mrf_.candidates[slot], end = mrf_.candidates[slot + 1];
  const double most = *std::max_element(apart, apart + (end - begin));
  std::fill_n(out, n, most);
  out[n - 1] += mrf_.agreement.null;
  for (std::size_t k = begin; k < end; ++k) {
    const bool any = mrf_.candidate_label[k] == mrf_.agreement.any();
    const std::size_t value = any ? 0 : mrf_.candidate_value[k], last = any ? n - 1 : value + 1;
    for (std::size_t v = value; v < last; ++v) out[v] = std::max(out[v], apart[k - begin] + mrf_.agreement.same);
  }
  if (mrf_.agreement.close == 0) return;
  for (std::size_t k = begin; k < end; ++k)
    for (std::size_t v = 0; v + 1 < n; ++v)
      if (mrf_.agreement.is_close(mrf_.candidate_label[k], mrf_.value[first + v]))
        out[v] = std::max(out[v], apart[k - begin] + mrf_.agreement.close);
}

// The best of a block, whose nodes may be held to their choices.
double Field::search(Index block, bool with_multipliers, Label* out, bool held) {
  const std::size_t slot = blocks_.slot[block], end = blocks_.slot[block + 1];
  added_.resize(mrf_.candidates[end] - mrf_.candidates[slot]);
  for (std::size_t i = slot; i < end; ++i)
    adjust(static_cast<Index>(i), held ? choice_[mrf_.node_of[i]] : kFree, with_multipliers);
  return best(block, added_.data(), out);
}

// What the slots of a block add to its states, by candidates.
lattice::Additions Field::spread(Index block, const double* added) {
  const std::size_t base = mrf_.candidates[blocks_.slot[block]];
  const Index* const slots = blocks_.slots_of(block);
  rows_.resize(blocks_.length(block));
  for (std::size_t p = 0; p < rows_.size(); ++p)
    rows_[p] = slots[p] < 0 ? nullptr : added + (mrf_.candidates[slots[p]] - base);
  return {rows_.data(), blocks_.candidates_of(block)};
}

double Field::best(Index block, const double* added, Label* out) {
  const lattice::Lattice& lattice = blocks_.lattice[block];
  heed_(64 + static_cast<Index>(lattice.edge.size()));
  const lattice::BestPath path = find_best_path(lattice, paths_, spread(block, added));
  if (!out) return path.score;
  last_state_ = path.end - lattice.begin[lattice.positions() - 1];
  trace_back(lattice, paths_, path, [&](Index p, std::uint32_t s) { out[p] = lattice.label[s], first_state_ = s; });
  return path.score;
}

// Chooses the multipliers of a slot, and says whether they changed. `apart`: [candidates] the best of the block with
// each, without what the slot adds.
bool Field::update(Index slot, const double* apart) {
  const Index c = mrf_.node_of[slot];
  const std::size_t first = mrf_.value_begin[c], n = mrf_.values(c);
  if (alive_count_[c] == 1) return false;
  double* const m = multipliers(slot);
  // The rest goes evenly to the words that are still to come, and to the node.
  const Index to_come = mrf_.word_begin[c + 1] - (std::lower_bound(mrf_.words.begin() + mrf_.word_begin[c],
                                                                   mrf_.words.begin() + mrf_.word_begin[c + 1], slot) -
                                                  mrf_.words.begin());
  const double share = all_to_nodes_ ? 0 : 1.0 / (1.0 + static_cast<double>(to_come));
  both_.resize(n);
  find_reachable(slot, apart, both_.data());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t v = 0; v < n; ++v) {
    if (!alive_[first + v]) continue;
    both_[v] -= share * (both_[v] + total_[first + v] - m[v]);
    least = std::min(least, both_[v]);
  }
  double change = 0;
  for (std::size_t v = 0; v < n; ++v)
    if (alive_[first + v]) change = std::max(change, std::fabs(both_[v] - least - m[v]));
  if (change <= kSame * blocks_.magnitude[blocks_.block_of[slot]]) return false;
  for (std::size_t v = 0; v < n; ++v) {
    if (!alive_[first + v]) continue;
    total_[first + v] += both_[v] - least - m[v];
    m[v] = both_[v] - least;
  }
  return true;
}

// Steps that choose the multipliers of each slot on the way forward, once the way back is known.
class Field::SlotSteps : public lattice::BestSteps {
 public:
  SlotSteps(Field& field, Index block)
      : BestSteps(field.blocks_.lattice[block], field.spread(block, field.added_.data()), field.paths_),
        field_(field),
        slots_(field.blocks_.slots_of(block)) {}

  bool settle(Index p, double* best) const {
    const Index slot = slots_[p];
    if (slot < 0) return BestSteps::settle(p, best);
    const std::uint32_t first = lattice_.begin[p], count = lattice_.states(p);
    const std::int32_t* const candidate = additions_.column + first;
    const double* const rest = beta(p);
    std::vector<double>& apart = field_.apart_;
    apart.assign(field_.mrf_.candidates[slot + 1] - field_.mrf_.candidates[slot], kNever<double>);
    for (std::uint32_t s = 0; s < count; ++s) {
      best[s] += lattice_.node[first + s];
      apart[candidate[s]] = std::max(apart[candidate[s]], best[s] + rest[s]);
    }
    if (field_.update(slot, apart.data())) field_.adjust(slot, kFree, true);
    for (std::uint32_t s = 0; s < count; ++s) best[s] += additions_.row(p)[candidate[s]];
    return true;
  }

 private:
  Field& field_;
  const Index* slots_;
};

double Field::solve(Index block) {
  const std::size_t begin = blocks_.slot[block], end = blocks_.slot[block + 1];
  added_.resize(mrf_.candidates[end] - mrf_.candidates[begin]);
  for (std::size_t i = begin; i < end; ++i) adjust(static_cast<Index>(i), kFree, true);
  heed_(64 + 4 * static_cast<Index>(blocks_.lattice[block].edge.size()));
  SlotSteps steps(*this, block);
  run_backward(steps, blocks_.length(block));
  run_forward(steps, blocks_.length(block));
  return find_best_end(blocks_.lattice[block], paths_).score;
}

// Twice: blocks first take their shares, then leave all they can to the nodes, which know best what to do with it and
// whose prices are then as high as can be.
void Field::sweep(const std::vector<Index>& blocks) {
  for (const Index b : blocks) bound_[b] = solve(b);
  all_to_nodes_ = true;
  for (const Index b : blocks) bound_[b] = solve(b);
  all_to_nodes_ = false;
}

// Scores a block with the nodes at the labels that they have.
void Field::evaluate(Index block) { block_score_[block] = search(block, true, nullptr, true); }

// Lets nodes choose anew; scores the blocks given, and those of nodes that chose otherwise.
void Field::evaluate(const std::vector<Index>& nodes, std::vector<Index> blocks) {
  for (const Index b : blocks) queued_[b] = 1;
  for (const Index c : nodes) {
    const std::int32_t before = choice_[c];
    choice_[c] = best_value(c);
    if (choice_[c] != before) queue_blocks(c, blocks);
  }
  for (const Index b : blocks) {
    evaluate(b);
    queued_[b] = 0;
  }
}

Index Field::iterate(Region& region, Reach reach) {
  const std::vector<Index> solved = reach == Reach::all    ? region.blocks
                                    : reach == Reach::near ? find_near(region)
                                                           : region.disagreeing;
  sweep(solved);
  std::vector<Index> nodes;
  for (const Index b : solved)
    for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i)
      if (const Index c = mrf_.node_of[i]; !open_[c]) open_[c] = 1, nodes.push_back(c);
  for (const Index c : nodes) open_[c] = 0;
  evaluate(nodes, solved);
  find_disagreeing(region);
  return static_cast<Index>(solved.size());
}

// Adds the blocks of a node that are not queued yet.
void Field::queue_blocks(Index node, std::vector<Index>& queue) {
  for (std::size_t k = mrf_.word_begin[node]; k < mrf_.word_begin[node + 1]; ++k)
    if (const Index b = blocks_.block_of[mrf_.words[k]]; !queued_[b]) queued_[b] = 1, queue.push_back(b);
}

void Field::find_disagreeing(Region& region) const {
  region.disagreeing.clear();
  for (const Index b : region.blocks)
    if (disagrees(b)) region.disagreeing.push_back(b);
}

// The blocks that share a node with one that disagrees.
std::vector<Index> Field::find_near(const Region& region) {
  std::vector<Index> found;
  for (const Index b : region.disagreeing)
    for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i)
      if (alive_count_[mrf_.node_of[i]] > 1) queue_blocks(mrf_.node_of[i], found);
  for (const Index b : found) queued_[b] = 0;
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace certus::corpus
