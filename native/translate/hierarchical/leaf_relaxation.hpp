// Lagrangian relaxation of a forest and an n-gram model (Rush & Collins 2011, sections 4 to 6).
//
// Each leaf chooses the leaves before it as suits it best: one for a bigram model, two for a trigram model, and ways
// through the graph of leaves that lead to it. Multipliers are added for the leaves and steps of the derivation, and
// taken off for those that other leaves chose, for each of the two places before a leaf. Words can be divided into
// parts: what a leaf chooses must be in the same parts as what the derivation has there.
#pragma once

#include <memory>

#include "translate/hierarchical/context_search.hpp"
#include "translate/hierarchical/forest_items.hpp"

namespace certus::translate {

class LeafRelaxation {
 public:
  // Scores and partition are those of the forest before any edge was dropped.
  LeafRelaxation(ForestProblem problem, NeighbourScores& scores, WordPartition& partition, const ForestOptions& options,
                 const SearchLimits& limits);

  // The relaxed optimum, or what is not above the threshold of `found`; its derivation goes to `found`.
  double solve(ForestIncumbents& found);
  // Whether the last solution was cut short.
  bool has_stopped() const { return edges_.empty(); }
  // Finds where derivation and ways disagree, and notes which words were taken for each other if it is asked to.
  // Returns the square of the norm.
  double find_slopes(bool notes_words);
  void step(double size);

  // Divides words such that those that were noted are in different parts. Returns whether there were new ones.
  bool tighten();
  // The same without the edges that only derivations below a threshold have; null where there are few of them.
  std::unique_ptr<LeafRelaxation> prune(double threshold) const;

 private:
  void weigh_edges();
  void read(Index l, bool notes_words);
  void compare(const LeafWays::Words& chosen, bool notes_words);

  const ForestProblem problem_;
  NeighbourScores& scores_;
  WordPartition& partition_;
  const ForestOptions& options_;
  SearchLimits limits_;
  LeafGraph graph_;
  LeafWays ways_;
  LeafChoices choices_;
  ContextSearch search_;
  std::vector<Multipliers> multipliers_, slopes_;  // [places]
  std::vector<double> weight_;                     // [edges] without what leaves choose
  ForestBounds bounds_;
  std::vector<Edge> edges_;  // of the derivation

  // While the derivation is read:
  Index context_ = 0;         // before the next word
  LeafWays::Words before_{};  // the last words
};

}  // namespace certus::translate
