#include "latent/refinement/operators.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "base/scaling.hpp"
#include "latent/refinement/products.hpp"

namespace certus::refinement {
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
  }

  void run(double* out, const Mass& mass) {
    forward();
    backward(out, mass);
  }

 private:
  Index length(Index k) const { return offsets_[order_[k] + 1] - offsets_[order_[k]]; }
  Index seen(Index k, Index t) const { return observations_[offsets_[order_[k]] + t]; }
  double* alpha(Index k, Index t) { return alpha_.data() + (first_[k] + t) * model_.states; }

  Index active(Index t) const {
    Index n = count_;
    while (n > 0 && length(n - 1) <= t) --n;
    return n;
  }

  // Calls work(begin, end, matrix) for the sentences of the list that share a matrix at position t.
  template <class Work>
  void shared(Index n, Index t, const Work& work) {
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

  void gained(double* to, const double* from, Index x) const {
    const double* gain = model_.gain + x * model_.states;
    for (Index i = 0; i < model_.states; ++i) to[i] = from[i] * gain[i];
  }

  void forward() {
    const Index S = model_.states;
    for (Index k = 0; k < active(0); ++k) {
      std::copy_n(model_.start, S, alpha(k, 0));
      exponent_[first_[k]] = normalise(alpha(k, 0), S);
    }
    for (Index t = 0; active(t + 1) > 0; ++t)
      shared(active(t + 1), t, [&](Index begin, Index end, const double* M) {
        to_.clear(), from_.clear();
        for (Index n = begin; n < end; ++n) {
          const Index k = list_[n];
          to_.push_back(alpha(k, t + 1));
          from_.push_back(alpha(k, t));
          if (!model_.gain) continue;
          from_.back() = other_.data() + k * S;
          gained(other_.data() + k * S, alpha(k, t), seen(k, t));
        }
        forward_products(to_.data(), from_.data(), end - begin, M, S);
        for (Index n = begin; n < end; ++n) {
          const Index k = list_[n];
          exponent_[first_[k] + t + 1] = exponent_[first_[k] + t] + normalise(alpha(k, t + 1), S);
        }
      });
  }

  void backward(double* out, const Mass& mass) {
    const Index S = model_.states;
    zero_.assign(count_, 0.0);
    zero_exponent_.assign(count_, 0);
    for (Index t = count_ > 0 ? length(0) - 1 : -1; t >= 0; --t) {
      const Index later = active(t + 1), now = active(t);
      shared(later, t, [&](Index begin, Index end, const double* M) {
        to_.clear(), from_.clear();
        for (Index n = begin; n < end; ++n) {
          from_.push_back(beta_.data() + list_[n] * S);
          to_.push_back(other_.data() + list_[n] * S);
        }
        backward_products(to_.data(), from_.data(), end - begin, M, S);
        for (Index n = begin; n < end; ++n) {
          const Index k = list_[n];
          double* beta = beta_.data() + k * S;
          if (model_.gain) gained(beta, other_.data() + k * S, seen(k, t));
          else std::copy_n(other_.data() + k * S, S, beta);
          beta_exponent_[k] += normalise(beta, S);
        }
      });
      for (Index k = later; k < now; ++k) {
        double* beta = beta_.data() + k * S;
        std::copy_n(model_.finish + seen(k, t) * S, S, beta);
        beta_exponent_[k] = normalise(beta, S);
      }
      for (Index k = 0; k < now; ++k) note(k, t, out, mass);
    }
    for (Index k = 0; k < count_; ++k) summarise(k, mass);
  }

  // Writes the marginals of a position, and keeps its mass.
  void note(Index k, Index t, double* out, const Mass& mass) {
    const double *a = alpha(k, t), *b = beta_.data() + k * model_.states;
    double* row = out + (offsets_[order_[k]] + t) * model_.labels;
    double total = 0;
    for (Index label = 0; label < model_.labels; ++label) {
      double sum = 0;
      for (Index i = model_.begin[label]; i < model_.begin[label + 1]; ++i) sum += a[i] * b[i];
      row[label] = sum;
      total += sum;
    }
    for (Index label = 0; label < model_.labels; ++label) row[label] = total != 0 ? row[label] / total : 0.0;
    const Index exponent = exponent_[first_[k] + t] + beta_exponent_[k];
    double& drift = mass.drift[order_[k]];
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

  void summarise(Index k, const Mass& mass) const {
    const double total = zero_[k];
    const Index n = order_[k];
    mass.sign[n] = (total > 0) - (total < 0);
    mass.log_size[n] = total != 0
                           ? std::log(std::abs(total)) + static_cast<double>(zero_exponent_[k]) * std::numbers::ln2
                           : kNever<double>;
  }

  const Operators& model_;
  const Index *observations_, *offsets_, *order_;
  Index count_;
  std::vector<Index> first_, exponent_, beta_exponent_, zero_exponent_, list_;
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

}  // namespace certus::refinement
