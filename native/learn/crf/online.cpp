#include "learn/crf/online.hpp"

#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "base/vector.hpp"

namespace certus::learn {
namespace {

CERTUS_CLONES void add_row(double* w, double factor, const double* x, Index width) {
  for (Index j = 0; j < width; ++j) w[j] += factor * x[j];
}

// Moves weights towards 0 until they have got the whole penalty `due`, `got` being what they got so far.
CERTUS_CLONES void pull(double* w, double* got, double due, Index count) {
  for (Index n = 0; n < count; ++n) {
    const double before = w[n], down = before - (due + got[n]), up = before + (due - got[n]);
    const double after = before > 0 ? (down > 0 ? down : 0) : before < 0 ? (up < 0 ? up : 0) : 0;
    got[n] += after - before;
    w[n] = after;
  }
}

}  // namespace

// The loss of one sentence and what it says of the weights.
class CrfSentences {
 public:
  explicit CrfSentences(const CrfData& data) : data_(data), links_(data.layout), pairs_(links_.labels * links_.width) {
    for (Doubles* x : {&a_, &b_, &r_}) x->resize(data.longest * links_.width);
  }

  // In operations: what a loop over sentences heeds.
  Index estimate_work(Index s) const { return (data_.input.length(s) + 1) * links_.labels * links_.width; }

  // Under the weights scale * w.
  double sum(const double* w, double scale, Index s) {
    const Index T = data_.input.length(s), W = links_.width;
    links_.set(w + data_.layout.transitions(), scale);
    data_.score(w, s, r_.data());
    for (Index n = 0; scale != 1 && n < T * W; ++n) r_[n] *= scale;
    const double loss = crf_sum(links_.steps(), T, data_.labels(s), a_.data(), b_.data(), r_.data(), &ranged_);
    sum_pairs(w, scale, s);
    return loss;
  }

  // Moves the weights against the gradient of a sentence that was summed, `gain` times; calls touched(begin, count) for
  // each row of weights that it moves.
  template <class Touched>
  void step(Index s, double gain, double* w, const Touched& touched) const {
    const CrfLayout& layout = data_.layout;
    const CrfInput& input = data_.input;
    const Index W = links_.width;
    for (Index t = 0; t < input.length(s); ++t) {
      const Index token = input.sentence_begin[s] + t;
      const double* residual = r_.data() + t * W;
      for (Index n = input.begin[token]; n < input.begin[token + 1]; ++n) {
        const double value = input.value.empty() ? 1.0 : input.value[n];
        if (n < input.middle[token]) {
          const Index dense = input.index[n];
          add_row(w + dense * W, -gain * value, residual, W);
          layout.clear_row(w, dense);
          touched(dense * W, W);
        } else {
          const CrfLayout::Row& row = layout.row(input.index[n]);
          const Label* label = layout.listed(row);
          for (Label k = 0; k < row.count; ++k) w[row.begin + k] -= gain * value * residual[label[k]];
          touched(row.begin, row.count);
        }
      }
    }
    if (input.length(s) < 2) return;
    add_row(w + layout.transitions(), -gain, pairs_.data(), links_.labels * W);
    layout.clear_transitions(w);
    touched(layout.transitions(), links_.labels * W);
  }

 private:
  // pairs: expected less found.
  void sum_pairs(const double* w, double scale, Index s) {
    const Index T = data_.input.length(s), W = links_.width, L = links_.labels;
    std::fill(pairs_.begin(), pairs_.end(), 0.0);
    if (T > 1 && ranged_) {
      crf_pairs(a_.data(), b_.data(), T, W, W, 0, L, pairs_.data());
      for (Index n = 0; n < L * W; ++n) pairs_[n] *= links_.link[n];
    } else if (T > 1) {
      data_.score(w, s, a_.data());
      for (Index n = 0; n < T * W; ++n) a_[n] *= scale;
      crf_log_space(links_.steps(), T, nullptr, a_.data(), pairs_.data());
    }
    for (Index t = 1; t < T; ++t) pairs_[data_.labels(s)[t - 1] * W + data_.labels(s)[t]] -= 1;
  }

  const CrfData& data_;
  CrfLinks links_;
  Doubles a_, b_, r_, pairs_;
  bool ranged_ = true;
};

namespace {

class L2Sgd : public CrfPasses {
 public:
  L2Sgd(const CrfData& data, const L2SgdOptions& options, double* w) : data_(data), o_(options), w_(w) {
    begin(calibrate());
  }

  double pass() override {
    shuffle_.next();
    const double loss = learn(shuffle_.order.data(), data_.input.sentences());
    if (loss < best_) best_ = loss, best_w_.assign(w_, w_ + data_.layout.size());
    past_.push_back(loss);
    const Index passes = static_cast<Index>(past_.size());
    done_ = !std::isfinite(loss) ||
            (o_.period > 0 && passes > o_.period && past_[passes - 1 - o_.period] - loss < o_.delta * loss);
    return loss;
  }
  void finish() override { std::copy(best_w_.begin(), best_w_.end(), w_); }

