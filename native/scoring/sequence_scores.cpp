#include "scoring/sequence_scores.hpp"

namespace certus::scoring {

// Position t adds the n-grams of up to order + 1 labels that end there, which are cut off where the sentence begins.
double SequenceScores::add_ngrams(const Cascade& cascade, const NgramTable& ngrams, Index order, const Label* labels) {
  const Index T = cascade.length();
  const Label boundary = static_cast<Label>(cascade.tagset().labels);
  const auto at = [&](Index t) { return t == 0 || t > T ? boundary : labels[t - 1]; };
  keys_.clear();
  for (Index t = 1; t <= T + 1; ++t)
    for (Index n = 1; n <= order; ++n) {
      Key full = 1, coarse = 2;
      for (Index i = std::max<Index>(t - n, 0); i <= t; ++i)
        full = mix(full, static_cast<Key>(at(i))), coarse = mix(coarse, cascade.group_of(at(i)));
      for (const Key key : {full, coarse}) ngrams.prefetch(key), keys_.push_back(key);
    }
  double sum = 0;
  for (const Key key : keys_) sum += static_cast<double>(ngrams.at(key));
  return sum;
}

}  // namespace certus::scoring
