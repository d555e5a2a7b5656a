#include "align/posterior_decoding.hpp"

#include <algorithm>
#include <cmath>

namespace certus::align {
namespace {

Link make_link(const Pair& pair, const Agreement& agreement, Index i, Index j) {
  const float sum =
      agreement.direction[0].links[i * pair.length[1] + j] + agreement.direction[1].links[j * pair.length[0] + i];
  return {i, j, sum / 2};
}

}  // namespace

void choose_links(const Pair& pair, const Agreement& agreement, int d, std::vector<Link>& links) {
  links.clear();
  const Index words = pair.length[d], others = pair.length[1 - d];
  for (Index word = 0; word < words && others > 0; ++word) {
    const float* row = agreement.direction[d].links.data() + word * others;
    const Index best = std::max_element(row, row + others) - row;
    if (row[best] > agreement.direction[d].nothing[word])
      links.push_back(d == 0 ? make_link(pair, agreement, word, best) : make_link(pair, agreement, best, word));
  }
  std::sort(links.begin(), links.end(),
            [](const Link& a, const Link& b) { return std::pair(a.source, a.target) < std::pair(b.source, b.target); });
}

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
      if (best.source[i] == j + 1 || best.target[j] == i + 1) found.links.push_back(make_link(pair, agreement, i, j));
  return found;
}

}  // namespace certus::align
