// Passes that choose which arcs of a sentence are scored, one after the other: a dictionary of lengths, then any of
// those of pruning_pass.hpp. Weights may lie in a model file.
#pragma once

#include "scoring/pruning_pass.hpp"

namespace certus::scoring {

// Weights as whole multiples of a step.
struct StepTable {
  const std::int16_t* weights;
  double step;
};

struct CascadePass {
  PassOptions options;
  StepTable weights;
  double at;  // the threshold
};

class ArcCascade {
 public:
  static constexpr Index kNoView = -1;

  // `view`: of the tags that lengths go by, or kNoView where there are no lengths.
  ArcCascade(const features::ArcPlan& plan, Index view, const std::uint16_t* lengths)
      : plan_(plan), view_(view), lengths_(lengths) {}

  void add(const CascadePass& pass) { passes_.push_back(pass); }
  const features::ArcPlan& plan() const { return plan_; }
  Index size() const { return static_cast<Index>(passes_.size()); }

  // What one thread works with.
  class Worker {
   public:
    explicit Worker(const ArcCascade& cascade);

    // Lists the arcs that the first so many passes leave open.
    void prune(const features::Sentence& sentence, Index passes, syntax::Arcs& arcs);
    // The same arcs and those between neighbours, and the root's: there is a tree among them.
    void widen(syntax::Arcs& arcs);

   private:
    const ArcCascade& cascade_;
    features::ArcWords words_;
    PassKeys keys_;
    ArcGrid grid_;
    std::vector<PruningPass> passes_;
  };

 private:
  const features::ArcPlan& plan_;
  Index view_;
  const std::uint16_t* lengths_;
  std::vector<CascadePass> passes_;
};

// Runs a pass over a sentence: what it leaves open is in the grid. False where even the arcs of neighbours make no
// structure.
template <class W>
bool evaluate_pass(PruningPass& pass, const PassKeys& keys, const W* weights, double step, ArcGrid& grid) {
  for (const bool widened : {false, true}) {
    if (widened) grid.open_neighbours();
    pass.assign(grid);
    pass.score(keys, weights, step);
    if (pass.evaluate()) return true;
  }
  return false;
}

}  // namespace certus::scoring
