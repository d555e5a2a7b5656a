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
ChargedEnds charge_arcs(const Arcs& arcs, const TreeScores<S>& scores, double* charged) {
  const Index N = arcs.words() + 1;
  Heed heed;
  ChargedEnds out;
  const bool plain = !scores.has_siblings() && !scores.has_parents();
  const auto measure = [&out](double score) {
    if (score != kNever<double>) out.scale += std::abs(score);
  };
  for (Index side = 0; side < arcs.sides(); ++side)
    for (Index i = plain ? arcs.candidates(side) - 1 : arcs.candidates(side); i >= 0; --i) {
      const double most = plain ? 0 : charge(arcs, scores, side, i, heed);
      measure(most);
      if (i == arcs.candidates(side)) {
        out.sum += most;
        continue;
      }
      const Label a = arcs.candidate(side, i);
      const double all = most + static_cast<double>(scores.arcs[a]);
      measure(all);
      charged[(arcs.modifier(a) - 1) * N + arcs.head(a)] = all;
    }
  return out;
}

template <class S>
bool ChargedArcs::find(const Arcs& arcs, const TreeScores<S>& scores, bool single_root, Label* arc_of) {
  const Index n = arcs.words(), N = n + 1;
  charged_.assign(static_cast<std::size_t>(n * N), kNever<double>);
  heads_.resize(static_cast<std::size_t>(n));
  const bool plain = !scores.has_siblings() && !scores.has_parents();
  const ChargedEnds ends = charge_arcs(arcs, scores, charged_.data());
  const double scale = ends.scale;
  bound_ = ends.sum;
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

template ChargedEnds charge_arcs(const Arcs&, const TreeScores<float>&, double*);
template ChargedEnds charge_arcs(const Arcs&, const TreeScores<double>&, double*);
template bool ChargedArcs::find(const Arcs&, const TreeScores<float>&, bool, Label*);
template bool ChargedArcs::find(const Arcs&, const TreeScores<double>&, bool, Label*);

}  // namespace certus::syntax
