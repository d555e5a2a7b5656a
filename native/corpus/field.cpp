#include "corpus/field.hpp"

#include <algorithm>

namespace certus::corpus {
namespace {

constexpr int kMostRounds = 50;  // of `improve`, which mostly takes two or three

}  // namespace

void Field::merge(const Index* into) {
  for (Index& c : mrf_.node_of) c = into[c];
  for (Mrf::Observed& o : observed_) o.node = into[o.node];
}

void Field::close() {
  mrf_.build(nodes_, std::move(observed_));
  const std::size_t C = static_cast<std::size_t>(nodes_), S = mrf_.node_of.size();
  total_ = mrf_.prior;
  alive_.assign(mrf_.value.size(), 1);
  alive_count_.resize(C);
  choice_.resize(C);
  open_.assign(C, 0);
  owner_.assign(C, -1);
  distance_.resize(C);
  multiplier_begin_.assign(1, 0);
  for (std::size_t i = 0; i < S; ++i) multiplier_begin_.push_back(multiplier_begin_[i] + mrf_.values(mrf_.node_of[i]));
  multiplier_.assign(multiplier_begin_.back(), 0);
  queued_.assign(blocks_.size(), 0);
  bound_.resize(blocks_.size());
  block_score_.resize(blocks_.size());
  for (Index c = 0; c < nodes_; ++c) open_node(c);
  for (Index b = 0; b < blocks_.size(); ++b) {
    const auto first = mrf_.node_of.begin() + blocks_.slot[b], last = mrf_.node_of.begin() + blocks_.slot[b + 1];
    if (std::any_of(first, last, [&](Index c) { return alive_count_[c] > 1; })) everything_.blocks.push_back(b);
    // All multipliers are 0, so each word agrees with whatever is best for it.
    bound_[b] = std::max(blocks_.base[b], blocks_.outside[b]);
    for (auto c = first; c != last; ++c) bound_[b] += fixed(*c) ? mrf_.agreement.null : mrf_.agreement.same;
  }
  everything_.disagreeing = everything_.blocks;
}

// A node is open unless its label makes no difference: all its words are observed, or it has one word alone, which
// agrees with itself whatever it chooses.
void Field::open_node(Index node) {
  alive_count_[node] = static_cast<std::int32_t>(mrf_.values(node));
  choice_[node] = best_value(node);
  if (mrf_.size(node) == 0) {
    restrict(node, choice_[node]);
  } else if (mrf_.size(node) == 1 && mrf_.observed[node] == 0) {
    restrict(node, alive_count_[node] - 1);
    constant_ += mrf_.agreement.same - mrf_.agreement.null;
  } else {
    everything_.nodes.push_back(node);
  }
}

double Field::find_highest(Index node) const {
  double most = kNever<double>;
  for (std::size_t v = mrf_.value_begin[node]; v < mrf_.value_begin[node + 1]; ++v)
    if (alive_[v]) most = std::max(most, total_[v]);
  return most;
}

// The value with the highest total; of equals the choice made before, or else the first.
std::int32_t Field::best_value(Index node) const {
  const std::size_t first = mrf_.value_begin[node];
  const double most = find_highest(node);
  if (alive_[first + choice_[node]] && total_[first + choice_[node]] == most) return choice_[node];
  std::size_t v = first;
  while (!alive_[v] || total_[v] != most) ++v;
  return static_cast<std::int32_t>(v - first);
}

// Leaves one value.
void Field::restrict(Index node, std::int32_t value) {
  for (std::size_t v = mrf_.value_begin[node]; v < mrf_.value_begin[node + 1]; ++v) alive_[v] = 0;
  alive_[mrf_.value_begin[node] + value] = 1;
  alive_count_[node] = 1;
  choice_[node] = value;
}

// Computes the totals anew, so that rounding does not add up.
void Field::add_up_totals(const Region& region) {
  for (const Index c : region.nodes) {
    double* const total = total_.data() + mrf_.value_begin[c];
    const std::size_t n = mrf_.values(c);
    std::copy_n(mrf_.prior.data() + mrf_.value_begin[c], n, total);
    for (std::size_t k = mrf_.word_begin[c]; k < mrf_.word_begin[c + 1]; ++k) {
      const double* const m = multipliers(mrf_.words[k]);
      for (std::size_t v = 0; v < n; ++v) total[v] += m[v];
    }
  }
}

double Field::bound(const Region& region) const {
  double sum = 0;
  for (const Index b : region.blocks) sum += bound_[b];
  for (const Index c : region.nodes) sum += find_highest(c);
  return sum;
}

double Field::tolerance(const Region& region) const {
  double sum = 0;
  for (const Index b : region.blocks) sum += tolerance(b);
  return sum;
}

// What a block has given to its nodes at the labels that they have.
double Field::find_given(Index block) const {
  double sum = 0;
  for (std::size_t i = blocks_.slot[block]; i < blocks_.slot[block + 1]; ++i)
    sum += multipliers(static_cast<Index>(i))[choice_[mrf_.node_of[i]]];
  return sum;
}

double Field::labels_inside(Index block, Label* out, Label* around) {
  lattice::Lattice& lattice = blocks_.lattice[block];
  const double outside = blocks_.outside[block];
  double& first = lattice.node[lattice.begin[1] - 1];
  if (outside != kNever<double>) first = kNever<double>;
  const double score = labels(block, out);
  if (outside != kNever<double>) first = outside;
  if (around) label_ends(block, around);
  return score;
}

// Writes the labels before and after a block, once those of the block were read.
void Field::label_ends(Index block, Label* around) {
  const Label none = mrf_.agreement.none();
  if (const lattice::Lattice& before = blocks_.before[block]; before.positions() > 0) {
    const Index last = before.positions() - 1;
    lattice::BestPath path = find_best_path(before, paths_);
    path.end = before.begin[last] + first_state_;
    trace_back(before, paths_, path, [&](Index p, std::uint32_t s) {
      if (p < last) around[p - last] = before.label[s];
    });
  }
  if (lattice::Lattice& after = blocks_.after[block]; after.positions() > 0) {
    std::fill_n(after.node.begin(), after.begin[1], kNever<double>);
    after.node[last_state_] = 0;
    Label* const out = around + blocks_.length(block) - 1;
    trace_back(after, paths_, find_best_path(after, paths_), [&](Index p, std::uint32_t s) {
      if (p > 0 && after.label[s] != none) out[p] = after.label[s];
    });
    std::fill_n(after.node.begin(), after.begin[1], 0.0);
  }
}

void Field::improve(const Region& region) {
  std::vector<Label> found;
  std::vector<Label> chosen(blocks_.slots(), -1);  // [slots]
  std::vector<Index> asked = region.blocks;
  for (int round = 0; round < kMostRounds && !asked.empty(); ++round) {
    for (const Index b : asked) {
      found.resize(blocks_.length(b));
      labels(b, found.data());
      for (Index p = 0; p < blocks_.length(b); ++p)
        if (const Index slot = blocks_.slots_of(b)[p]; slot >= 0) chosen[slot] = found[p];
    }
    asked.clear();
    for (const Index c : region.nodes) {
      const auto value = [&](std::size_t v) {
        double sum = mrf_.prior[v];
        for (std::size_t k = mrf_.word_begin[c]; k < mrf_.word_begin[c + 1]; ++k)
          if (chosen[mrf_.words[k]] >= 0) sum += mrf_.agreement(chosen[mrf_.words[k]], mrf_.value[v]);
        return sum;
      };
      std::size_t best = mrf_.value_begin[c] + choice_[c];
      double most = value(best);
      for (std::size_t v = mrf_.value_begin[c]; v < mrf_.value_begin[c + 1]; ++v)
        if (alive_[v])
          if (const double sum = value(v); sum > most) most = sum, best = v;
      if (best != mrf_.value_begin[c] + choice_[c]) queue_blocks(c, asked);
      choice_[c] = static_cast<std::int32_t>(best - mrf_.value_begin[c]);
    }
    for (const Index b : asked) queued_[b] = 0;
  }
}

std::vector<Region> Field::components(const Region& region) {
  std::vector<Region> parts;
  for (const Index b : region.blocks) queued_[b] = 1;
  for (const Index c : region.nodes) open_[c] = 1;
  std::vector<Index> pending;
  for (const Index start : region.nodes) {
    if (!open_[start]) continue;
    Region part;
    open_[start] = 0;
    pending.assign(1, start);
    while (!pending.empty()) {
      const Index c = pending.back();
      pending.pop_back();
      part.nodes.push_back(c);
      for (std::size_t k = mrf_.word_begin[c]; k < mrf_.word_begin[c + 1]; ++k) {
        const Index b = blocks_.block_of[mrf_.words[k]];
        if (!queued_[b]) continue;
        queued_[b] = 0;
        part.blocks.push_back(b);
        for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i)
          if (const Index other = mrf_.node_of[i]; open_[other]) open_[other] = 0, pending.push_back(other);
      }
    }
    std::sort(part.nodes.begin(), part.nodes.end());
    std::sort(part.blocks.begin(), part.blocks.end());
    parts.push_back(std::move(part));
  }
  for (const Index b : region.blocks) queued_[b] = 0;
  for (Region& part : parts) find_disagreeing(part);
  return parts;
}

}  // namespace certus::corpus
