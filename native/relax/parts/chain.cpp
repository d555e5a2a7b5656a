#include "relax/parts/chain.hpp"

#include "chain/marginals/max_marginals.hpp"

namespace certus::relax {

ChainPart::ChainPart(const Model<double>& model, std::vector<double> emissions)
    : Part(std::move(emissions)),
      model_(model),
      length_(model.labels() ? cells() / model.labels() : 0),
      labels_(length_) {
  for (Index t = 0; t < length_; ++t) add_group(t * model.labels(), (t + 1) * model.labels(), true);
}

double ChainPart::score(const std::vector<Index>& labels) const {
  const LocalArena arena;
  const auto add = [&](const auto& transitions) {
    return Trellis(scores_.data(), length_, model_.labels(), model_, transitions, arena).score(labels.data());
  };
  return model_.only_sparse() ? add(model_.sparse()) : add(model_.dense());
}

double ChainPart::maximize(std::vector<Index>& used) {
  used.clear();
  if (length_ == 0) return 0;
  const Sentence<double> sentence{sums_.data(), length_, model_.labels()};
  double sum;
  if (run(model_, auto_method(), sentence, Request{}, labels_.data(), &sum).found == 0) return kNever<double>;
  for (Index t = 0; t < length_; ++t) used.push_back(t * model_.labels() + labels_[t]);
  return score(labels_);
}

bool ChainPart::max_marginals(double* with, double* without) {
  if (length_ == 0) return true;
  certus::max_marginals(model_, {sums_.data(), length_, model_.labels()}, with);
  fill_without(groups(), with, without);
  return true;
}

bool ChainPart::complete(const std::vector<Index>& used, double* score) {
  *score = kNever<double>;
  if (static_cast<Index>(used.size()) != length_) return true;
  for (Index t = 0; t < length_; ++t) {
    labels_[t] = used[t] - t * model_.labels();
    if (labels_[t] < 0 || labels_[t] >= model_.labels()) return true;
  }
  *score = length_ ? this->score(labels_) : 0;
  return true;
}

}  // namespace certus::relax
