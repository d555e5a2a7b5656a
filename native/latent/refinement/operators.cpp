#include "latent/refinement/operators.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/forward_backward.hpp"
#include "base/numbers.hpp"
#include "base/parallel.hpp"
#include "latent/refinement/products.hpp"

namespace certus::latent::refinement {
namespace {

// Sentences that walk in step, so that those at one observation share its matrix: many, but work for every thread.
inline constexpr Index kFewest = 64, kMost = 512;

// Some sentences, position by position. Sentence k of the group is order[k]; the longest come first, so that those that
// have a position t are the first active(t) ones.
class Group {
 public:
  Group(const Operators& model, const Index* observations, const Index* offsets, const Index* order, Index count)
      : model_(model), observations_(observations), offsets_(offsets), order_(order), count_(count) {
    first_.resize(count + 1);
    for (Index k = 0; k < count; ++k) first_[k + 1] = first_[k] + length(k);
    alpha_.resize(first_[count] * model.states);
    exponent_.resize(first_[count]);
    beta_.resize(count * model.states);
    other_.resize(count * model.states);
    beta_exponent_.resize(count);
    zero_.resize(count);
    zero_exponent_.resize(count);
  }

  void run(double* out, const Mass& mass) {
    out_ = out, mass_ = &mass;
    if (count_ == 0) return;
    run_forward(*this, length(0));
    run_backward(*this, length(0));
    for (Index k = 0; k < count_; ++k) summarise(k);
  }

  // The steps of base/forward_backward.hpp: a row is that of all sentences that have a position t, named by t. A
  // sentence's last row of beta is made at its own last position.
  Index alpha(Index t) const { return t; }
  Index beta(Index t) const { return t; }
  Index onward(Index t) const { return t; }

  void begin(Index) {
    for (Index k = 0; k < count_; ++k) std::copy_n(model_.start, model_.states, alpha(k, 0));
  }

  void forward(Index t, Index, Index) {
    share_matrices(active(t), t - 1, [&](Index begin, Index end, const double* M) {
      to_.clear(), from_.clear();
      for (Index n = begin; n < end; ++n) {
        const Index k = list_[n];
        to_.push_back(alpha(k, t));
        from_.push_back(alpha(k, t - 1));
        if (!model_.gain) continue;
        from_.back() = other(k);
        gain(other(k), alpha(k, t - 1), seen(k, t - 1));
      }
      forward_products(to_.data(), from_.data(), end - begin, M, model_.states);
    });
  }

  bool settle(Index t, Index) {
    for (Index k = 0; k < active(t); ++k) {
      Exponent taken = t ? exponent_[first_[k] + t - 1] : Exponent{};
      PowersOfTwo::rescale(alpha(k, t), model_.states, taken);
      exponent_[first_[k] + t] = taken;
    }
    return true;
  }

  void finish(Index) const {}

  void look_back(Index t, Index, Index, Index) {
    for (Index k = active(t + 1); k < active(t); ++k)
      std::copy_n(model_.finish + seen(k, t) * model_.states, model_.states, ahead(k));
    for (Index k = 0; k < active(t); ++k) {
      PowersOfTwo::rescale(ahead(k), model_.states, beta_exponent_[k]);
      note(k, t);
    }
  }

  void backward(Index t, Index, Index) {
    share_matrices(active(t), t - 1, [&](Index begin, Index end, const double* M) {
      to_.clear(), from_.clear();
      for (Index n = begin; n < end; ++n) {
        from_.push_back(ahead(list_[n]));
        to_.push_back(other(list_[n]));
      }
      backward_products(to_.data(), from_.data(), end - begin, M, model_.states);
      for (Index n = begin; n < end; ++n) {
        const Index k = list_[n];
        if (model_.gain) gain(ahead(k), other(k), seen(k, t - 1));
        else std::copy_n(other(k), model_.states, ahead(k));
      }
    });
  }

 private:
  Index length(Index k) const { return offsets_[order_[k] + 1] - offsets_[order_[k]]; }
  Index seen(Index k, Index t) const { return observations_[offsets_[order_[k]] + t]; }
  double* alpha(Index k, Index t) { return alpha_.data() + (first_[k] + t) * model_.states; }
  double* ahead(Index k) { return beta_.data() + k * model_.states; }
  double* other(Index k) { return other_.data() + k * model_.states; }

