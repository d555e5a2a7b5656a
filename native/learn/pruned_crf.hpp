// Training of pruned higher-order CRFs (Müller et al. 2013): stochastic gradient steps on the highest lattice of the
// cascade that still holds the right labels.
#pragma once

#include <array>
#include <cmath>
#include <unordered_map>

#include "learn/corpus.hpp"
#include "learn/ngrams.hpp"
#include "learn/rows.hpp"
#include "learn/update.hpp"
#include "scoring/cascade.hpp"

namespace certus::learn {

using scoring::Cascade;
using scoring::kMostOrder;
using scoring::Level;

// The row of a sequence, as scoring::SequenceCode has it, of which the last order + 1 numbers are used.
using Sequence = std::array<std::uint32_t, kMostOrder + 1>;

struct PrunedCrfOptions {
  Index order = 1;
  float rate = 0.1f;  // of the first epoch; in epoch e it is rate / (1 + decay * e)
  float decay = 0.3f;
  float l1 = 0;             // cumulative penalty per sentence (Tsuruoka et al. 2009); without it weights are averaged
  Index burn_in = 1;        // epochs before averaging begins
  float least = 0.01f;      // a pair that never had a weight gets one from gradients at least as large as this
  float wanted_groups = 4;  // average numbers of states to keep per position after pruning
  float wanted[kMostOrder] = {4, 2, 1.5f, 1.5f, 1.5f};
};

// What an epoch did.
struct PrunedCrfEpoch {
  Index order = 1;
  double loss = 0;                                       // negative log-likelihood per token, over the lattices used
  Index lost[kMostOrder + 2] = {};                       // sentences updated at coarse tags, labels, order 1, 2, ...
  double kept_groups = 0, kept_states[kMostOrder] = {};  // states per position after pruning

  std::vector<Index> updates() const { return {lost, lost + order + 2}; }
  std::vector<double> kept() const {
    std::vector<double> out{kept_groups};
    out.insert(out.end(), kept_states, kept_states + order);
    return out;
  }
};

class PrunedCrf {
 public:
  PrunedCrf(const Corpus& corpus, const Tagset& tagset, const PrunedCrfOptions& options);

  PrunedCrfEpoch epoch(const Index* order, Index count);

  Rows rows;
  Ngrams ngrams;
  std::unordered_map<Key, Sequence> sequences;  // what the keys of `ngrams` stand for
  Cascade cascade;
  PrunedCrfOptions options;
  bool keep_gold = false;  // pruning never drops the gold labels, as in the paper's oracle experiments (section 4.4)
  Index epochs = 0, steps = 0;
  Index burn_in = 0;  // steps that averages leave out
  float penalty = 0;  // what every weight should have lost to the L1 penalty so far
  // Since the thresholds were adapted last: tokens; states that were kept, and tokens, by order.
  double positions = 0, kept[kMostOrder] = {}, seen[kMostOrder] = {};

  const Corpus& corpus() const { return corpus_; }
  const Tagset& tagset() const { return tagset_; }
  scoring::SequenceCode code() const { return {tagset_.labels, tagset_.groups}; }

 private:
  void train(Index sentence);
  void update_groups(Index first);
  void update_labels(Index first);
  void update_states(Index first, Index n);
  void apply(Index token);
  void change(float& weight, float& memory, float gradient) const;
  void change_ngrams(Key full, Key coarse, float gradient, Index n, std::uint32_t state, Label next);
  void change_ngram(Key key, float gradient, Index n, std::uint32_t state, Label next, bool coarse);
  Sequence spell(Index n, std::uint32_t state, Label next, bool coarse) const;
  void take_back_gold(Index first);
  bool find_labels(Index first);
  bool find_states(Index first_token);
  void follow_states(Index n);
  void change_transitions(Index n);
  void change_lower(Index n);
  void change_labels(Index first);
  bool is_small(float gradient) const { return std::abs(gradient) <= Update::kSmall * options.least; }
  void adapt();
  void adapt(float& threshold, double kept, float wanted) const;

  const Corpus& corpus_;
  const Tagset& tagset_;
  PrunedCrfEpoch report_;
  float rate_ = 0;
  Update update_{tagset_.units, options.least};
  std::vector<float> scores_ = std::vector<float>(tagset_.units + 1);
  std::vector<Cascade::Taken> dropped_;           // gold labels that were dropped, but are to be kept
  std::vector<std::uint32_t> gold_, lower_gold_;  // states of the gold sequence
  std::vector<double> lower_, next_lower_;        // posteriors of states of a lower order
};

}  // namespace certus::learn
