#include "learn/arcs/candidates.hpp"

#include <algorithm>
#include <limits>

#include "base/interrupt.hpp"

namespace certus::learn {

ArcCandidates choose_candidates(const TreeCorpus& corpus, const features::ArcPlan& pruning, const float* heads,
                                const scoring::CandidateLimits& limits) {
  scoring::HeadScorer<float> scorer(pruning, heads);
  scoring::Candidates candidates;
  ArcCandidates out;
  out.arcs.resize(static_cast<std::size_t>(corpus.sentences()));
  Heed heed;
  for (Index s = 0; s < corpus.sentences(); ++s) {
    heed(64 * corpus.length(s) * corpus.length(s));
    candidates.score(scorer, corpus.pruning[s], 1.0);
    candidates.choose(limits, corpus.heads_of(s), false, out.arcs[s]);
  }
  return out;
}

std::vector<std::uint16_t> learn_lengths(const TreeCorpus& corpus, Index view) {
  std::vector<std::uint16_t> lengths(std::size_t{1} << scoring::kLengthBits, 0);
  for (Index s = 0; s < corpus.sentences(); ++s)
    for (Index m = 1; m <= corpus.length(s); ++m) {
      const Index h = corpus.heads_of(s)[m - 1];
      if (h == 0) continue;
      const features::ArcWords& words = corpus.pruning[s];
      std::uint16_t& most = lengths[scoring::find_length(words.value(view, h), words.value(view, m))];
      const Index length = std::min<Index>(std::abs(h - m), std::numeric_limits<std::uint16_t>::max());
      most = std::max(most, static_cast<std::uint16_t>(length));
    }
  return lengths;
}

OpenArcs::OpenArcs(const TreeCorpus& corpus, Index view, const std::uint16_t* lengths, bool with_trees)
    : corpus_(corpus), with_trees_(with_trees), grids_(static_cast<std::size_t>(corpus.sentences())) {
  Heed heed;
  for (Index s = 0; s < corpus.sentences(); ++s) {
    heed(4 * corpus.length(s) * corpus.length(s));
    grids_[s].open_all(corpus.length(s));
    if (lengths) scoring::close_long_arcs(corpus.pruning[s], view, lengths, grids_[s]);
    open_tree(s);
  }
}

ArcCandidates OpenArcs::list() {
  ArcCandidates out;
  out.arcs.resize(grids_.size());
  for (std::size_t s = 0; s < grids_.size(); ++s) grids_[s].list(out.arcs[s]);
  return out;
}

}  // namespace certus::learn
