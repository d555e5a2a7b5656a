#include "latent/label_search.hpp"

#include "base/sums.hpp"

namespace certus::latent {
namespace {

// out[i] = sum over the states j of label z of across[j][i] x[j], for all i.
void arrive(const LatentModel& model, const double* across, const double* x, Label z, double* out) {
  const Index W = model.width(), first = model.begin(z);
  std::fill_n(out, W, 0.0);
  accumulate_rows(out, x + first, across + first * W, model.count(z), W, W);
}
void arrive(const LatentModel& model, const Logarithm* across, const Logarithm* x, Label z, Logarithm* out) {
  const Index W = model.width(), first = model.begin(z);
  std::fill_n(out, W, Logarithm{});
  for (Index j = first; j < first + model.count(z); ++j)
    for (Index i = 0; i < model.states(); ++i) out[i] = out[i] + across[j * W + i] * x[j];
}

}  // namespace

template <class N>
LabelSearch<N>::LabelSearch(const Weights<N>& weights, double least, Arena& arena)
    : weights_(weights),
      model_(weights.model()),
      ahead_(arena.get<N>(weights.length() * model_.width())),
      exponents_(arena.get<Index>(weights.length(), 0)),
      arrivals_(arena.get<N>(model_.width(), kOne<N>)) {
  bound_futures(arena);
  offer(-1, 0, 0, arrivals_, least);
}

template <class N>
void LabelSearch<N>::bound_futures(Arena& arena) {
  const Arena::Scope scope(arena);
  const Index T = weights_.length(), W = model_.width(), H = model_.states();
  N *best = arena.get<N>(W), *through = arena.get<N>(W), *scratch = arena.get<N>(H * W);
  std::copy_n(weights_.node(T - 1), W, ahead_ + (T - 1) * W);
  for (Index t = T - 2; t >= 0; --t) {
    std::fill_n(best, W, kZero<N>);
    const N* across = weights_.across(t + 1, scratch);
    for (Label z = 0; z < model_.labels(); ++z) {
      arrive(model_, across, ahead_ + (t + 1) * W, z, through);
      for (Index h = 0; h < W; ++h) best[h] = best[h] < through[h] ? through[h] : best[h];
    }
    for (Index h = 0; h < W; ++h) ahead_[t * W + h] = best[h] * weights_.node(t)[h];
    exponents_[t] = exponents_[t + 1] + rescale(ahead_ + t * W, H);
  }
}

// Offers all labels at position t after a prefix: arrivals[h] is what of the prefix comes to state h.
template <class N>
void LabelSearch<N>::offer(Index before, Index t, Index exponent, const N* arrivals, double least) {
  const N* ahead = ahead_ + t * model_.width();
  const double scale = static_cast<double>(exponent + exponents_[t]) * kLogTwo;
  for (Label z = 0; z < model_.labels(); ++z) {
    N sum = kZero<N>;
    for (Index h = model_.begin(z); h < model_.begin(z + 1); ++h) sum = sum + arrivals[h] * ahead[h];
    const double mass = log_of(sum) + scale;
    if (mass > least) agenda_.push({mass, offered_++, before, z});
  }
}

// Makes the sums of a prefix that was only offered; returns its number.
template <class N>
Index LabelSearch<N>::open(const Entry& entry) {
  const Index number = static_cast<Index>(prefixes_.size()), most = model_.room();
  sums_.resize((number + 1) * most, kZero<N>);
  N* into = sums_.data() + number * most;
  if (entry.before < 0) {
    std::copy_n(weights_.node(0) + model_.begin(entry.label), model_.count(entry.label), into);
    prefixes_.push_back({-1, 0, 0, entry.label});
  } else {
    const Prefix before = prefixes_[entry.before];
    const Index taken =
        weights_.step(sums_.data() + entry.before * most, before.label, before.t + 1, entry.label, into);
    prefixes_.push_back({entry.before, before.t + 1, before.exponent + taken, entry.label});
  }
  return number;
}

template <class N>
bool LabelSearch<N>::expand(double least, Label* labels, double* mass) {
  const Entry entry = agenda_.top();
  agenda_.pop();
  ++expanded;
  const Index last = weights_.length() - 1, t = entry.before < 0 ? 0 : prefixes_[entry.before].t + 1;
  if (t == last) {
    labels[t] = entry.label;
    for (Index p = entry.before; p >= 0; p = prefixes_[p].before) labels[prefixes_[p].t] = prefixes_[p].label;
    *mass = entry.mass;
    return true;
  }
  const Index number = open(entry);
  weights_.leave(sums_.data() + number * model_.room(), entry.label, t + 1, arrivals_);
  offer(number, t + 1, prefixes_[number].exponent, arrivals_, least);
  return false;
}

template class LabelSearch<double>;
template class LabelSearch<Logarithm>;

}  // namespace certus::latent
