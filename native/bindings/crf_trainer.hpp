// A labelled corpus and weights on it, which any of the algorithms sets.
#pragma once

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/vectors.hpp"
#include "learn/crf/model.hpp"
#include "learn/crf/objective.hpp"
#include "learn/crf/online.hpp"
#include "learn/lbfgs.hpp"

namespace certus {

using namespace learn;

// The weights of a layout that are not 0: those of feature f are at begin[f] .. begin[f + 1] of the others.
struct CrfRows {
  CrfRows(const CrfLayout& layout, const double* w);

  std::vector<Index> begin{0};  // [features + 1]
  std::vector<Label> label;     // [weights]
  std::vector<double> weight;   // [weights]
};

class CrfTrainer {
 public:
  // `pairs` may be null: the features of two labels in a row, of the same tokens.
  CrfTrainer(Index labels, Index features, const learn::Corpus& corpus, Flat<const Label> gold, const CrfChoice& choice,
             const learn::Corpus* pairs, Index pair_features)
      : data_(labels, features, corpus, gold.data(), choice) {
    if (pairs) data_.pairs.emplace(labels, pair_features, *pairs, gold.data(), choice);
    w_.assign(data_.size(), 0.0);
  }

  const CrfData& data() const { return data_; }
  const CrfLayout& layout() const { return data_.layout; }
  Index size() const { return data_.size(); }
  Index parameters() const { return layout().weights() + (data_.pairs ? data_.pairs->layout.weights() : 0); }
  nb::object holes() const {
    std::vector<Index> out(layout().holes());
    if (data_.pairs)
      for (const Index hole : data_.pairs->layout.holes()) out.push_back(layout().size() + hole);
    return nb::cast(array(std::move(out)));
  }

  double objective(const Flat<const double>& w, const Flat<double>& gradient, double c2, Index threads) const {
    return CrfObjective(data_, c2, threads)(w.data(), gradient.data());
  }

  double* w() { return w_.data(); }
  nb::object weights() const { return nb::cast(array(std::vector<double>(w_.begin(), w_.end()))); }
  void set_weights(Flat<const double> w) {
    std::copy_n(w.data(), size(), w_.data());
    data_.clear_holes(w_.data());
  }

  // Refuses what only lbfgs learns.
  void check_plain() const {
    if (data_.latent > 1 || data_.pairs)
      throw nb::value_error("latent states and features of pairs are learned by lbfgs alone");
  }

  // Without the features of pairs.
  CrfModel* model() const { return new CrfModel(layout(), Doubles(w_.begin(), w_.begin() + layout().size())); }
  CrfRows pair_rows() const;

 private:
  CrfData data_;
  Doubles w_;
};

}  // namespace certus
