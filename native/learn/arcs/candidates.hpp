// Which arcs of a corpus are scored: chosen by a model of heads, or left open by the passes of a cascade.
#pragma once

#include "learn/arcs/corpus.hpp"
#include "scoring/arc_grid.hpp"
#include "scoring/head_candidates.hpp"

namespace certus::learn {

struct ArcCandidates {
  std::vector<syntax::Arcs> arcs;  // [sentences]
};

// Those of a model of heads, [2^bits of pruning], and the right head of each word.
ArcCandidates choose_candidates(const TreeCorpus& corpus, const features::ArcPlan& pruning, const float* heads,
                                const scoring::CandidateLimits& limits);

// The longest arcs between words with two tags; see scoring/arc_grid.hpp. `view`: of the tags.
std::vector<std::uint16_t> learn_lengths(const TreeCorpus& corpus, Index view);

// What passes have left open in each sentence; the arcs of the right trees stay so if `with_trees`.
class OpenArcs {
 public:
  // lengths: see scoring/arc_grid.hpp, or null.
  OpenArcs(const TreeCorpus& corpus, Index view, const std::uint16_t* lengths, bool with_trees);

  const TreeCorpus& corpus() const { return corpus_; }
  scoring::ArcGrid& grid(Index sentence) { return grids_[sentence]; }
  // To be called after a pass.
  void open_tree(Index sentence) {
    if (with_trees_) grids_[sentence].open_tree(corpus_.heads_of(sentence));
  }
  ArcCandidates list();

 private:
  const TreeCorpus& corpus_;
  const bool with_trees_;
  std::vector<scoring::ArcGrid> grids_;
};

}  // namespace certus::learn
