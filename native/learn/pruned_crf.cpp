#include "learn/pruned_crf.hpp"

#include <algorithm>
#include <cmath>

namespace certus::learn {

namespace {
constexpr Index kPrunedTokenWork = 1 << 13;  // what learning from a token counts for, roughly
constexpr Index kAdapt = 100;                // sentences between two looks at the thresholds
}  // namespace

PrunedCrf::PrunedCrf(const Corpus& corpus, const Tagset& tagset, const PrunedCrfOptions& o)
    : rows(corpus.feature_count(), tagset.units),
      cascade(tagset, o.order),
      options(o),
      corpus_(corpus),
      tagset_(tagset) {
  cascade.remember = true;
}

PrunedCrfEpoch PrunedCrf::epoch(const Index* order, Index count) {
  report_ = {};
  report_.order = options.order;
  rate_ = options.rate / (1 + options.decay * static_cast<float>(epochs));
  Index tokens = 0;
  Heed heed;
  for (Index n = 0; n < count; ++n) {
    heed(kPrunedTokenWork * cascade.length());  // that of the sentence before
    ++steps;
    penalty += options.l1 * rate_;
    train(order[n]);
    tokens += cascade.length();
    if (steps % kAdapt == 0) adapt();
  }
  ++epochs;
  if (epochs == options.burn_in) burn_in = steps;
  report_.loss /= static_cast<double>(std::max<Index>(tokens, 1));
  return report_;
}

void PrunedCrf::train(Index sentence) {
  const Index first = static_cast<Index>(corpus_.sentence[sentence]);
  const Index T = static_cast<Index>(corpus_.sentence[sentence + 1]) - first;
  cascade.begin(T);
  dropped_.clear();
  for (Index t = 0; t < T; ++t) {
    const Label right = corpus_.labels[first + t];
    rows.score_token(corpus_, first + t, first + T, scores_);
    cascade.token(scores_.data());
    if (keep_gold) dropped_.push_back({t + 1, right, tagset_.score(right, scores_.data())});
  }
  cascade.close();
  if (keep_gold) take_back_gold(first);
  positions += static_cast<double>(T);
  kept[0] += static_cast<double>(cascade.level(0).size() - 2);
  seen[0] += static_cast<double>(T);
  if (!keep_gold && !find_labels(first)) {
    ++report_.lost[0];
    return update_groups(first);
  }
  if (!find_states(first)) {
    ++report_.lost[1];
    return update_labels(first);
  }
  for (Index n = 1;; ++n) {
    Level& level = cascade.build(n, ngrams.table());
    if (n > 1) follow_states(n);
    cascade.sums.find(level, true);
    if (n < options.order) {
      cascade.find_best(level);
      cascade.prune(n, cascade.thresholds.states[n]);
      for (Index s = 1; s + 1 < static_cast<Index>(level.size()); ++s) kept[n] += cascade.kept(n, s);
      seen[n] += static_cast<double>(T);
      if (std::all_of(gold_.begin(), gold_.end(), [&](std::uint32_t s) { return cascade.kept(n, s); })) continue;
    }
    ++report_.lost[n + 1];
    return update_states(first, n);
  }
}

// Makes candidates of gold labels that were dropped, and keeps their states at all orders.
void PrunedCrf::take_back_gold(Index first) {
  std::erase_if(dropped_, [&](const auto& taken) { return cascade.has_candidate(taken.position, taken.label); });
  cascade.add_candidates(dropped_);
  cascade.paths_to_keep = {corpus_.labels.data() + first, static_cast<std::size_t>(cascade.length())};
}

// Finds the gold labels among those whose coarse tag stayed.
bool PrunedCrf::find_labels(Index first) {
  gold_.clear();
  for (Index t = 0; t < cascade.length(); ++t) {
    const Label y = corpus_.labels[first + t];
    std::uint32_t i = cascade.label_begin[t];
    while (i < cascade.label_begin[t + 1] && cascade.labels[i].label != y) ++i;
    if (i == cascade.label_begin[t + 1]) return false;
    gold_.push_back(i);
  }
  return true;
}

// Finds them among the candidates.
bool PrunedCrf::find_states(Index first_token) {
  const Level& level = cascade.level(0);
  lower_gold_.assign(1, 0);
  for (Index t = 0; t < cascade.length(); ++t) {
    const auto first = level.label.begin() + level.begin[t + 1], last = level.label.begin() + level.begin[t + 2];
    const auto found = std::find(first, last, corpus_.labels[first_token + t]);
    if (found == last) return false;
    lower_gold_.push_back(static_cast<std::uint32_t>(found - level.label.begin()));
  }
  lower_gold_.push_back(level.begin[cascade.length() + 1]);
  gold_.swap(lower_gold_);
  return true;
}

// The states of order n that pair the gold states of order n-1, which all stayed.
void PrunedCrf::follow_states(Index n) {
  const Level& level = cascade.level(n);
  lower_gold_.assign(1, 0);
  for (std::size_t t = 1; t < gold_.size(); ++t) {
    std::uint32_t s = level.begin[t];
    while (level.cur[s] != gold_[t] || level.prev[s] != gold_[t - 1]) ++s;
    lower_gold_.push_back(s);
  }
  gold_.swap(lower_gold_);
}

void PrunedCrf::change(float& weight, float& memory, float gradient) const {
  const float step = rate_ * gradient;
  if (options.l1 == 0) {
    weight += step;
    if (epochs >= options.burn_in) memory += step * static_cast<float>(steps - 1 - burn_in);
    return;
  }
  const float before = weight + step;
  float after = before;
  if (before > 0) after = std::max(0.0f, before - (penalty + memory));
  else if (before < 0) after = std::min(0.0f, before + (penalty - memory));
  memory += after - before;
  weight = after;
}

// The labels of a state of order n, or their coarse tags, and the one that follows them, if any.
Sequence PrunedCrf::spell(Index n, std::uint32_t state, Label next, bool coarse) const {
  const scoring::SequenceCode code = this->code();
  Sequence row;
  row.fill(code.nothing());
  auto into = row.rbegin();
  const auto put = [&](Label y) { *into++ = coarse ? code.group(cascade.group_of(y)) : code.label(y); };
  if (next >= 0) put(next);
  for (;; --n) {
    put(cascade.level(n).label[state]);
    if (state == 0 || n == 1) return row;
    state = cascade.level(n).prev[state];
  }
}

void PrunedCrf::change_ngram(Key key, float gradient, Index n, std::uint32_t state, Label next, bool coarse) {
  const Ngrams::Entry entry = std::abs(gradient) >= options.least ? ngrams.entry(key) : ngrams.find(key);
  if (entry.is_new) sequences.emplace(key, spell(n, state, next, coarse));
  if (entry.weight) change(*entry.weight, *entry.memory, gradient);
}

// Those of the labels of a state of order n and of the one that follows them, if that is not negative.
void PrunedCrf::change_ngrams(Key full, Key coarse, float gradient, Index n, std::uint32_t state, Label next) {
  change_ngram(full, gradient, n, state, next, false);
  change_ngram(coarse, gradient, n, state, next, true);
}

void PrunedCrf::apply(Index token) {
  const Feature* features = corpus_.features.data();
  update_.apply(rows, features + corpus_.token[token], features + corpus_.token[token + 1],
                [this](float& weight, float& memory, float gradient) { change(weight, memory, gradient); });
}

void PrunedCrf::update_groups(Index first) {
  const Index G = tagset_.groups;
  for (Index t = 0; t < cascade.length(); ++t) {
    update_.clear();
    const float* p = cascade.group_probability.data() + t * G;
    const Unit right = tagset_.group[corpus_.labels[first + t]];
    report_.loss -= std::log(std::max(p[right], 1e-30f));
    for (Index g = 0; g < G; ++g) {
      update_.add_unit(static_cast<Unit>(g), (static_cast<Unit>(g) == right) - p[g]);
    }
    apply(first + t);
  }
}

void PrunedCrf::update_labels(Index first) {
  for (Index t = 0; t < cascade.length(); ++t) {
    update_.clear();
    const Label right = corpus_.labels[first + t];
    for (std::uint32_t i = cascade.label_begin[t]; i < cascade.label_begin[t + 1]; ++i) {
      const Cascade::Candidate& c = cascade.labels[i];
      if (c.label == right) report_.loss -= std::log(std::max(c.probability, 1e-30f));
      update_.add(tagset_, c.label, (c.label == right) - c.probability);
    }
    apply(first + t);
  }
}

void PrunedCrf::update_states(Index first, Index n) {
  change_transitions(n);
  lower_.assign(cascade.sums.probability.begin(), cascade.sums.probability.end());
  for (Index m = n; m > 1; --m) change_lower(m);
  change_labels(first);
}

// Transitions of the highest order.
void PrunedCrf::change_transitions(Index n) {
  const Level& top = cascade.level(n);
  double gold_score = 0;
  for (std::size_t t = 1; t < gold_.size(); ++t)
    for (std::uint32_t s = top.begin[t]; s < top.begin[t + 1]; ++s) {
      const Unit group = cascade.group_of(top.label[s]);
      std::uint32_t source = top.from[s];
      for (std::uint32_t e = top.edge_begin[s]; e < top.edge_begin[s + 1]; ++e, ++source) {
        const bool right = gold_[t] == s && gold_[t - 1] == source;
        if (right) gold_score += static_cast<double>(top.edge[e]) + top.node[s];
        const float g = static_cast<float>(right - cascade.sums.edge_probability[e]);
        if (is_small(g)) continue;
        change_ngrams(scoring::mix(top.full[source], static_cast<Key>(top.label[s])),
                      scoring::mix(top.coarse[source], group), g, n, source, top.label[s]);
      }
    }
  report_.loss += cascade.sums.log_partition - gold_score;
}

// Those of the order below: a state is one of its edges. Goes down to the states of that order.
void PrunedCrf::change_lower(Index n) {
  const Level& level = cascade.level(n);
  next_lower_.assign(cascade.level(n - 1).size(), 0.0);
  for (std::size_t t = 1; t < gold_.size(); ++t)
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
      next_lower_[level.cur[s]] += lower_[s];
      const float g = static_cast<float>((gold_[t] == s) - lower_[s]);
      if (is_small(g)) continue;
      change_ngrams(level.full[s], level.coarse[s], g, n, s, -1);
    }
  for (std::uint32_t& s : gold_) s = level.cur[s];
  lower_.swap(next_lower_);
}

