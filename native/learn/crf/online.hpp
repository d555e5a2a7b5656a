// Stochastic gradient descent on the objective of crf_objective.hpp, a sentence at a time.
#pragma once

#include <memory>
#include <utility>

#include "learn/crf/data.hpp"

namespace certus::learn {

// An algorithm that learns in passes over the sentences, in orders of its own.
class CrfPasses {
 public:
  virtual ~CrfPasses() = default;

  // Goes once over all sentences; returns the loss met on the way. The weights are then ready to be read.
  double epoch() {
    ++epochs;
    return pass();
  }
  // Whether another pass would be of no use.
  bool done() const { return done_; }
  // Puts the final weights in place, where those of the last pass are not the final ones.
  virtual void finish() {}

  Index epochs = 0;

 protected:
  virtual double pass() = 0;

  bool done_ = false;
};

// A permutation that depends on nothing but the seed.
class Shuffle {
 public:
  Shuffle(Index count, std::uint64_t seed) : order(count), state_(seed) {
    for (Index n = 0; n < count; ++n) order[n] = n;
  }
  void next() {
    for (Index n = static_cast<Index>(order.size()); n > 1; --n) std::swap(order[n - 1], order[below(n)]);
  }
  std::vector<Index> order;

 private:
  Index below(Index n) {  // splitmix64; the bias of the remainder is below n / 2^64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<Index>((z ^ (z >> 31)) % static_cast<std::uint64_t>(n));
  }
  std::uint64_t state_;
};

// With an L2 penalty, after Pegasos (Shalev-Shwartz et al. 2007) without its projection, and with weights divided by
// 1 + lambda eta rather than multiplied by 1 - lambda eta, which no rate can turn around:
//   eta_k = eta / (1 + lambda eta k) at the k-th sentence,   lambda = 2 c2 / N,
// where eta is the rate, of those tried on a sample before, that decreases the loss most (Bottou's calibration). Ends
// when over `period` passes the loss fell by no more than the share `delta`, with the weights of the best pass.
struct L2SgdOptions {
  double c2 = 1;
  Index period = 10;
  double delta = 1e-6;
  double eta = 0.1, rate = 2;  // calibration: where to begin, and by what to change it,
  Index samples = 1000;        // on how many sentences,
  Index candidates = 10;       // how many rates that decrease the loss in each direction,
  Index max_trials = 20;       // and how many trials at most
  std::uint64_t seed = 0;
};
std::unique_ptr<CrfPasses> crf_l2sgd(const CrfData& data, const L2SgdOptions& options, double* w);

// With an L1 penalty, applied cumulatively to the weights that a sentence touches (Tsuruoka, Tsujii & Ananiadou 2009,
// figure 2): a weight is moved towards 0 by what it missed since it was last touched, and stops there. Rates fall
// exponentially, eta_k = eta decay^(k / N) (their section 3.2). After each pass all weights get what they missed.
struct SgdOptions {
  double c1 = 0.1;
  double eta = 0.1, decay = 0.85;
  std::uint64_t seed = 0;
};
class CrfSentences;
class CrfSgd : public CrfPasses {
 public:
  CrfSgd(const CrfData& data, const SgdOptions& options, double* w);
  ~CrfSgd() override;

  // Learns from the sentences in an order that the caller gives; returns the loss met on the way, and the penalty.
  double learn(const Index* order, Index count);

  struct State {       // what learning goes on from, besides the weights
    Doubles got;       // [size]: the penalty each weight has got, with its sign
    double due = 0;    // what a weight touched all the time would have got
    Index learnt = 0;  // sentences
  } state;

 private:
  double pass() override;

  const CrfData& data_;
  const SgdOptions o_;
  double* w_;
  Shuffle shuffle_{data_.input.sentences(), o_.seed};
  std::unique_ptr<CrfSentences> sentences_;
};
std::unique_ptr<CrfPasses> crf_sgd(const CrfData& data, const SgdOptions& options, double* w);

}  // namespace certus::learn
