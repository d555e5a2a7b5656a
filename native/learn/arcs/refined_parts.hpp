// Learning refinements of a coarse model (PartTables::refine()): how trees score under them, and by which features two
// trees differ.
//
// Features that add up to more than their cap score the cap, whatever the weights: those of right parts are changed
// below it only (the subgradient of the score of the right tree), and those of wrong parts always, which otherwise
// could stay above it for ever. What is not scored has the cap, and no features.
#pragma once

#include <vector>

#include "scoring/arc_model.hpp"

namespace certus::learn {

// The scores of arcs of a sentence by coarse models: each of them was learned without the sentences whose number has
// its remainder, so that coarse scores of what is learned from are no better than those of other sentences.
class CoarseFolds {
 public:
  explicit CoarseFolds(std::vector<const scoring::CoarseModel*> models);

  bool empty() const { return models_.empty(); }
  double cap() const { return models_.front()->cap; }
  void score(Index sentence, const features::ArcWords& words);
  double score(Index head, Index modifier) const { return scores_.score(head, modifier); }

 private:
  std::vector<const scoring::CoarseModel*> models_;
  std::vector<scoring::HeadScorer<std::int16_t>> scorers_;
  scoring::Candidates scores_;
};

// An arc with the parts that it is the last of, or the end of a side.
struct RefinedPart {
  Index head, modifier, sibling, grandparent, relation;
  bool arc_scored = false, parts_scored = false;  // whether it has its score; otherwise the bound of that
  bool arc_capped = true, parts_capped = true;    // whether features add up to the cap or more

  bool has_same_arc(const RefinedPart& other) const { return head == other.head && relation == other.relation; }
  bool has_same_parts(const RefinedPart& other) const {
    return head == other.head && sibling == other.sibling && grandparent == other.grandparent;
  }
};

// The scores of the features of an arc and of the parts that it is the last of.
class RefinedScores {
 public:
  virtual double add_up_arc(const RefinedPart& part) = 0;
  virtual double add_up_parts(const RefinedPart& part) = 0;

 protected:
  ~RefinedScores() = default;
};

// A tree as the arc into each word, then the ends of sides: [n + 2 (n + 1)].
struct RefinedTree {
  std::vector<RefinedPart> parts;

  // `relations`: of arcs that are scored; these are `likely` ones and, with all other parts, `candidates`. Returns the
  // score.
  double assign(const Label* heads, const Label* relations, const syntax::Arcs& likely, const syntax::Arcs& candidates,
                bool has_parents, const CoarseFolds& coarse, RefinedScores& scores);
};

}  // namespace certus::learn
