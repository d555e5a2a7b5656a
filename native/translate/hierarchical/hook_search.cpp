#include "translate/hierarchical/hook_search.hpp"

#include <algorithm>

namespace certus::translate {

HookSearch::HookSearch(const ForestProblem& problem, const PrefixForest& prefixes, const NeighbourScores& scores,
                       const EndBounds& bounds, const ForestOptions& options, const Stopwatch& watch)
    : problem_(problem),
      automaton_(problem.model->automaton()),
      prefixes_(prefixes),
      scores_(scores),
      bounds_(bounds),
      options_(options),
      watch_(watch),
      lefts_(*problem.model, problem.weight),
      joiner_(*problem.model, lefts_, problem.weight),
      prefix_(prefixes.prefixes.size()),
      node_(problem.forest.nodes),
      finder_(problem, scores, lefts_) {
  joiner_.begin(0);
  const Piece begin = joiner_.finish();
  prefix_[PrefixForest::kStart].push_back({begin.left, begin.right, 0, -1, -1, -1});
}

bool HookSearch::run(double threshold, ForestIncumbents& found, ForestAnswer& answer) {
  threshold_ = threshold;
  bool is_complete = true;
  for (Index v = 0; v < problem_.forest.nodes && is_complete; ++v) {
    for (Index q = prefixes_.prefix_first[v]; q < prefixes_.prefix_first[v + 1] && is_complete; ++q) {
      make_prefix(q);
      is_complete = items_ <= options_.items && watch_.elapsed() <= options_.seconds;
    }
    make_node(v);
  }
  answer.items += items_;
  answer.joined += joined_;
  if (is_complete) add_goal(found);
  return is_complete;
}

void HookSearch::look_at(const EndBounds::Table& table) {
  finder_.look_at(table);
  made_.clear();
  places_.clear();
}

void HookSearch::put(const Part& part) {
  std::int32_t& place = places_.find(std::uint64_t{part.left} << 32 | part.right);
  if (place < 0) {
    place = static_cast<std::int32_t>(made_.size());
    made_.push_back(part);
  } else if (part.value > made_[place].value) {
    made_[place] = part;
  }
}

void HookSearch::make_prefix(Index q) {
  const auto [parent, symbol] = prefixes_.prefixes[q];
  const EndBounds::Table& table = bounds_.prefix(q);
  if (table.rows == 0 || (parent != PrefixForest::kAnywhere && prefix_[parent].empty())) return;
  look_at(table);
  if (parent == PrefixForest::kAnywhere) {
    start(q);
  } else {
    is_node(symbol) ? add_node(q) : add_word(q);
  }
  items_ += static_cast<Index>(made_.size());
  prefix_[q].assign(made_.begin(), made_.end());
}

void HookSearch::start(Index q) {
  const Symbol symbol = prefixes_.prefixes[q].symbol;
  if (!is_node(symbol)) {
    joiner_.clear(0);
    joiner_.add(static_cast<Word>(symbol));
    const Piece piece = joiner_.finish();
    const Neighbour end = scores_.end_in(static_cast<Word>(symbol));
    if (is_needed(piece.left, end, piece.score)) made_.push_back({piece.left, piece.right, piece.score, -1, -1, end});
    return;
  }
  const Parts& parts = node_[~symbol];
  for (std::size_t i = 0; i < parts.items.size(); ++i) {
    const Part& part = parts.items[i];
    if (is_needed(part.left, part.end, part.value))
      made_.push_back({part.left, part.right, part.value, -1, static_cast<std::int32_t>(i), part.end});
  }
}

void HookSearch::add_word(Index q) {
  const auto [parent, symbol] = prefixes_.prefixes[q];
  const Word word = static_cast<Word>(symbol);
  const Neighbour end = scores_.end_in(word);
  for (std::size_t i = 0; i < prefix_[parent].size(); ++i) {
    const Part& before = prefix_[parent][i];
    Part made{before.left, 0, before.value, static_cast<std::int32_t>(i), -1, end};
    if (lefts_.is_closed(before.left)) {
      const Step step = automaton_.advance(before.right, word);
      made.right = step.state;
      made.value += problem_.weigh(step.score);
    } else {
      joiner_.clear(0);
      joiner_.add(Piece{before.value, before.left, before.right});
      joiner_.add(word);
      const Piece piece = joiner_.finish();
      made.left = piece.left;
      made.right = piece.right;
      made.value = piece.score;
    }
    if (is_needed(made.left, end, made.value)) put(made);
  }
  joined_ += static_cast<Index>(prefix_[parent].size());
  heed_(40 * static_cast<Index>(prefix_[parent].size()));
}

void HookSearch::add_node(Index q) {
  const auto [parent, symbol] = prefixes_.prefixes[q];
  const Index node = ~symbol;
  if (node_[node].items.empty()) return;
  for (std::size_t i = 0; i < prefix_[parent].size(); ++i) {
    const Part& before = prefix_[parent][i];
    if (!lefts_.is_closed(before.left)) {
      join(before, static_cast<Index>(i), node);
      continue;
    }
    const double* around = finder_.find_row(before.left);
    if (!around) continue;
    const double least = threshold_ - before.value - finder_.rest(before.left);
    const Hooks& hooks = find_hooks(node, before.right);
    for (const Hook& hook : hooks) {
      const Index column = finder_.find_column(hook.end);
      if (column < 0 || !(hook.value + around[column] >= least)) continue;
      put({before.left, hook.right, before.value + hook.value, static_cast<std::int32_t>(i), hook.item, hook.end});
    }
    joined_ += static_cast<Index>(hooks.size());
    heed_(4 * static_cast<Index>(hooks.size()) + 16);
  }
}

// Joins a prefix so short that what it depends on is not settled.
void HookSearch::join(const Part& before, Index at, Index node) {
  const Parts& parts = node_[node];
  for (std::size_t i = 0; i < parts.items.size(); ++i) {
    joiner_.clear(0);
    joiner_.add(Piece{before.value, before.left, before.right});
    joiner_.add(Piece{parts.items[i].value, parts.items[i].left, parts.items[i].right});
    const Piece piece = joiner_.finish();
    const Neighbour end = scores_.shorten(piece.right);
    if (is_needed(piece.left, end, piece.score))
      put({piece.left, piece.right, piece.score, static_cast<std::int32_t>(at), static_cast<std::int32_t>(i), end});
  }
  joined_ += static_cast<Index>(parts.items.size());
  heed_(200 * static_cast<Index>(parts.items.size()));
}

const HookSearch::Hooks& HookSearch::find_hooks(Index node, State state) {
  const auto [place, is_new] = hooks_.try_emplace(static_cast<std::uint64_t>(node) << 32 | state);
  Hooks& hooks = place->second;
  if (!is_new) return hooks;
  const Parts& parts = node_[node];
  best_.resize(parts.right.size());
  for (std::size_t r = 0; r < parts.right.size(); ++r) best_[r] = {parts.right[r], parts.end[r], -1, kNever<double>};
  for (std::size_t l = 0; l < parts.left.size(); ++l) {
    const std::span<const Word> words = lefts_.words(parts.left[l]);
    double cost = 0;
    State after = state;
    for (const Word word : words) {
      const Step step = automaton_.advance(after, word);
      cost += step.score;
      after = step.state;
    }
    const bool is_closed = lefts_.is_closed(parts.left[l]);
    for (State at = after; is_closed && automaton_.measure_context(at) > static_cast<Index>(words.size());
         at = automaton_.suffix[at])
      cost += automaton_.backoff[at];
    cost = problem_.weigh(cost);
    for (Index i = parts.first[l]; i < parts.first[l + 1]; ++i) {
      const double value = parts.items[i].value + cost;
      if (!is_closed) {
        hooks.push_back({after, scores_.shorten(after), static_cast<std::int32_t>(i), value});
      } else if (Hook& best = best_[parts.place[i]]; value > best.value) {
        best.value = value;
        best.item = static_cast<std::int32_t>(i);
      }
    }
  }
  for (const Hook& hook : best_)
    if (hook.item >= 0) hooks.push_back(hook);
  heed_(100 * static_cast<Index>(parts.left.size()) + static_cast<Index>(parts.items.size()));
  return hooks;
}

void HookSearch::make_node(Index v) {
  const TargetForest& forest = problem_.forest;
  if (bounds_.node(v).rows == 0) return;
  look_at(bounds_.node(v));
  for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
    const std::vector<Part>& items = prefix_[prefixes_.whole[e]];
    for (std::size_t i = 0; i < items.size(); ++i) {
      const double value = items[i].value + forest.score[e];
      if (is_needed(items[i].left, items[i].end, value))
        put({items[i].left, items[i].right, value, static_cast<std::int32_t>(e), static_cast<std::int32_t>(i),
             items[i].end});
    }
  }
  items_ += static_cast<Index>(made_.size());
  sort_items(v);
}

