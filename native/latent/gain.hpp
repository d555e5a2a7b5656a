// What a label sequence is worth where another one is right: what minimum-Bayes-risk reranking maximises the mean of
// (Sun & Tsujii 2009, equation 13).
#pragma once

#include <vector>

#include "base/types.hpp"

namespace certus::latent {

class Gain {
 public:
  // The share of labels that are right.
  Gain() = default;
  // F1 of spans: from one label to the next, a span may end, and may begin; tables [labels + 1][labels + 1], the last
  // being outside of the sentence. kind [labels]: the type of the span that a label is part of.
  Gain(std::vector<unsigned char> ends, std::vector<unsigned char> begins, std::vector<Label> kind)
      : labels_(static_cast<Index>(kind.size())),
        ends_(std::move(ends)),
        begins_(std::move(begins)),
        kind_(std::move(kind)) {}

  // The first of `count` sequences [count][T] whose gain, averaged over all of them by their probability, is largest;
  // *mean is what it is, of the mass that they have.
  Index find_best(const Label* sequences, const double* log_probability, Index count, Index T, double* mean) const;

 private:
  struct Span {
    Label begin, end, kind;
    bool operator==(const Span&) const = default;
    auto operator<=>(const Span&) const = default;
  };
  void find_spans(const Label* labels, Index T, std::vector<Span>& out) const;

  Index labels_ = 0;  // where it is 0, labels are counted instead of spans
  std::vector<unsigned char> ends_, begins_;
  std::vector<Label> kind_;
};

}  // namespace certus::latent
