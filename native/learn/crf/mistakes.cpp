#include "learn/crf/mistakes.hpp"

#include <cmath>

#include "base/arena.hpp"
#include "base/simd.hpp"

namespace certus {

double crf_best_path(const double* scores, const double* transitions, Index T, Index labels, Index width, Label* path) {
  if (T == 0) return 0;
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  double* alpha = arena.get<double>(T * width);
  double* arrive = arena.get<double>(width);
  std::copy_n(scores, width, alpha);
  for (Index t = 1; t < T; ++t) {
    std::fill_n(arrive, width, kNever<double>);
    maxplus(arrive, alpha + (t - 1) * width, transitions, labels, width, width);
    add_max(alpha + t * width, arrive, scores + t * width, width);
  }
  const double* last = alpha + (T - 1) * width;
  const double* end = std::max_element(last, last + labels);
  path[T - 1] = static_cast<Label>(end - last);
  for (Index t = T - 1; t > 0; --t)
    path[t - 1] = static_cast<Label>(argmax_sum(alpha + (t - 1) * width, transitions + path[t], width, labels));
  return *end;
}

namespace {

// What a sentence's features say for gold against the labels found, as a sparse vector over the weights.
class Difference {
 public:
  explicit Difference(const CrfData& data) : data_(data), at_(data.layout.size(), 0.0), used_(data.layout.size(), 0) {
    dense_.resize(data.layout.features());
    for (Index f = 0; f < data.layout.features(); ++f)
      if (data.layout.row(f).dense) dense_[data.layout.row(f).begin / data.layout.width()] = static_cast<Feature>(f);
  }

  void find(Index s, const Label* found) {
    for (const Index k : active) at_[k] = 0, used_[k] = 0;
    active.clear();
    const CrfInput& input = data_.input;
    const Label* gold = data_.labels(s);
    for (Index t = 0; t < input.length(s); ++t) {
      if (gold[t] != found[t]) token(input.sentence_begin[s] + t, gold[t], found[t]);
      if (t == 0 || (gold[t] == found[t] && gold[t - 1] == found[t - 1])) continue;
      add(data_.layout.transition(gold[t - 1], gold[t]), 1);
      add(data_.layout.transition(found[t - 1], found[t]), -1);
    }
  }
  double at(Index k) const { return at_[k]; }

  std::vector<Index> active;  // each weight once

 private:
  void token(Index token, Label gold, Label found) {
    const CrfInput& input = data_.input;
    for (Index n = input.begin[token]; n < input.begin[token + 1]; ++n) {
      const Feature f = n < input.middle[token] ? dense_[input.index[n]] : input.index[n];
      const double value = input.value.empty() ? 1.0 : input.value[n];
      add(data_.layout.state(f, gold), value);
      add(data_.layout.state(f, found), -value);
    }
  }
  void add(Index k, double value) {
    if (k < 0) return;
    if (!used_[k]) active.push_back(k);
    used_[k] = 1;
    at_[k] += value;
  }

