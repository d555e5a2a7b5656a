// The best trees of one sentence: the best one, the k best ones, and the best one under changing adjustments.
#pragma once

#include <optional>
#include <vector>

#include "syntax/constituency/adjusted_forest.hpp"
#include "syntax/constituency/write_tree.hpp"

namespace certus::syntax {

// The k best trees, or all where there are fewer. Derivations that look the same once binarisation is undone
// count once, by the best of them.
struct BestTrees {
  std::vector<WrittenTree> trees;
  bool exhausted = false;  // whether there are no others
  Index edges = 0;         // how many the forest has that they were taken from
};
BestTrees find_best_trees(const Grammar& grammar, const Leaves& leaves, Index k);

// Parses one sentence again and again, under adjustments of its tags.
//
// Once the sentence is parsed, the derivations that score at most a margin less than the best are packed into a
// forest. Adjustments can add at most U, the sum over the words of the largest of them, to what is not in it; so
// if the best of the forest scores at least U more than the threshold of the forest, nothing outside is better.
// If it does not, the sentence is parsed anew under these adjustments, which become the point that later ones are
// measured from.
class Parses {
 public:
  Parses(const Grammar& grammar, Leaves leaves, Index tags);

  Parses(const Parses&) = delete;
  Parses& operator=(const Parses&) = delete;

  // The best score with adjustments, (words, tags); -inf where no tree is allowed.
  double maximize(const double* adjust);
  // The best score with adjustments of the trees that are kept from earlier calls; -inf where none of them is allowed.
  double maximize_kept(const double* adjust);
  // The best score without adjustments. What is near it is kept beside the other forests, so that whoever asks this
  // first may have nothing left to parse.
  double maximize_unadjusted();
  // After `maximize`, which found one: the best tree.
  WrittenTree write_best() const;
  // For each tag of each word the best score with adjustments of a tree that uses it. Where no tree of the forest
  // does, it is what no tree outside the forest exceeds; if `exact`, the forest is made so large that there is no
  // such cell, and -inf stands for tags that no tree uses.
  void max_marginals(const double* adjust, bool exact, double* out);

  Index length() const { return leaves_.length(); }
  Index parsed() const { return parsed_; }  // how often the sentence was parsed
  Index edges() const;                      // of the forest that answered last

 private:
  // A forest, and the adjustments under which it was made. The first is for the adjustments as they drift, the second
  // for those that forbid what the first does not, as when another's tags are tried; the last is without any.
  struct Slot {
    std::optional<AdjustedForest> forest;       // none before the first use
    std::vector<double> origin;                 // [word][tag]
    double best = 0, margin = 0, rounding = 0;  // of the chart, of which all within the margin is in the forest
    std::uint64_t chart = 0;                    // its number
    double threshold() const { return best - margin; }
  };
  bool answers(Slot& slot, const double* adjust, double& best);
  bool widen(Slot& slot, double margin) const;
  double gain(const Slot& slot, const double* adjust) const;
  bool same_forbidden(const Slot& slot, const double* adjust) const;
  double parse(Slot& slot, const double* adjust);
  ParseForest pack_within(const Chart& chart, double& margin) const;
  bool is_covered(const double* adjust, const double* cells, double outside) const;

  const Grammar& grammar_;
  const Leaves leaves_;
  const Index tags_;
  std::vector<std::vector<Label>> possible_;  // [word] its tags
  Slot slots_[3];
  Index current_ = 0, parsed_ = 0;
  double outside_ = 0;  // no tree outside the current forest scored more when it was last maximised
};

}  // namespace certus::syntax
