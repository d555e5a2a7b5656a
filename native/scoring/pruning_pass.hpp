// One pass of a cascade (Rush & Petrov 2012): a small model says of every arc of a sentence how good trees with it can
// be, and arcs that only bad ones have are closed.
//
// What is scored are *parts*: arcs, and in passes that look at short arcs only, outer arcs, which stand for all longer
// ones of a word on one side (numbered as in syntax/dependency/vine.hpp, after the arcs). Passes differ by the
// structures that parts make up:
//
//   local         every word takes one head, whatever the others do
//   local_short   likewise, of its short and outer arcs; outer modifiers are taken or left by themselves
//   vine          vines (section 3.3)
//   first         projective trees
//   second        projective trees with siblings
//
// The value of a part is its max-marginal, the best score of a structure with it. A part is closed if that is below
//
//   t = a * (the best score of all) + (1 - a) * (the mean of the values)          (section 4.1)
//
// or, in posterior passes, if its probability is below t = a.
#pragma once

#include <vector>

#include "scoring/arc_grid.hpp"
#include "scoring/weight_sums.hpp"
#include "syntax/dependency/projective.hpp"
#include "syntax/dependency/vine.hpp"

namespace certus::scoring {

enum class PassKind : std::uint8_t { local, local_short, vine, first, second };

struct PassOptions {
  PassKind kind = PassKind::first;
  Index reach = 3;  // how long short arcs are at the most
  bool posterior = false;
  bool single_root = true;

  bool has_outer() const { return kind == PassKind::local_short || kind == PassKind::vine; }
  bool needs_projective() const { return kind != PassKind::local && kind != PassKind::local_short; }
};

// The features of a sentence, for all passes over it.
struct PassKeys {
  features::ArcKeys arcs, siblings;

  void prepare(const features::ArcPlan& plan, const features::ArcWords& words, bool with_siblings) {
    arcs.prepare(plan, features::ArcPart::arc, words);
    if (with_siblings) siblings.prepare(plan, features::ArcPart::sibling, words);
  }
};

class PruningPass {
 public:
  explicit PruningPass(const PassOptions& options) : options_(options) {}

  const PassOptions& options() const { return options_; }
  // Lists the parts of a sentence.
  void assign(ArcGrid& grid);
  // Scores them: whole weights are worth a step each.
  template <class W>
  void score(const PassKeys& keys, const W* weights, double step);
  // Finds the values of parts; false where no structure exists.
  bool evaluate();
  // Closes arcs with a value below the threshold.
  void close(double at, ArcGrid& grid) const;

  // For learning, after evaluate().
  Index parts() const { return static_cast<Index>(scores_.size()); }
  const syntax::Arcs& arcs() const { return arcs_; }
  // The parts of a tree, and pairs of siblings, as far as its arcs are open.
  void list_tree(const Label* heads, std::vector<Label>& parts, std::vector<Label>& siblings) const;
  // The highest threshold that does not close an open arc.
  double find_highest(Index head, Index modifier) const;
  // How the objective changes with each score: parts of the tree count 1. For max-marginals it is the score of the tree
  // less the threshold at `at`, and nothing where that is 1 or more (the hinge of filter loss, section 4.2); in
  // posterior passes the log-likelihood of the tree. True if anything changes.
  bool differentiate(double at, const std::vector<Label>& parts, const std::vector<Label>& siblings);
  const std::vector<double>& part_changes() const { return part_changes_; }
  const std::vector<double>& sibling_changes() const { return sibling_changes_; }
  // Appends the places of the features of a part, or of the pair of siblings at [side][previous][next].
  void find_part(const PassKeys& keys, Index part, features::Places& out) const;
  void find_siblings(const PassKeys& keys, Index side, Index previous, Index next, features::Places& out) const;

 private:
  bool exists(Index part) const { return scores_[part] != kNever<double>; }
  void find_outer_arcs(const ArcGrid& grid);
  // The outer arcs of a long arc.
  Index outer_head(Index head, Index modifier) const;
  Index outer_modifiers(Index head, Index modifier) const;
  bool is_long(Index head, Index modifier) const {
    return options_.has_outer() && head > 0 && std::abs(head - modifier) > options_.reach;
  }
  bool evaluate_words();
  bool evaluate_program();
  void count_words(double share);
  void count_program(double share);
  template <class Has, class Use>
  void visit_siblings(const Has& has, const Use& use) const;
  template <class Visit>
  void visit_heads(Index word, const Visit& visit) const;

  PassOptions options_;
  syntax::Arcs arcs_;
  std::vector<std::uint8_t> outer_;        // [outer arcs]: whether there are
  std::vector<double> scores_, siblings_;  // [parts], [siblings of arcs]
  std::vector<double> values_;             // [parts]
  double best_ = 0, mean_ = 0;
  Index count_ = 0;  // parts with a value
  syntax::Vine vine_;
  syntax::ProjectiveTrees trees_;
  std::vector<double> part_changes_, sibling_changes_, counts_;
  std::vector<Label> best_arcs_;
  AwaitedSums awaited_;
};

template <class W>
void PruningPass::score(const PassKeys& keys, const W* weights, double step) {
  scores_.assign(static_cast<std::size_t>(arcs_.size() + (options_.has_outer() ? outer_.size() : 0)), kNever<double>);
  for (Index p = 0; p < parts(); ++p)
    if (p < arcs_.size() || outer_[p - arcs_.size()])
      awaited_.ask(weights, &scores_[p], [&](features::Places& out) { find_part(keys, p, out); });
  siblings_.assign(options_.kind == PassKind::second ? static_cast<std::size_t>(arcs_.siblings()) : 0, 0);
  for (Index side = 0; !siblings_.empty() && side < arcs_.sides(); ++side)
    for (Index k = arcs_.candidates(side), previous = 0; previous <= k; ++previous)
      for (Index next = previous; next <= k; ++next)
        awaited_.ask(weights, &siblings_[arcs_.sibling(side, previous, next)],
                     [&](features::Places& out) { find_siblings(keys, side, previous, next, out); });
  awaited_.settle(weights);
  for (Index p = 0; p < parts(); ++p)
    if (exists(p)) scores_[p] *= step;
  for (double& score : siblings_) score *= step;
}

}  // namespace certus::scoring
