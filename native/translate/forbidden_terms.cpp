#include "translate/forbidden_terms.hpp"

namespace certus::translate {

ForbiddenTerms::ForbiddenTerms(const std::vector<std::vector<Word>>& terms) {
  struct Edge {
    std::int32_t from;
    Word word;
  };
  std::vector<Edge> edges{{0, kUnknown}};  // by the state that each leads to
  std::vector<Index> depth{0};
  for (const std::vector<Word>& term : terms) {
    std::int32_t state = 0;
    for (const Word word : term) {
      std::int32_t next = find(state, word);
      if (next < 0) {
        next = static_cast<std::int32_t>(failure_.size());
        next_[join(state, word)] = next;
        failure_.push_back(0);
        complete_.push_back(0);
        edges.push_back({state, word});
        depth.push_back(depth[state] + 1);
      }
      state = next;
    }
    if (state > 0) complete_[state] = 1;
  }
  std::vector<std::int32_t> order;  // by depth, for a failure is less deep
  for (Index level = 1; order.size() + 1 < failure_.size(); ++level)
    for (std::int32_t state = 1; state < static_cast<std::int32_t>(failure_.size()); ++state)
      if (depth[state] == level) order.push_back(state);
  for (const std::int32_t state : order) {
    const Edge edge = edges[state];
    if (edge.from == 0) continue;
    std::int32_t shorter = failure_[edge.from];
    while (shorter > 0 && find(shorter, edge.word) < 0) shorter = failure_[shorter];
    failure_[state] = std::max(find(shorter, edge.word), 0);
    complete_[state] |= complete_[failure_[state]];
  }
}

std::int32_t ForbiddenTerms::read(std::int32_t state, std::span<const Word> words) const {
  for (const Word word : words) {
    std::int32_t next = find(state, word);
    for (; next < 0 && state > 0; next = find(state, word)) state = failure_[state];
    state = std::max(next, 0);
    if (complete_[state]) return -1;
  }
  return state;
}

}  // namespace certus::translate
