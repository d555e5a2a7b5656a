#include "corpus/field.hpp"

#include <algorithm>

namespace certus::corpus {

void Field::merge(const Index* into) {
  for (Index& c : blocks_.consensus) c = into[c];
  for (Vote& vote : votes_) vote.consensus = into[vote.consensus];
  for (std::size_t c = 0; c < observed_.size(); ++c) {
    if (into[c] == static_cast<Index>(c)) continue;
    std::vector<Observed>& target = observed_[into[c]];
    target.insert(target.end(), observed_[c].begin(), observed_[c].end());
    observed_[c].clear();
  }
}

// Sorts slots by node, and lists the labels that each node may have: those of its words, and none. Others cannot be
// better: whatever they gain from labels that are close to them, one of these gains too.
void Field::close() {
  const std::size_t C = observed_.size(), S = blocks_.consensus.size();
  slot_begin_.assign(C + 1, 0);
  for (const Index c : blocks_.consensus) ++slot_begin_[c + 1];
  for (std::size_t c = 0; c < C; ++c) slot_begin_[c + 1] += slot_begin_[c];
  slots_.resize(S);
  std::vector<std::size_t> next(slot_begin_.begin(), slot_begin_.end() - 1);
  for (std::size_t i = 0; i < S; ++i) slots_[next[blocks_.consensus[i]]++] = static_cast<Index>(i);
  words_.assign(C, 0);
  for (const Vote& vote : votes_) {
    observe(vote.consensus, vote.label, 1);
    ++words_[vote.consensus];
  }
  votes_.clear();
  value_begin_.assign(1, 0);
  std::vector<Label> labels;
  std::vector<Index> lone;  // nodes of one word
  for (std::size_t c = 0; c < C; ++c) {
    labels.clear();
    for (const Observed& o : observed_[c]) labels.push_back(o.label);
    for (std::size_t k = slot_begin_[c]; k < slot_begin_[c + 1]; ++k)
      labels.insert(labels.end(), blocks_.candidate_label.begin() + blocks_.candidates[slots_[k]],
                    blocks_.candidate_label.begin() + blocks_.candidates[slots_[k] + 1]);
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    labels.push_back(agreement_.none());
    for (const Label z : labels) {
      double sum = 0;
      for (const Observed& o : observed_[c]) sum += o.count * agreement_(o.label, z);
      value_.push_back(z);
      prior_.push_back(sum);
    }
    value_begin_.push_back(value_.size());
    words_[c] += static_cast<Index>(slot_begin_[c + 1] - slot_begin_[c]);
    if (slot_begin_[c + 1] - slot_begin_[c] == 1 && observed_[c].empty()) lone.push_back(static_cast<Index>(c));
    observed_[c].clear();
    observed_[c].shrink_to_fit();
  }
  total_ = prior_;
  alive_.assign(value_.size(), 1);
  alive_count_.resize(C);
  choice_.resize(C);
  open_.assign(C, 0);
  owner_.assign(C, -1);
  distance_.resize(C);
  for (std::size_t i = 0; i < S; ++i) {
    const Index c = blocks_.consensus[i];
    const auto first = value_.begin() + value_begin_[c], last = value_.begin() + value_begin_[c + 1];
    for (std::size_t k = blocks_.candidates[i]; k < blocks_.candidates[i + 1]; ++k)
      candidate_value_.push_back(static_cast<std::uint32_t>(std::lower_bound(first, last, blocks_.candidate_label[k]) - first));
  }
  multiplier_begin_.assign(1, 0);
  for (std::size_t i = 0; i < S; ++i) multiplier_begin_.push_back(multiplier_begin_[i] + values(blocks_.consensus[i]));
  multiplier_.assign(multiplier_begin_.back(), 0);
  held_.assign(S, kFree);
  queued_.assign(blocks_.size(), 0);
  bound_.resize(blocks_.size());
  block_score_.resize(blocks_.size());
  std::size_t next_lone = 0;
  for (std::size_t c = 0; c < C; ++c) {
    const Index node = static_cast<Index>(c);
    alive_count_[c] = static_cast<std::int32_t>(values(node));
    choice_[c] = best_value(node);
    const std::size_t slots = slot_begin_[c + 1] - slot_begin_[c];
    if (next_lone < lone.size() && lone[next_lone] == node) {
      ++next_lone;
      restrict(node, alive_count_[c] - 1);
      constant_ += agreement_.same - agreement_.null;
    } else if (slots == 0) {
      restrict(node, choice_[c]);
    } else {
      everything_.nodes.push_back(node);
    }
  }
  for (Index b = 0; b < blocks_.size(); ++b) {
    const auto first = blocks_.consensus.begin() + blocks_.slot[b], last = blocks_.consensus.begin() + blocks_.slot[b + 1];
    if (std::any_of(first, last, [&](Index c) { return alive_count_[c] > 1; })) everything_.blocks.push_back(b);
    bound_[b] = search(b, true, nullptr);
  }
  everything_.torn = everything_.blocks;
}

double Field::highest(Index node) const {
  double most = kNever<double>;
  for (std::size_t v = value_begin_[node]; v < value_begin_[node + 1]; ++v)
    if (alive_[v]) most = std::max(most, total_[v]);
  return most;
}

// The value with the highest total; of equals the choice made before, or else the first.
std::int32_t Field::best_value(Index node) const {
  const std::size_t first = value_begin_[node];
  const double most = highest(node);
  if (alive_[first + choice_[node]] && total_[first + choice_[node]] == most) return choice_[node];
  std::size_t v = first;
  while (!alive_[v] || total_[v] != most) ++v;
  return static_cast<std::int32_t>(v - first);
}

// Leaves one value.
void Field::restrict(Index node, std::int32_t value) {
  for (std::size_t v = value_begin_[node]; v < value_begin_[node + 1]; ++v) alive_[v] = 0;
  alive_[value_begin_[node] + value] = 1;
  alive_count_[node] = 1;
  choice_[node] = value;
}

// Computes the totals anew, so that rounding does not add up.
void Field::total_up(const Region& region) {
  for (const Index c : region.nodes) {
    double* const total = total_.data() + value_begin_[c];
    const std::size_t n = values(c);
    std::copy_n(prior_.data() + value_begin_[c], n, total);
    for (std::size_t k = slot_begin_[c]; k < slot_begin_[c + 1]; ++k) {
      const double* const m = multipliers(slots_[k]);
      for (std::size_t v = 0; v < n; ++v) total[v] += m[v];
    }
  }
}

double Field::bound(const Region& region) const {
  double sum = 0;
  for (const Index b : region.blocks) sum += bound_[b];
  for (const Index c : region.nodes) sum += highest(c);
  return sum;
}

double Field::score(const Region& region) {
  double sum = 0;
  for (const Index b : region.blocks) sum += labels(b, nullptr);
  for (const Index c : region.nodes) sum += prior(c);
  return sum;
}

// Holds the nodes of a block to their choices in searches.
void Field::hold(Index block) {
  for (std::size_t i = blocks_.slot[block]; i < blocks_.slot[block + 1]; ++i) held_[i] = choice_[blocks_.consensus[i]];
}
void Field::let_go(Index block) {
  for (std::size_t i = blocks_.slot[block]; i < blocks_.slot[block + 1]; ++i) held_[i] = kFree;
}

double Field::labels(Index block, Label* out) {
  hold(block);
  const double score = search(block, false, out);
  let_go(block);
  return score;
}

void Field::improve(const Region& region) {
  std::vector<Label> found;
  std::vector<Label> chosen(blocks_.slots(), -1);  // [slots]
  for (int round = 0; round < 3; ++round) {
    for (const Index b : region.blocks) {
      found.resize(blocks_.length(b));
      labels(b, found.data());
      for (Index p = 0; p < blocks_.length(b); ++p)
        if (const Index slot = blocks_.slot_at[blocks_.position[b] + p]; slot >= 0) chosen[slot] = found[p];
    }
    bool changed = false;
    for (const Index c : region.nodes) {
      const auto value = [&](std::size_t v) {
        double sum = prior_[v];
        for (std::size_t k = slot_begin_[c]; k < slot_begin_[c + 1]; ++k)
          if (chosen[slots_[k]] >= 0) sum += agreement_(chosen[slots_[k]], value_[v]);
        return sum;
      };
      std::size_t best = value_begin_[c] + choice_[c];
      double most = value(best);
      for (std::size_t v = value_begin_[c]; v < value_begin_[c + 1]; ++v)
        if (alive_[v])
          if (const double sum = value(v); sum > most) most = sum, best = v;
      changed = changed || best != value_begin_[c] + choice_[c];
      choice_[c] = static_cast<std::int32_t>(best - value_begin_[c]);
    }
    if (!changed) return;
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
      for (std::size_t k = slot_begin_[c]; k < slot_begin_[c + 1]; ++k) {
        const Index b = blocks_.block_of[slots_[k]];
        if (!queued_[b]) continue;
        queued_[b] = 0;
        part.blocks.push_back(b);
        for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i)
          if (const Index other = blocks_.consensus[i]; open_[other]) open_[other] = 0, pending.push_back(other);
      }
    }
    std::sort(part.nodes.begin(), part.nodes.end());
    std::sort(part.blocks.begin(), part.blocks.end());
    parts.push_back(std::move(part));
  }
  for (const Index b : region.blocks) queued_[b] = 0;
  for (Region& part : parts) find_torn(part);
  return parts;
}

}  // namespace certus::corpus
