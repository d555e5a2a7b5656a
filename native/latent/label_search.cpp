#include "latent/label_search.hpp"

#include "base/forward_backward.hpp"

namespace certus::latent {
template <class Kind>
LabelSearch<Kind>::LabelSearch(const Weights<Kind>& weights, double least, Arena& arena)
    : weights_(weights), arena_(arena) {
  bound_futures();
  offer(-1, 0, 0, arrivals_, least);
}

// The backward recursion in which every state goes on to the label that is best for it: w is its beta, and ahead
// what it gives with the nodes of a position.
template <class Kind>
class LabelSearch<Kind>::Futures : public StepsOver<Futures, Kind> {
 public:
  Futures(const LabelSearch& search, Arena& arena)
      : search_(search),
        best_(arena.get<N>(width())),
        through_(arena.get<N>(width())),
        scratch_(arena.get<N>(model_.states() * width())) {}

  Index width() const { return model_.width(); }
  Index work() const { return width() * width(); }
  N* alpha(Index) const { return nullptr; }
  N* beta(Index) const { return best_; }
  N* onward(Index t) const { return search_.ahead_ + t * width(); }

  void backward(Index t, const N* from, N* best) const {
    std::fill_n(best, width(), Kind::zero);
    const N* across = search_.weights_.across(t, scratch_);
    for (Label z = 0; z < model_.labels(); ++z) {
      const Index first = model_.begin(z);
      multiply_rows(from + first, across + first * width(), model_.count(z), width(), width(), through_);
      for (Index h = 0; h < width(); ++h) best[h] = best[h] < through_[h] ? through_[h] : best[h];
    }
  }
  void look_back(Index t, const N*, const N* best, N* ahead) {
    for (Index h = 0; h < width(); ++h) ahead[h] = best[h] * search_.weights_.node(t)[h];
    Kind::rescale(ahead, width(), this->total);
    search_.exponents_[t] = this->total.exponent;
  }

 private:
  const LabelSearch& search_;
  const LatentModel& model_ = search_.model_;
  N *best_, *through_, *scratch_;
};

template <class Kind>
void LabelSearch<Kind>::bound_futures() {
  const Arena::Scope scope(arena_);
  Futures futures(*this, arena_);
  run_backward(futures, weights_.length());
}

// Offers all labels at position t after a prefix: arrivals[h] is what of the prefix comes to state h.
template <class Kind>
void LabelSearch<Kind>::offer(Index before, Index t, Index exponent, const N* arrivals, double least) {
  const N* ahead = ahead_ + t * model_.width();
  const double scale = static_cast<double>(exponent + exponents_[t]) * kLogTwo;
  for (Label z = 0; z < model_.labels(); ++z) {
    N sum = Kind::zero;
    for (Index h = model_.begin(z); h < model_.begin(z + 1); ++h) sum = sum + arrivals[h] * ahead[h];
    const double mass = log_of(sum) + scale;
    if (mass > least) agenda_.push({mass, offered_++, before, z});
  }
}

// Makes the sums of a prefix that was only offered; returns its number.
template <class Kind>
Index LabelSearch<Kind>::open(const Entry& entry) {
  const Index number = static_cast<Index>(prefixes_.size()), most = model_.room();
  sums_.resize((number + 1) * most, Kind::zero);
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

template <class Kind>
bool LabelSearch<Kind>::expand(double least, Label* labels, double* mass) {
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

template class LabelSearch<PowersOfTwo>;
template class LabelSearch<Logarithms>;

}  // namespace certus::latent