void PrunedCrf::change_labels(Index first) {
  const Level& one = cascade.level(1);
  for (Index t = 0; t < cascade.length(); ++t) {
    update_.clear();
    for (std::uint32_t s = one.begin[t + 1]; s < one.begin[t + 2]; ++s) {
      const float g = static_cast<float>((gold_[t + 1] == s) - lower_[s]);
      if (!is_small(g)) update_.add(tagset_, one.label[s], g);
    }
    apply(first + t);
  }
}

void PrunedCrf::adapt(float& threshold, double kept, float wanted) const {
  threshold *= kept > wanted ? 1.1f : 1 / 1.1f;
  threshold = std::clamp(threshold, 1e-6f, 0.5f);
}

void PrunedCrf::adapt() {
  for (Index n = 0; n < options.order; ++n)
    if (seen[n] > 0) {
      adapt(cascade.thresholds.states[n], kept[n] / seen[n], options.wanted[n]);
      report_.kept_states[n] = kept[n] / seen[n];
      seen[n] = kept[n] = 0;
    }
  if (tagset_.groups < tagset_.labels && positions > 0) {
    adapt(cascade.thresholds.groups, static_cast<double>(cascade.groups_kept) / positions, options.wanted_groups);
    report_.kept_groups = static_cast<double>(cascade.groups_kept) / positions;
  }
  cascade.groups_kept = 0;
  positions = 0;
}

}  // namespace certus::learn
