#include "translate/automaton.hpp"

#include <algorithm>
#include <numeric>

#include "base/interrupt.hpp"

namespace certus::translate {
namespace {

// Lays out the levels one after the other, from short to long contexts.
class Layout {
 public:
  explicit Layout(const Ngrams& ngrams) : ngrams_(ngrams) {
    std::size_t arcs = 0;
    for (const Level& level : ngrams.levels) arcs += static_cast<std::size_t>(level.size());
    tables.word.reserve(arcs);
    tables.score.reserve(arcs);
    tables.next.reserve(arcs);
    tables.suffix.push_back(kEmpty);
    tables.backoff.push_back(0);
  }

  void add_level(Index k) {
    const Level& level = ngrams_.levels[k - 1];
    const bool top = k == static_cast<Index>(ngrams_.levels.size());
    sort_by_state(level);
    find_extended(k);
    const auto states = static_cast<Index>(tables.suffix.size());
    std::vector<State> resolved(level.size());
    for (const Node node : sorted_) {
      const State shorter = k == 1 ? kEmpty : resolved_[level.suffix[node]];
      const bool is_state = !top && (extended_[node] || level.backoff[node] != 0);
      resolved[node] = is_state ? static_cast<State>(tables.suffix.size()) : shorter;
      if (is_state) {
        tables.suffix.push_back(shorter);
        tables.backoff.push_back(static_cast<float>(level.backoff[node]));
      }
      tables.word.push_back(level.word[node]);
      tables.score.push_back(static_cast<float>(level.score[node]));
      tables.next.push_back(resolved[node]);
    }
    tables.ends.push_back(states);
    resolved_ = std::move(resolved);
  }

  Tables tables;

 private:
  // Lists the n-grams of a level by the states of their contexts, then by their words.
  void sort_by_state(const Level& level) {
    const std::size_t first = level_begin(), count = tables.suffix.size() - first;
    std::vector<std::uint32_t> place(count + 1);
    const auto at = [&](Index x) { return level.parent.empty() ? 0 : resolved_[level.parent[x]] - first; };
    for (Index x = 0; x < level.size(); ++x) ++place[at(x) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (std::size_t s = 0; s < count; ++s)
      tables.begin.push_back(static_cast<std::uint32_t>(tables.word.size()) + place[s]);
    std::vector<std::uint32_t> next(place.begin(), place.end());
    sorted_.resize(level.size());
    for (Index x = 0; x < level.size(); ++x) sorted_[next[at(x)]++] = static_cast<Node>(x);
    for (std::size_t s = 0; s < count; ++s)
      std::sort(sorted_.begin() + place[s], sorted_.begin() + place[s + 1],
                [&](Node a, Node b) { return level.word[a] < level.word[b]; });
    heed_(64 * level.size());
  }

  std::size_t level_begin() const { return tables.ends.empty() ? 0 : static_cast<std::size_t>(tables.ends.back()); }

  // Which n-grams of a level longer ones begin with.
  void find_extended(Index k) {
    extended_.assign(ngrams_.levels[k - 1].size(), false);
    if (k < static_cast<Index>(ngrams_.levels.size()))
      for (const Node parent : ngrams_.levels[k].parent) extended_[parent] = true;
  }

  const Ngrams& ngrams_;
  std::vector<State> resolved_;  // [n-gram of the level before] its state, or that of its longest suffix that has one
  std::vector<Node> sorted_;
  std::vector<char> extended_;
  Heed heed_;
};

}  // namespace

Tables make_tables(const Ngrams& ngrams) {
  Layout layout(ngrams);
  for (Index k = 1; k <= static_cast<Index>(ngrams.levels.size()); ++k) layout.add_level(k);
  Tables& tables = layout.tables;
  tables.begin.resize(tables.suffix.size() + 1, static_cast<std::uint32_t>(tables.word.size()));
  return std::move(tables);
}

Origins::Origins(const Automaton& automaton) : state(automaton.states, kEmpty), word(automaton.states, kUnknown) {
  Heed heed;
  Index length = 0;
  for (Index s = 0; s < automaton.states; ++s) {
    heed(16);
    while (s >= automaton.ends[length]) ++length;
    for (Index arc = automaton.begin[s]; arc < Index{automaton.begin[s + 1]}; ++arc) {
      const State next = automaton.next[arc];
      if (length + 1 >= automaton.order || Index{next} < automaton.ends[length]) continue;  // a suffix is shorter
      state[next] = static_cast<State>(s);
      word[next] = automaton.word[arc];
    }
  }
}

}  // namespace certus::translate
