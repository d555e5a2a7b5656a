// Learns both directional models at once from sentence pairs.
#pragma once

#include <string>

#include "align/agreement.hpp"
#include "align/stem_pairs.hpp"

namespace certus::align {

// Prior pseudo-counts of pairs of words that occur together; see Trainer.
struct Priors {
  double sparse = 0.1;  // of every pair; 0 for maximum likelihood, without any prior
  double spelling = 3;  // times the similarity of the two words
  double stems = 100;   // times the probability that the stems of the two words have
};

struct Step {
  Settings settings;
  bool agreement = true;         // counts are of links that both directions choose (Liang et al. 2006)
  bool stems = true;             // whether the stems' prior is used already
  bool count_fertility = false;  // a step of the HMM before the first one with fertility
  Index threads = 1;
};

// Each step finds posterior links of all pairs (E) and probabilities from them (M). Lexical probabilities are those of
// variational Bayes with Dirichlet priors, exp(psi(count + prior)) / exp(psi(sum)): a small prior makes them sparse, so
// that rare words do not collect links (Riley & Gildea 2012). The prior of a pair of words grows with their similarity
// and with the probability of one's stem given the other's, so that forms of a word share what they learn.
//
// With agreement, the expected count of a link is the product of both directions' posteriors. Counts are sums of whole
// multiples of 2^-30, so that they do not depend on the order in which threads add them.
class Trainer {
 public:
  // The arrays of `bitext` have to live as long as the trainer.
  Trainer(const Bitext& bitext, const std::vector<std::string>& source_words,
          const std::vector<std::string>& target_words, const Priors& priors, const Storage& storage);

  double iterate(const Step& step);  // the log-likelihood of the pairs before the step, both directions together

  // What a step leaves for the next; a trainer of the same pairs that gets it goes on there.
  struct State {
    std::vector<float> lexical;  // [pairs of words][2]
    std::vector<float> nothing[2];
    std::vector<float> fertility[2];
    Jumps jumps[2];

    template <class Visit>
    void visit_arrays(const Visit& visit) {
      visit("lexical", lexical);
      for (int d = 0; d < 2; ++d) {
        visit(d ? "null_forward" : "null_backward", nothing[d]);
        visit(d ? "fertility_forward" : "fertility_backward", fertility[d]);
        visit(d ? "jumps_forward" : "jumps_backward", jumps[d]);
      }
    }
  };
  State state;
  void resume() { begun_ = true; }  // after a state of an earlier run was put in place

  const Bitext& bitext() const { return bitext_; }
  const Cooccurrences& cooccurrences() const { return cooccurrences_; }
  const StemPairs& stem_pairs() const { return stem_pairs_; }

  // What the M-step knows beside the state; a model of new pairs is made of it.
  struct Knowledge {
    std::vector<float> norm[2];   // [words that generate]: what lexical probabilities of direction d are divided by
    std::vector<float> share[2];  // [generated words]: of a word among those with its stem
    std::vector<float> stem_probability[2];  // [pairs of stems]
    std::vector<float> likeness;             // [pairs of words]
    double unknown_nothing[2] = {0, 0};      // the probability that nothing generates a word never seen
  };
  const Knowledge& knowledge() const { return knowledge_; }
  const std::vector<std::int64_t>& counts() const { return counts_; }  // [pairs of words] or [pairs of words][2]
  const Priors& priors() const { return priors_; }
  static constexpr double kUnit = 1 << 30;  // what one link counts

 private:
  struct Scratch {
    Pair pair;
    Agreement agreement;
    std::vector<float> fertilities;
    std::vector<std::uint32_t> cells;  // of a pair, if they were in a file
    double jumps[2][kJumps];
  };
  void measure_likeness(const std::vector<std::string>& source_words, const std::vector<std::string>& target_words);
  void fill(Index n, const std::uint32_t* cell, Pair& pair) const;
  double expect(Index n, const Step& step, Scratch& scratch);
  void add_links(Index n, const std::uint32_t* cell, bool agree, const Agreement& agreement);
  void maximize(int d, const Step& step);
  void maximize_lexical(int d, bool stems, Index threads);
  double find_prior(int d, Index pair, Word generated, bool stems) const;
  void find_stem_probabilities(int d);
  std::int64_t count(int d, Index pair) const { return counts_[pair * stride_ + (stride_ - 1) * d]; }

  Bitext bitext_;
  Cooccurrences cooccurrences_;
  Priors priors_;
  Stems stems_[2];
  StemPairs stem_pairs_;
  Knowledge knowledge_;
  std::vector<std::int64_t> counts_;
  Index stride_ = 1;  // of counts: 1 where both directions have the same
  bool begun_ = false;
  std::vector<std::int64_t> nothing_counts_[2], fertility_counts_[2], jump_counts_[2];
};

double exp_digamma(double x);  // exp(psi(x))

}  // namespace certus::align
