// A trained CRF: scores sentences, and finds their best label sequences and their probabilities.
#pragma once

#include <functional>
#include <memory>

#include "chain/run.hpp"
#include "learn/crf/chain.hpp"

namespace certus::learn {

class CrfModel {
 public:
  // w: as long as the layout says.
  CrfModel(CrfLayout layout, Doubles w);

  const CrfLayout& layout() const { return layout_; }
  const Doubles& weights() const { return w_; }

  // labels [tokens]: the best ones, on as many threads as wanted.
  void decode(const CrfInput& input, Index threads, Index* labels) const;
  // emissions [tokens][L].
  void emissions(const CrfInput& input, Index threads, double* out) const;
  // probabilities [tokens][L], and log Z [sentences].
  void marginals(const CrfInput& input, Index threads, double* probabilities, double* log_partition) const;
  // The k best of one sentence of T tokens: labels [k][T] and their log-probabilities [k]; returns how many there are.
  Index best(const CrfInput& input, Index sentence, Index k, Index* labels, double* log_probability) const;

 private:
  // Calls use(sentence, T, scores [T][width]) for every sentence.
  using Use = std::function<void(Index, Index, double*)>;
  void each(const CrfInput& input, Index threads, const Use& use) const;
  void score(const CrfInput& input, Index sentence, double* scores) const;
  double sum(Index T, double* scores) const;  // log Z; the scores become probabilities

  const CrfLayout layout_;
  Doubles w_;
  CrfLinks links_;
  std::unique_ptr<Model<double>> chain_;
};

}  // namespace certus::learn
