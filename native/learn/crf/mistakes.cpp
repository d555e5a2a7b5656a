#include "learn/crf/mistakes.hpp"

#include <cmath>

#include "base/arena.hpp"
#include "base/simd.hpp"

namespace certus::learn {

double crf_best_path(const double* scores, const double* transitions, Index T, Index labels, Index width, Label* path) {
  if (T == 0) return 0;
  const LocalArena arena;
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

// Decodes every sentence and, where labels are wrong, lets Lesson learn: learn(difference, wrong, margin, length)
// returns the loss, now() the weights to decode under, next() counts a sentence, and finish(w) puts the weights to be
// read in place after each pass.
template <class Lesson>
class MistakePasses : public CrfPasses {
 public:
  template <class... Arguments>
  MistakePasses(const CrfData& data, const MistakeOptions& options, double* w, Arguments&&... arguments)
      : data_(data), o_(options), w_(w), lesson_(std::forward<Arguments>(arguments)...) {}

  double pass() override {
    shuffle_.next();
    double loss = 0;
    for (const Index s : shuffle_.order) {
      loss += learn(s);
      lesson_.next();
    }
    lesson_.finish(w_);
    done_ = loss < o_.epsilon * static_cast<double>(data_.input.sentences());
    return loss;
  }

 private:
  double learn(Index s) {
    const CrfLayout& layout = data_.layout;
    const Index T = data_.input.length(s);
    const Label* gold = data_.labels(s);
    const double* now = lesson_.now();
    data_.score(now, s, scores_.data());
    crf_best_path(scores_.data(), now + layout.transitions(), T, layout.labels(), layout.width(), path_.data());
    Index wrong = 0;
    for (Index t = 0; t < T; ++t) wrong += path_[t] != gold[t];
    if (!wrong) return 0;
    difference_.find(s, path_.data());
    double margin = 0;  // by which the labels found beat gold
    for (const Index k : difference_.active) margin -= now[k] * difference_.at(k);
    return lesson_.learn(difference_, wrong, margin, T);
  }

  const CrfData& data_;
  const MistakeOptions o_;
  double* w_;
  Lesson lesson_;
  Doubles scores_ = Doubles(data_.longest * data_.layout.width());  // [longest sentence][width]
  std::vector<Label> path_ = std::vector<Label>(data_.longest);
  Difference difference_{data_};
  Shuffle shuffle_{data_.input.sentences(), o_.seed};
};

// Weights and their average over all sentences seen, which costs as much as the changes (Daume 2006, figure 2.3).
class Averaged {
 public:
  explicit Averaged(Index size) : w_(size, 0.0), later_(size, 0.0) {}
  const double* now() const { return w_.data(); }
  void add(Index k, double change) {
    w_[k] += change;
    later_[k] += seen_ * change;
  }
  void next() { ++seen_; }
  void finish(double* w) const {
    for (std::size_t k = 0; k < w_.size(); ++k) w[k] = w_[k] - later_[k] / seen_;
  }

 protected:
  Doubles w_, later_;
  double seen_ = 1;
};

class PerceptronLesson : public Averaged {
 public:
  using Averaged::Averaged;
  double learn(const Difference& d, Index wrong, double, Index length) {
    for (const Index k : d.active) add(k, d.at(k));
    return static_cast<double>(wrong) / static_cast<double>(length);
  }
};

class PassiveAggressiveLesson : public Averaged {
 public:
  PassiveAggressiveLesson(Index size, const PassiveAggressiveOptions& options) : Averaged(size), o_(options) {}
  double learn(const Difference& d, Index wrong, double margin, Index) {
    const double cost = margin + (o_.error_sensitive ? std::sqrt(static_cast<double>(wrong)) : 1.0);
    double squares = 0;
    for (const Index k : d.active) squares += d.at(k) * d.at(k);
    if (squares == 0) return cost;  // no weight tells the two apart
    const double step =
        o_.type == 2 ? cost / (squares + 0.5 / o_.c) : std::min(cost / squares, o_.type == 1 ? o_.c : cost / squares);
    for (const Index k : d.active) add(k, step * d.at(k));
    return cost;
  }
  void finish(double* w) const {
    if (o_.averaging) Averaged::finish(w);
    else std::copy_n(now(), w_.size(), w);
  }

 private:
  const PassiveAggressiveOptions o_;
};

class ArowLesson {
 public:
  ArowLesson(double* mean, Index size, const ArowOptions& options)
      : mean_(mean), variance_(size, options.variance), gamma_(options.gamma) {}
  const double* now() const { return mean_; }
  double learn(const Difference& d, Index wrong, double margin, Index) {
    const double cost = margin + static_cast<double>(wrong);
    double spread = gamma_;
    for (const Index k : d.active) spread += variance_[k] * d.at(k) * d.at(k);
    for (const Index k : d.active) {
      mean_[k] += cost / spread * variance_[k] * d.at(k);
      variance_[k] = 1 / (1 / variance_[k] + d.at(k) * d.at(k) / gamma_);
    }
    return cost;
  }
  void next() {}
  void finish(double*) const {}

 private:
  double* mean_;
  Doubles variance_;
  double gamma_;
};

}  // namespace

std::unique_ptr<CrfPasses> crf_perceptron(const CrfData& data, const MistakeOptions& options, double* w) {
  return std::make_unique<MistakePasses<PerceptronLesson>>(data, options, w, data.layout.size());
}

std::unique_ptr<CrfPasses> crf_passive_aggressive(const CrfData& data, const PassiveAggressiveOptions& options,
                                                  double* w) {
  return std::make_unique<MistakePasses<PassiveAggressiveLesson>>(data, options, w, data.layout.size(), options);
}

std::unique_ptr<CrfPasses> crf_arow(const CrfData& data, const ArowOptions& options, double* w) {
  return std::make_unique<MistakePasses<ArowLesson>>(data, options, w, w, data.layout.size(), options);
}

}  // namespace certus::learn
