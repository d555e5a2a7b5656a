// The averaged structured perceptron (Collins 2002), with exact decoding inside (Kaji et al. 2010, section 4).
#pragma once

#include <optional>

#include "chain/run.hpp"
#include "chain/search/changing_labels.hpp"
#include "learn/corpus.hpp"
#include "learn/ngrams.hpp"
#include "learn/pair_weights.hpp"
#include "learn/rows.hpp"
#include "learn/update.hpp"
#include "scoring/emissions.hpp"

namespace certus::learn {

using scoring::Expansion;

// What an epoch did.
struct PerceptronEpoch {
  Index errors = 0;  // tokens that were labelled wrongly before the update
  Index wrong = 0;   // sentences
};

class Perceptron {
 public:
  // `pairs` holds the features of two labels in a row of the same sentences, or is null.
  Perceptron(const Corpus& corpus, const Tagset& tagset, const Method& method, const Corpus* pairs);

  PerceptronEpoch epoch(const Index* order, Index count);

  void replace(Ngrams&& other);  // the transitions

  Rows rows;
  std::optional<PairWeights> pairs;
  Ngrams transitions;  // keys by pair_key; the boundary is the label after the last
  Index epochs = 0, steps = 0;
  Index burn_in_epochs = 0, burn_in = 0;  // epochs, and steps, that averages leave out
  float margin = 0;                       // how much better than all others the right label of a token should score

  Key pair_key(Label i, Label j) const {
    return static_cast<Key>(i) * static_cast<Key>(tagset_.labels + 1) + static_cast<Key>(j) + 1;
  }

  const Corpus& corpus() const { return corpus_; }
  const Tagset& tagset() const { return tagset_; }
  // What staggered decoding prunes by, kept up to date with every update; null with other methods.
  const DegenerateTables<float>* degenerate() const { return changing_ ? &changing_->tables() : nullptr; }

 private:
  static constexpr float kLeast = 0.5f;  // updates are of whole numbers

  // The averaged steps before this one: an update now comes too late for them.
  float late() const { return epochs < burn_in_epochs ? 0.0f : static_cast<float>(steps - 1 - burn_in); }
  Index train(Index sentence);
  void emissions(Index first, Index length);
  void decode(Index first, Index length);
  void update(Index first, Index length);
  void move(Label i, Label j, float amount);
  void set(Label i, Label j, float weight);

  const Corpus& corpus_;
  const Tagset& tagset_;
  const Method& method_;
  Model<float> model_{std::vector<float>(tagset_.labels * tagset_.labels).data(),
                      tagset_.labels,
                      1,
                      true,
                      std::vector<float>(tagset_.labels).data(),
                      std::vector<float>(tagset_.labels).data()};
  std::optional<ChangingLabels> changing_;
  Expansion expansion_{tagset_};
  Update update_{tagset_.units, kLeast};
  std::vector<float> units_ = std::vector<float>(tagset_.units + 1), sums_ = std::vector<float>(expansion_.nodes());
  std::vector<float> scores_;
  std::vector<float> steps_;  // [T - 1][labels][labels]: the transitions of a sentence, with features of pairs
  std::vector<Index> found_;
};

}  // namespace certus::learn
