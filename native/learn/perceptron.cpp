#include "learn/perceptron.hpp"

#include <algorithm>

namespace certus::learn {
namespace {

// The bounds that decoding prunes by are made anew after this many transitions for each label were changed.
constexpr Index kTighten = 4;
constexpr Index kTokenWork = 1 << 12;  // what learning from a token counts for, roughly

std::vector<Index> count_labels(const Corpus& corpus, Index labels) {
  std::vector<Index> count(labels);
  for (const Label y : corpus.labels) ++count[y];
  return count;
}

}  // namespace

Perceptron::Perceptron(const Corpus& corpus, const Tagset& tagset, const Method& method, const Corpus* pair_corpus)
    : rows(corpus.feature_count(), tagset.units), corpus_(corpus), tagset_(tagset), method_(method) {
  if (pair_corpus) pairs.emplace(*pair_corpus, tagset.labels, kLeast);
  if (method.name != "staggered" || pairs) return;
  model_.order = rank_labels(count_labels(corpus, tagset.labels));
  changing_.emplace(model_);
}

PerceptronEpoch Perceptron::epoch(const Index* order, Index count) {
  PerceptronEpoch report;
  model_.tighten();  // so that a run that was interrupted goes on exactly as it would have
  Heed heed;
  for (Index n = 0; n < count; ++n) {
    heed(kTokenWork * static_cast<Index>(found_.size()));  // that of the sentence before
    ++steps;
    const Index errors = train(order[n]);
    report.errors += errors;
    report.wrong += errors > 0;
  }
  ++epochs;
  if (epochs == burn_in_epochs) burn_in = steps;
  return report;
}

void Perceptron::emissions(Index first, Index length) {
  scores_.resize(length * tagset_.labels);
  Heed heed;
  for (Index t = 0; t < length; ++t) {
    heed(16 * tagset_.labels);
    rows.score_token(corpus_, first + t, first + length, units_);
    expansion_.expand(units_.data(), sums_.data(), scores_.data() + t * tagset_.labels);
  }
}

Index Perceptron::train(Index sentence) {
  const Index first = static_cast<Index>(corpus_.sentence[sentence]);
  const Index T = static_cast<Index>(corpus_.sentence[sentence + 1]) - first;
  if (T == 0) return 0;
  emissions(first, T);
  if (margin != 0)
    for (Index t = 0; t < T; ++t) scores_[t * tagset_.labels + corpus_.labels[first + t]] -= margin;
  decode(first, T);
  Index errors = 0;
  for (Index t = 0; t < T; ++t) errors += found_[t] != corpus_.labels[first + t];
  if (errors) update(first, T);
  return errors;
}

// With features of pairs, every step of a sentence has transitions of its own.
void Perceptron::decode(Index first, Index length) {
  const Index L = tagset_.labels;
  const certus::Sentence<float> sentence{scores_.data(), length, L};
  double score;
  found_.resize(length);
  if (!pairs || length == 1) {
    run(model_, method_, sentence, Request{}, found_.data(), &score);
    return;
  }
  steps_.resize((length - 1) * L * L);
  Heed heed;
  for (Index t = 1; t < length; ++t, heed(L * L)) {
    float* const step = steps_.data() + (t - 1) * L * L;
    for (Label i = 0; i < L; ++i) std::copy_n(model_.dense().row(0, i, nullptr), L, step + i * L);
    pairs->score(first + t, step);
  }
  const Model<float> model(steps_.data(), L, length - 1, false, model_.start(), model_.end());
  run(model, method_, sentence, Request{}, found_.data(), &score);
}

void Perceptron::update(Index first, Index length) {
  const Label boundary = static_cast<Label>(tagset_.labels);
  const float before = late();
  const auto change = [before](float& weight, float& memory, float gradient) {
    weight += gradient;
    memory += gradient * before;
  };
  Label right = boundary, wrong = boundary;
  for (Index t = 0; t <= length; ++t) {
    const Label next_right = t < length ? corpus_.labels[first + t] : boundary;
    const Label next_wrong = t < length ? static_cast<Label>(found_[t]) : boundary;
    if (right != wrong || next_right != next_wrong) {
      move(right, next_right, 1);
      move(wrong, next_wrong, -1);
      if (pairs && t > 0 && t < length) pairs->update(first + t, right, next_right, wrong, next_wrong, change);
    }
    if (next_right != next_wrong) {
      update_.clear();
      update_.add(tagset_, next_right, 1);
      update_.add(tagset_, next_wrong, -1);
      const Feature* features = corpus_.features.data();
      update_.apply(rows, features + corpus_.token[first + t], features + corpus_.token[first + t + 1], change);
    }
    right = next_right, wrong = next_wrong;
  }
}

void Perceptron::move(Label i, Label j, float amount) {
  const Ngrams::Entry entry = transitions.entry(pair_key(i, j));
  *entry.weight += amount;
  *entry.memory += amount * late();
  set(i, j, *entry.weight);
  if (model_.changes() > kTighten * tagset_.labels) model_.tighten();
}

void Perceptron::set(Label i, Label j, float weight) {
  const Label boundary = static_cast<Label>(tagset_.labels);
  if (i == boundary) return model_.set_start(j, weight);
  if (j == boundary) return model_.set_end(i, weight);
  model_.set(i, j, weight);
  if (changing_) changing_->set(i, j, weight);
}

void Perceptron::replace(Ngrams&& other) {
  const Key width = static_cast<Key>(tagset_.labels + 1);
  const auto set_all = [&](bool zero) {
    transitions.each([&](Key key, float weight, float) {
      set(static_cast<Label>((key - 1) / width), static_cast<Label>((key - 1) % width), zero ? 0 : weight);
    });
  };
  set_all(true);
  transitions = std::move(other);
  set_all(false);
  model_.tighten();
}

}  // namespace certus::learn