void HookSearch::sort_items(Index v) {
  Parts& parts = node_[v];
  std::ranges::stable_sort(made_, [](const Part& a, const Part& b) { return a.left < b.left; });
  parts.items = made_;
  places_.clear();
  for (std::size_t i = 0; i < made_.size(); ++i) {
    if (i == 0 || made_[i].left != made_[i - 1].left) {
      parts.left.push_back(made_[i].left);
      parts.first.push_back(static_cast<Index>(i));
    }
    std::int32_t& place = places_.find(made_[i].right);
    if (place < 0) {
      place = static_cast<std::int32_t>(parts.right.size());
      parts.right.push_back(made_[i].right);
      parts.end.push_back(made_[i].end);
    }
    parts.place.push_back(place);
  }
  parts.first.push_back(static_cast<Index>(made_.size()));
}

void HookSearch::list_edges(Index node, Index item, std::vector<Edge>& edges) const {
  std::vector<const Part*> open{&node_[node].items[item]};
  while (!open.empty()) {
    const Part& whole = *open.back();
    open.pop_back();
    edges.push_back(static_cast<Edge>(whole.before));
    Index place = whole.part;
    for (Index q = prefixes_.whole[whole.before]; q > PrefixForest::kStart; q = prefixes_.prefixes[q].parent) {
      const Part& part = prefix_[q][place];
      const Symbol symbol = prefixes_.prefixes[q].symbol;
      if (is_node(symbol)) open.push_back(&node_[~symbol].items[part.part]);
      place = part.before;
    }
  }
}

void HookSearch::add_goal(ForestIncumbents& found) {
  const Index goal = problem_.forest.goal;
  std::vector<std::pair<double, Index>> whole;
  for (std::size_t i = 0; i < node_[goal].items.size(); ++i) {
    const Part& part = node_[goal].items[i];
    const double end = problem_.weigh(automaton_.advance(part.right, kEnd).score);
    whole.emplace_back(-(part.value + end), static_cast<Index>(i));
  }
  std::ranges::sort(whole);
  constexpr std::size_t kMost = 8;  // of which the best is found by its exact score
  for (std::size_t n = 0; n < std::min(whole.size(), kMost); ++n) {
    std::vector<Edge> edges;
    list_edges(goal, whole[n].second, edges);
    found.add(problem_, edges, 0);
  }
}

}  // namespace certus::translate