 private:
  void begin(double eta) {
    eta_ = eta, k_ = 0;
    std::fill_n(w_, data_.layout.size(), 0.0);
  }

  // One pass over `count` sentences of an order; returns the objective met on the way.
  double learn(const Index* order, Index count) {
    double loss = 0, scale = 1;
    Heed heed;
    for (Index n = 0; n < count; ++n) {
      heed(sentences_.estimate_work(order[n]));
      const double eta = eta_ / (1 + lambda_ * eta_ * static_cast<double>(k_++));
      scale /= 1 + eta * lambda_;
      loss += sentences_.sum(w_, scale, order[n]);
      sentences_.step(order[n], eta / scale, w_, [](Index, Index) {});
      if (scale < 1e-100) rescale(&scale);
    }
    rescale(&scale);
    double squares = 0;
    for (Index n = 0; n < data_.layout.size(); ++n) squares += w_[n] * w_[n];
    return loss + o_.c2 * squares;
  }
  void rescale(double* scale) {
    for (Index n = 0; n < data_.layout.size(); ++n) w_[n] *= *scale;
    *scale = 1;
  }

  // From the first rate upwards while that helps, then downwards.
  double calibrate() {
    Shuffle shuffle(data_.input.sentences(), o_.seed + 1);
    shuffle.next();
    const Index count = std::min(o_.samples, data_.input.sentences());
    begin(o_.eta);
    double idle = 0;
    Heed heed;
    for (Index n = 0; n < count; ++n) {
      heed(sentences_.estimate_work(shuffle.order[n]));
      idle += sentences_.sum(w_, 1, shuffle.order[n]);
    }
    double best = std::numeric_limits<double>::infinity(), chosen = o_.eta, eta = o_.eta;
    bool down = false;
    Index left = o_.candidates;
    for (Index trial = 0; trial < o_.max_trials && !(down && left == 0); ++trial) {
      begin(eta);
      const double loss = learn(shuffle.order.data(), count);
      const bool helps = std::isfinite(loss) && loss < idle;
      if (helps) --left;
      if (helps && loss < best) best = loss, chosen = eta;
      if (!down && helps && left > 0) eta *= o_.rate;
      else if (!down) down = true, left = o_.candidates, eta = o_.eta / o_.rate;
      else eta /= o_.rate;
    }
    return chosen;
  }

  const CrfData& data_;
  const L2SgdOptions o_;
  double* w_;
  double lambda_ = 2 * o_.c2 / static_cast<double>(std::max<Index>(1, data_.input.sentences())), eta_ = 0;
  Index k_ = 0;
  CrfSentences sentences_{data_};
  Shuffle shuffle_{data_.input.sentences(), o_.seed};
  std::vector<double> past_;  // the losses
  Doubles best_w_;            // the weights of the best pass,
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::unique_ptr<CrfPasses> crf_l2sgd(const CrfData& data, const L2SgdOptions& options, double* w) {
  return std::make_unique<L2Sgd>(data, options, w);
}

CrfSgd::CrfSgd(const CrfData& data, const SgdOptions& options, double* w)
    : data_(data), o_(options), w_(w), sentences_(std::make_unique<CrfSentences>(data)) {
  state.got.assign(data.layout.size(), 0.0);
}
CrfSgd::~CrfSgd() = default;

double CrfSgd::pass() {
  shuffle_.next();
  return learn(shuffle_.order.data(), data_.input.sentences());
}

double CrfSgd::learn(const Index* order, Index count) {
  const double total = static_cast<double>(data_.input.sentences());
  const auto pull_all = [&](Index begin, Index size) {
    if (state.due > 0) pull(w_ + begin, state.got.data() + begin, state.due, size);
  };
  double loss = 0;
  Heed heed;
  for (Index n = 0; n < count; ++n) {
    heed(sentences_->estimate_work(order[n]));
    const double eta = o_.eta * std::pow(o_.decay, static_cast<double>(state.learnt++) / total);
    state.due += eta * o_.c1 / total;
    loss += sentences_->sum(w_, 1, order[n]);
    sentences_->step(order[n], eta, w_, pull_all);
  }
  pull_all(0, data_.layout.size());
  double sum = 0;
  for (Index n = 0; n < data_.layout.size(); ++n) sum += std::abs(w_[n]);
  return loss + o_.c1 * sum;
}

std::unique_ptr<CrfPasses> crf_sgd(const CrfData& data, const SgdOptions& options, double* w) {
  return std::make_unique<CrfSgd>(data, options, w);
}

}  // namespace certus::learn