  Index active(Index t) const {
    Index n = count_;
    while (n > 0 && length(n - 1) <= t) --n;
    return n;
  }

  // Calls work(begin, end, matrix) for the sentences of the list that share a matrix at position t.
  template <class Work>
  void share_matrices(Index n, Index t, const Work& work) {
    list_.resize(n);
    std::iota(list_.begin(), list_.end(), Index{0});
    const auto matrix = [&](Index k) { return model_.matrix[seen(k, t)]; };
    std::stable_sort(list_.begin(), list_.end(), [&](Index a, Index b) { return matrix(a) < matrix(b); });
    for (Index begin = 0, end; begin < n; begin = end) {
      const Index same = matrix(list_[begin]);
      for (end = begin + 1; end < n && matrix(list_[end]) == same;) ++end;
      work(begin, end, model_.matrices + same * model_.states * model_.states);
    }
  }

  void gain(double* to, const double* from, Index x) const {
    const double* gains = model_.gain + x * model_.states;
    for (Index i = 0; i < model_.states; ++i) to[i] = from[i] * gains[i];
  }

  // Writes the marginals of a position, and keeps its mass.
  void note(Index k, Index t) {
    const double *a = alpha(k, t), *b = ahead(k);
    double* row = out_ + (offsets_[order_[k]] + t) * model_.labels;
    double total = 0;
    for (Index label = 0; label < model_.labels; ++label) {
      double sum = 0;
      for (Index i = model_.begin[label]; i < model_.begin[label + 1]; ++i) sum += a[i] * b[i];
      row[label] = sum;
      total += sum;
    }
    for (Index label = 0; label < model_.labels; ++label) row[label] = total != 0 ? row[label] / total : 0.0;
    const Index exponent = exponent_[first_[k] + t].exponent + beta_exponent_[k].exponent;
    double& drift = mass_->drift[order_[k]];
    if (t == length(k) - 1) drift = 0;
    // Against the last position seen: the differences of neighbours, added up, bound the difference from the first.
    if (t < length(k) - 1 && zero_[k] != 0)
      drift +=
          std::abs(total / zero_[k] *
                       std::ldexp(1.0, static_cast<int>(std::clamp<Index>(exponent - zero_exponent_[k], -2000, 2000))) -
                   1);
    zero_[k] = total;
    zero_exponent_[k] = exponent;
  }

  void summarise(Index k) const {
    const double total = zero_[k];
    const Index n = order_[k];
    mass_->sign[n] = (total > 0) - (total < 0);
    mass_->log_size[n] = total != 0 ? std::log(std::abs(total)) + Exponent{zero_exponent_[k]}.log() : kNever<double>;
  }

  const Operators& model_;
  const Index *observations_, *offsets_, *order_;
  Index count_;
  double* out_ = nullptr;       // [tokens][labels]
  const Mass* mass_ = nullptr;  // of all sentences
  std::vector<Index> first_, zero_exponent_, list_;
  std::vector<Exponent> exponent_, beta_exponent_;
  std::vector<double> alpha_, beta_, other_, zero_;
  std::vector<double*> to_;
  std::vector<const double*> from_;
};

}  // namespace

void marginals(const Operators& model, const Index* observations, const Index* offsets, Index sentences, Index threads,
               double* out, const Mass& mass) {
  std::vector<Index> order;
  for (Index n = 0; n < sentences; ++n) {
    mass.log_size[n] = kNever<double>, mass.sign[n] = 0, mass.drift[n] = 0;
    if (offsets[n + 1] > offsets[n]) order.push_back(n);
  }
  const auto length = [&](Index n) { return offsets[n + 1] - offsets[n]; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return length(a) > length(b); });
  const Index count = static_cast<Index>(order.size());
  const Index together = std::clamp(count / (4 * threads), kFewest, kMost);
  parallel((count + together - 1) / together, threads, [&](Index n, Index) {
    const Index begin = n * together;
    Group(model, observations, offsets, order.data() + begin, std::min(together, count - begin)).run(out, mass);
  });
}

}  // namespace certus::latent::refinement
