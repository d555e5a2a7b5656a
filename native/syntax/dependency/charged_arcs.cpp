#include "syntax/dependency/charged_arcs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"

namespace certus::syntax {

// The most that the pair of candidate `next` of a side, or END, can score with what may come before it, and with it the
// most that a grandparent adds.
template <class S>
static double charge(const Arcs& arcs, const TreeScores<S>& scores, Index side, Index next, Heed& heed) {
  const Index parents = scores.has_parents() ? arcs.parents(side / 2) : 1, k = arcs.candidates(side);
  const Label arc = next < k ? arcs.candidate(side, next) : -1;
  double most = kNever<double>;
  for (Index p = 0; p < parents; ++p) {
    double pair = scores.has_siblings() ? kNever<double> : 0;
    for (Index previous = 0; scores.has_siblings() && previous <= next; ++previous) {
      double sum = 0;
      if (scores.siblings) sum += static_cast<double>(scores.siblings[arcs.sibling(side, previous, next)]);
      if (scores.grandsiblings)
        sum += static_cast<double>(scores.grandsiblings[arcs.grandsibling(side, p, previous, next)]);
      pair = std::max(pair, sum);
    }
    if (scores.grandparents && arc >= 0) pair += static_cast<double>(scores.grandparents[arcs.grandparent(p, arc)]);
    most = std::max(most, pair);
    heed(next + 4);
  }
  return most;
}

template <class S>
bool ChargedArcs::find(const Arcs& arcs, const TreeScores<S>& scores, bool single_root, Label* arc_of) {
  const Index n = arcs.words(), N = n + 1;
  Heed heed;
  charged_.assign(static_cast<std::size_t>(n * N), kNever<double>);
  heads_.resize(static_cast<std::size_t>(n));
  const bool plain = !scores.has_siblings() && !scores.has_parents();
  double scale = 0;
  bound_ = 0;
  for (Index side = 0; side < arcs.sides(); ++side)
    for (Index i = plain ? 0 : arcs.candidates(side); i >= 0 && !plain; --i) {
      const double most = charge(arcs, scores, side, i, heed);
      if (most != kNever<double>) scale += std::abs(most);
      if (i == arcs.candidates(side)) {
        bound_ += most;
      } else {
        const Label arc = arcs.candidate(side, i);
        charged_[(arcs.modifier(arc) - 1) * N + arcs.head(arc)] = most;
      }
    }
  for (Index a = 0; a < arcs.size(); ++a) {
    double& cell = charged_[(arcs.modifier(a) - 1) * N + arcs.head(a)];
    cell = (plain ? 0 : cell) + static_cast<double>(scores.arcs[a]);
    if (cell != kNever<double>) scale += std::abs(cell);
  }
  if (!eisner_.decode(charged_.data(), n, single_root, heads_.data())) return false;
  for (Index m = 1; m <= n; ++m) {
    bound_ += charged_[(m - 1) * N + heads_[m - 1]];
    arc_of[m - 1] = arcs.find(heads_[m - 1], m);
  }
  score_ = score_tree(arcs, scores, arc_of);
  if (!plain) bound_ += std::numeric_limits<double>::epsilon() * static_cast<double>(4 * n + 16) * scale;
  bound_ = plain ? score_ : std::max(bound_, score_);
  return true;
}

template bool ChargedArcs::find(const Arcs&, const TreeScores<float>&, bool, Label*);
template bool ChargedArcs::find(const Arcs&, const TreeScores<double>&, bool, Label*);

}  // namespace certus::syntax
