#include "learn/arcs/refined_parts.hpp"

#include <algorithm>

namespace certus::learn {

CoarseFolds::CoarseFolds(std::vector<const scoring::CoarseModel*> models) : models_(std::move(models)) {
  for (const scoring::CoarseModel* each : models_) scorers_.emplace_back(each->plan, each->weights.weights);
}

void CoarseFolds::score(Index sentence, const features::ArcWords& words) {
  const std::size_t fold = static_cast<std::size_t>(sentence) % models_.size();
  scores_.score(scorers_[fold], words, models_[fold]->weights.step * models_[fold]->scale);
}

double RefinedTree::assign(const Label* heads, const Label* relations, const syntax::Arcs& likely,
                           const syntax::Arcs& candidates, bool has_parents, const CoarseFolds& coarse,
                           RefinedScores& scores) {
  const Index n = candidates.words();
  parts.resize(static_cast<std::size_t>(n + 2 * (n + 1)));
  const auto is_candidate = [&](Index head, Index modifier) {
    return head > n || modifier > n || candidates.find(head, modifier) >= 0;
  };
  double total = 0;
  Index ended = -1;  // the head of the last end: its left side ends first
  scoring::visit_siblings(heads, n, [&](Index h, Index m, Index s, Index g) {
    const bool is_end = m > n;
    RefinedPart& part = is_end ? parts[n + 2 * h + (ended == h)] : parts[m - 1];
    if (is_end) ended = h;
    part = {h, m, s, g, is_end ? -1 : Index{relations[m - 1]}};
    part.parts_scored = is_candidate(h, m) && is_candidate(h, s) && !(has_parents && !is_candidate(g, h));
    part.arc_scored = !is_end && (is_candidate(h, m) || likely.find(h, m) >= 0);
    if (part.arc_scored) {
      const double sum = scores.add_up_arc(part);
      part.arc_capped = sum >= coarse.cap();
      total += std::min(sum, coarse.cap());
    } else if (!is_end) {
      total += coarse.cap();
    }
    if (!is_end) total += coarse.score(h, m);
    if (!part.parts_scored) return;
    const double sum = scores.add_up_parts(part);
    part.parts_capped = sum >= 0;
    total += std::min(sum, 0.0);
  });
  return total;
}

}  // namespace certus::learn
