#include "translate/phrase_edges.hpp"

#include <map>
#include <stdexcept>
#include <tuple>

#include "base/interrupt.hpp"

namespace certus::translate {

PhraseEdges list_edges(const PhraseProblem& problem, Index most) {
  using Key = std::tuple<Index, Index, State>;  // words translated, end, state
  const PhraseOptions& options = problem.options();
  PhraseEdges made;
  std::vector<std::map<Key, Index>> layers(problem.words() + 1);  // by words translated: each is complete in its turn
  Index nodes = 0;
  layers[0][{0, 0, problem.begin()}] = nodes++;
  const auto add = [&](Index tail, Index head, Option o, double cost) {
    if (static_cast<Index>(made.tail.size()) >= most)
      throw std::invalid_argument("the graph of this sentence has more than " + std::to_string(most) +
                                  " edges: use optimal-beam, which never writes it out");
    made.tail.push_back(tail);
    made.head.push_back(head);
    made.begin.push_back(o < 0 ? 0 : options.begin[o]);
    made.end.push_back(o < 0 ? 0 : options.end[o]);
    made.option.push_back(o);
    made.cost.push_back(cost);
  };
  Heed heed;
  for (Index n = 0; n < problem.words(); ++n)
    for (const auto& [key, node] : layers[n]) {
      const auto [translated, end, state] = key;
      heed(8 * options.size());
      for (Option o = 0; o < options.size(); ++o) {
        const Index after = n + options.end[o] - options.begin[o];
        if (after > problem.words() || !problem.allows(end, options.begin[o])) continue;
        const PhraseProblem::Extension found = problem.extend(state, o);
        const double cost = found.score + problem.jump(end, options.begin[o]);
        if (cost == kNever<double>) continue;
        const auto [place, is_new] = layers[after].try_emplace({after, options.end[o], found.state}, nodes);
        nodes += is_new;
        add(node, place->second, o, cost);
      }
    }
  for (const auto& [key, node] : layers.back())
    if (const double cost = problem.finish(std::get<2>(key)); cost != kNever<double>) add(node, nodes, -1, cost);
  made.nodes = nodes + 1;
  return made;
}

}  // namespace certus::translate
