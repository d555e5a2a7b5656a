#include "align/posterior_decoding.hpp"

#include <cmath>

namespace certus::align {

Links decode_posteriors(const Pair& pair, const Agreement& agreement, const Decoding& decoding) {
  std::vector<double> choice[2];
  Agreed problem{{}, decoding.prices};
  for (int s = 0; s < 2; ++s) {
    const Directional& direction = agreement.direction[s];
    const Index words = pair.length[s], others = pair.length[1 - s];
    for (Index word = 0; word < words; ++word) {
      choice[s].push_back(std::log(direction.nothing[word] + decoding.floor) + decoding.null);
      for (Index other = 0; other < others; ++other)
        choice[s].push_back(std::log(direction.links[word * others + other] + decoding.floor));
    }
    problem.side[s] = {words, others + 1, choice[s].data(), nullptr};
  }
  Links found{{}, align_both(problem, decoding.limits)};
  const Alignment& best = found.alignment;
  for (Index i = 0; i < static_cast<Index>(best.source.size()); ++i)
    for (Index j = 0; j < static_cast<Index>(best.target.size()); ++j)
      if (best.source[i] == j + 1 || best.target[j] == i + 1)
        found.links.push_back({i, j,
                               (agreement.direction[0].links[i * pair.length[1] + j] +
                                agreement.direction[1].links[j * pair.length[0] + i]) /
                                   2});
  return found;
}

}  // namespace certus::align