  const CrfData& data_;
  Doubles at_;
  std::vector<unsigned char> used_;
  std::vector<Feature> dense_;  // the feature of each dense row
};

// Runs passes of: decode under `now`, and where labels are wrong, learn(difference, wrong, margin, length), which
// returns the loss. After each pass finish() puts the weights to be read in place.
template <class Learn, class Finish>
void learn_from_mistakes(const CrfData& data, const MistakeOptions& o, const double* now, const CrfReport& report,
                         const Learn& learn, const Finish& finish) {
  const CrfLayout& layout = data.layout;
  const Index W = layout.width(), sentences = data.input.sentences();
  Doubles scores(data.longest * W);
  std::vector<Label> path(data.longest);
  Difference difference(data);
  Shuffle shuffle(sentences, o.seed);
  for (Index pass = 1; pass <= o.max_passes; ++pass) {
    shuffle.next();
    double loss = 0;
    for (const Index s : shuffle.order) {
      const Index T = data.input.length(s);
      const Label* gold = data.labels(s);
      data.score(now, s, scores.data());
      crf_best_path(scores.data(), now + layout.transitions(), T, layout.labels(), W, path.data());
      Index wrong = 0;
      for (Index t = 0; t < T; ++t) wrong += path[t] != gold[t];
      if (wrong) {
        difference.find(s, path.data());
        double margin = 0;  // by which the labels found beat gold
        for (const Index k : difference.active) margin -= now[k] * difference.at(k);
        loss += learn(difference, wrong, margin, T);
      }
      learn.next();
    }
    finish();
    if (!report(pass, loss) || loss < o.epsilon * static_cast<double>(sentences)) break;
  }
}

// Weights and their average over all sentences seen, which costs as much as the changes (Daume 2006, figure 2.3).
class Averaged {
 public:
  explicit Averaged(Index size) : now(size, 0.0), later_(size, 0.0) {}
  void add(Index k, double change) {
    now[k] += change;
    later_[k] += seen_ * change;
  }
  void next() { ++seen_; }
  void average(double* w) const {
    for (std::size_t k = 0; k < now.size(); ++k) w[k] = now[k] - later_[k] / seen_;
  }
  Doubles now;

 private:
  Doubles later_;
  double seen_ = 1;
};

struct Perceptron {
  Averaged& weights;
  double operator()(const Difference& d, Index wrong, double, Index length) const {
    for (const Index k : d.active) weights.add(k, d.at(k));
    return static_cast<double>(wrong) / static_cast<double>(length);
  }
  void next() const { weights.next(); }
};

struct PassiveAggressive {
  Averaged& weights;
  const PassiveAggressiveOptions& o;
  double operator()(const Difference& d, Index wrong, double margin, Index) const {
    const double cost = margin + (o.error_sensitive ? std::sqrt(static_cast<double>(wrong)) : 1.0);
    double squares = 0;
    for (const Index k : d.active) squares += d.at(k) * d.at(k);
    if (squares == 0) return cost;  // no weight tells the two apart
    const double step =
        o.type == 2 ? cost / (squares + 0.5 / o.c) : std::min(cost / squares, o.type == 1 ? o.c : cost / squares);
    for (const Index k : d.active) weights.add(k, step * d.at(k));
    return cost;
  }
  void next() const { weights.next(); }
};

struct Arow {
  double* mean;
  Doubles& variance;
  double gamma;
  double operator()(const Difference& d, Index wrong, double margin, Index) const {
    const double cost = margin + static_cast<double>(wrong);
    double spread = gamma;
    for (const Index k : d.active) spread += variance[k] * d.at(k) * d.at(k);
    for (const Index k : d.active) {
      mean[k] += cost / spread * variance[k] * d.at(k);
      variance[k] = 1 / (1 / variance[k] + d.at(k) * d.at(k) / gamma);
    }
    return cost;
  }
  void next() const {}
};

}  // namespace

void crf_perceptron(const CrfData& data, const MistakeOptions& o, double* w, const CrfReport& report) {
  Averaged weights(data.layout.size());
  learn_from_mistakes(data, o, weights.now.data(), report, Perceptron{weights}, [&] { weights.average(w); });
}

void crf_passive_aggressive(const CrfData& data, const PassiveAggressiveOptions& o, double* w,
                            const CrfReport& report) {
  Averaged weights(data.layout.size());
  learn_from_mistakes(data, o, weights.now.data(), report, PassiveAggressive{weights, o}, [&] {
    if (o.averaging) weights.average(w);
    else std::copy(weights.now.begin(), weights.now.end(), w);
  });
}

void crf_arow(const CrfData& data, const ArowOptions& o, double* w, const CrfReport& report) {
  Doubles variance(data.layout.size(), o.variance);
  learn_from_mistakes(data, o, w, report, Arow{w, variance, o.gamma}, [] {});
}

}  // namespace certus
