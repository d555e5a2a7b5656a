// Which arcs of a sentence are worth scoring: a model gives every word a distribution over heads, by themselves or in
// trees, and heads that are far less likely than the best one are left out.
#pragma once

#include <vector>

#include "scoring/weight_sums.hpp"
#include "syntax/dependency/matrix_tree.hpp"

namespace certus::scoring {

struct CandidateLimits {
  double ratio = 1e-4;  // heads less likely than this many times the best one are left out; 0 keeps all
  Index most = 20;      // heads per word
};

// Scores of all heads of all words under weights of features of arcs.
template <class W>
class HeadScorer {
 public:
  HeadScorer(const features::ArcPlan& plan, const W* weights) : plan_(plan), weights_(weights) {}

  const features::ArcKeys& keys() const { return keys_; }
  void prepare(const features::ArcWords& words) { keys_.prepare(plan_, features::ArcPart::arc, words); }

  // scores[h] for h in 0..n, -inf for the word itself. `places` gets the features of every head, one after the other,
  // and `ends` where those of each end.
  void score(Index n, Index modifier, double* scores, std::vector<features::Place>& places, std::vector<Index>& ends) {
    for (Index h = 0; h <= n; ++h) {
      scores[h] = kNever<double>;
      if (h != modifier) {
        found_.clear();
        keys_.arc(h, modifier, found_);
        scores[h] = static_cast<double>(add_weights(weights_, found_.bare));
        places.insert(places.end(), found_.bare.begin(), found_.bare.end());
      }
      ends.push_back(static_cast<Index>(places.size()));
    }
  }

  // The same for all words, scores[m - 1][h], without their features.
  void score_all(Index n, double* scores) {
    for (Index m = 1; m <= n; ++m)
      for (Index h = 0; h <= n; ++h) {
        double* score = scores + (m - 1) * (n + 1) + h;
        if (h == m) *score = kNever<double>;
        else awaited_.ask(weights_, score, [&](features::Places& out) { keys_.arc(h, m, out); });
      }
    awaited_.settle(weights_);
  }

 private:
  const features::ArcPlan& plan_;
  const W* weights_;
  features::ArcKeys keys_;
  features::Places found_;
  AwaitedSums awaited_;
};

// The scores of a sentence's heads as a table [n][n + 1], and the arcs that are left.
class Candidates {
 public:
  // `step`: what a unit of the scores is worth in log-probability.
  template <class W>
  void score(HeadScorer<W>& scorer, const features::ArcWords& words, double step) {
    const Index n = length_ = words.length;
    scores_.resize(static_cast<std::size_t>(n * (n + 1)));
    scorer.prepare(words);
    scorer.score_all(n, scores_.data());
    for (double& score : scores_) score *= step;
  }

  // Turns scores into the logarithms of the probabilities of arcs in trees, p(tree) proportional to exp(score). Returns
  // the logarithm of the sum over all trees.
  double find_marginals(bool single_root);

  // Fills `arcs` with the heads within the limits; `also`, unless null, has one more head for each word. `connected`
  // adds the arcs between neighbours and the best root, so that there is a tree whatever the limits left out.
  void choose(const CandidateLimits& limits, const Label* also, bool connected, syntax::Arcs& arcs);

  double score(Index head, Index modifier) const { return scores_[(modifier - 1) * (length_ + 1) + head]; }
  Index length() const { return length_; }

 private:
  void add_neighbours();
  double* row(Index m) { return scores_.data() + (m - 1) * (length_ + 1); }

  Index length_ = 0;
  std::vector<double> scores_;        // [n][n + 1]
  std::vector<std::uint64_t> pairs_;  // head and modifier
  std::vector<Label> heads_, modifiers_, order_;
  syntax::Arcs all_;
  syntax::MatrixTree trees_;
  std::vector<double> of_arcs_, marginals_;  // [all]
};

}  // namespace certus::scoring
