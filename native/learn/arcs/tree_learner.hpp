// Learns weights of arcs, relations, siblings and grandparents online, from the best tree under the weights so far:
//
//   w += t * (features(gold) - features(best)),
//
// with t = 1 for the perceptron (Collins 2002), and for MIRA (Crammer et al. 2006; McDonald, Crammer and Pereira 2005)
//
//   t = min(C, (loss + score(best) - score(gold)) / |features(gold) - features(best)|^2),
//
// where best is the tree that maximises score + loss, and loss counts the words with a wrong head or relation.
//
// Instead of the best tree it may be what head automata pick by themselves (Koo et al. 2010, section 6). That is a
// larger set: weights that set the right tree apart from all of it make relaxations tight. The loss of picks is half
// of an arc that is picked wrongly or missed, and as much of a wrong parent.
//
// Where features refine a coarse model, weights are learned from two trees: the best one over candidates, and the best
// projective one where all other arcs have their bounds. Where the right tree is better than the second one, so is what
// a search over candidates finds, and it need not look at other arcs.
#pragma once

#include "learn/arcs/candidates.hpp"
#include "learn/arcs/refined_parts.hpp"
#include "scoring/arcs.hpp"
#include "scoring/tree_search.hpp"
#include "syntax/dependency/free_picks.hpp"

namespace certus::learn {

struct TreeLearnerOptions {
  bool mira = true;
  bool from_automata = false;    // whether to learn from what automata pick instead of the best tree
  float aggressiveness = 0.01f;  // C
  float relation_cost = 0.5f;    // of a right head with a wrong relation; a wrong head costs 1
  Index burn_in = 1;             // epochs that averaged weights leave out
  scoring::TreeKind kind;
};

struct TreeEpoch {
  Index wrong = 0;      // words with another head or relation in the best tree
  Index sentences = 0;  // that changed weights
};

class TreeLearner final : private RefinedScores {
 public:
  // `candidates`: the arcs that trees are looked for in, those of the right ones included.
  // `coarse`: the models of a coarse model's folds, or none; then `likely` arcs are scored, too, but no other parts.
  TreeLearner(const TreeCorpus& corpus, const ArcCandidates& candidates, const ArcCandidates& likely,
              std::vector<const scoring::CoarseModel*> coarse, const features::ArcPlan& plan,
              const scoring::Relations& relations, const TreeLearnerOptions& options);

  TreeEpoch epoch(const Index* order, Index count);

  const TreeCorpus& corpus() const { return corpus_; }
  Index size() const { return static_cast<Index>(weights.size()); }
  Index relations() const { return relations_.count; }
  // The mean of the weights since the burn-in.
  std::vector<float> average() const;

  Index epochs = 0, steps = 0;
  std::vector<float> weights, memory;  // [2^bits + relations]: memory is what was added, times when

 private:
  void learn(Index sentence, TreeEpoch& counts);
  void learn_from_tree(Index sentence, TreeEpoch& counts);
  void learn_from_bounds(Index sentence, TreeEpoch& counts);
  void count_wrong(Index sentence, TreeEpoch& counts);
  // Takes a step away from the tree of best_heads_, if it is not worse enough.
  void learn_refined(Index sentence);
  double add_up_arc(const RefinedPart& part) override;
  double add_up_parts(const RefinedPart& part) override;
  void add_refined_parts(const RefinedPart& part, float sign);
  void learn_from_automata(Index sentence, TreeEpoch& counts);
  void score(Index sentence, const syntax::Arcs& arcs);
  void add_arc(Index head, Index modifier, Index relation, float sign);
  void add_others(const Label* heads, Index n, float sign);
  void add_places(float sign);
  void find_others(Index head, Index modifier, Index sibling, Index grandparent, Index n);
  void add_pick(Index head, Index grandparent, const std::vector<Label>& arcs_of, Index sentence, float sign);
  // The features of what the automaton of a head should pick, less those of what it picked; returns the loss.
  double collect_pick(Index head, Index sentence, TreeEpoch& counts);
  void collect(Index sentence, const syntax::Arcs& arcs);
  void merge_changes();
  double find_loss(Index sentence);
  void update(double loss);
  void step(double violation);
  void apply(float rate);

  const TreeCorpus& corpus_;
  const ArcCandidates &candidates_, &likely_;
  CoarseFolds coarse_;
  std::vector<double> coarse_of_, costs_, bounds_;  // [arcs], [arcs], [n][n + 1]
  std::vector<Index> found_heads_;                  // [n]
  std::vector<Label> best_relations_;               // [n]
  RefinedTree right_tree_, best_tree_;
  std::vector<double> likely_scores_;    // [likely arcs]
  std::vector<Label> likely_relations_;  // [likely arcs]: the best
  syntax::PartlyScoredTrees partly_;
  const features::ArcPlan& plan_;
  const scoring::Relations relations_;
  const TreeLearnerOptions options_;
  scoring::PartScorer<float> scorer_;
  scoring::TreeSearch search_;
  scoring::FoundTree found_;
  syntax::FreePicks picks_;
  std::vector<double> parent_costs_;            // [arcs]
  std::vector<Label> right_picks_, modifiers_;  // of one head: arcs, words
  scoring::PartTables tables_;
  const syntax::Arcs* arcs_ = nullptr;  // of the sentence at hand
  syntax::Arcs all_arcs_;
  std::vector<Label> best_heads_;
  features::Places places_;
  struct Change {
    features::Place place;
    float amount;
  };
  std::vector<Change> changes_;
};

}  // namespace certus::learn
