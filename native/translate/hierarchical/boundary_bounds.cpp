#include "translate/hierarchical/boundary_bounds.hpp"

#include <algorithm>
#include <unordered_map>

namespace certus::translate {
namespace {

void raise(double& best, double value) { best = std::max(best, value); }

}  // namespace

bool derives_nothing(const TargetForest& forest) {
  std::vector<char> empty(forest.nodes);
  for (Index v = 0; v < forest.nodes; ++v)
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e)
      if (std::ranges::all_of(forest.list_symbols(e), [&](Symbol s) { return is_node(s) && empty[~s]; })) empty[v] = 1;
  return std::ranges::find(empty, 1) != empty.end();
}

Index BoundaryWords::find(Word word) const {
  const auto place = std::ranges::lower_bound(words, word);
  return place != words.end() && *place == word ? place - words.begin() : -1;
}

BoundaryBounds::BoundaryBounds(const ForestProblem& problem)
    : problem_(problem),
      depth_(static_cast<std::size_t>(std::max<Index>(problem.model->automaton().order - 1, 1))),
      first_(problem.forest.nodes),
      last_(problem.forest.nodes),
      after_(problem.forest.nodes),
      before_(problem.forest.nodes),
      constant_(problem.forest.score),
      edge_(problem.forest.edges()),
      best_(problem.forest.edges(), kNever<double>),
      inside_(problem.forest.nodes, kNever<double>),
      outside_(problem.forest.nodes, kNever<double>) {
  collect_words();
  list_junctions();
  run_inside();
  run_outside();
}

double BoundaryBounds::phi(std::span<const Word> context, Word word) const {
  const std::size_t most = std::min(context.size(), static_cast<std::size_t>(problem_.model->automaton().order - 1));
  return problem_.weigh(problem_.model->bounds().find(problem_.model->automaton(), context.last(most), word));
}

void BoundaryBounds::collect_words() {
  const TargetForest& forest = problem_.forest;
  const auto take = [](BoundaryWords& into, Symbol symbol, const std::vector<BoundaryWords>& all) {
    if (is_node(symbol)) {
      const std::vector<Word>& part = all[~symbol].words;
      into.words.insert(into.words.end(), part.begin(), part.end());
    } else {
      into.words.push_back(static_cast<Word>(symbol));
    }
  };
  for (Index v = 0; v < forest.nodes; ++v) {
    std::vector<Symbol> starts, ends;
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      starts.push_back(forest.list_symbols(e).front());
      ends.push_back(forest.list_symbols(e).back());
    }
    for (auto [symbols, all] : {std::pair{&starts, &first_}, std::pair{&ends, &last_}}) {
      std::ranges::sort(*symbols);
      symbols->erase(std::ranges::unique(*symbols).begin(), symbols->end());
      BoundaryWords& into = (*all)[v];
      for (const Symbol symbol : *symbols) take(into, symbol, *all);
      std::ranges::sort(into.words);
      into.words.erase(std::ranges::unique(into.words).begin(), into.words.end());
      into.multiplier.assign(into.words.size(), 0);
      into.outside.assign(into.words.size(), kNever<double>);
    }
  }
}

void BoundaryBounds::list_junctions() {
  const TargetForest& forest = problem_.forest;
  std::unordered_map<std::uint64_t, std::vector<Index>> known;
  junction_first_.push_back(0);
  std::vector<Word> run, context;
  const auto add = [&](Index left, Index right, const std::vector<Word>& words) {
    std::uint64_t key = hashing::mix(static_cast<std::uint64_t>(left), static_cast<std::uint64_t>(right));
    for (const Word word : words) key = hashing::mix(key, word);
    std::vector<Index>& same = known[key];
    for (const Index j : same)
      if (junctions_[j].left == left && junctions_[j].right == right && contexts_[j] == words) {
        junction_of_.push_back(j);
        return;
      }
    const Index made = static_cast<Index>(junctions_.size());
    same.push_back(made);
    junction_of_.push_back(made);
    junctions_.push_back({left, right, {}, {}});
    contexts_.push_back(words);
    if (left >= 0) after_[left].push_back(made);
    if (right >= 0) before_[right].push_back(made);
  };
  for (Index e = 0; e < forest.edges(); ++e) {
    const std::span<const Symbol> symbols = forest.list_symbols(e);
    run.clear();
    Index before = -1;  // the node before the run of words
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      if (!is_node(symbols[i])) {
        // Words that are far enough from the node before the run, or in the run at the beginning but for the first one.
        if (before >= 0 ? run.size() >= depth_ : !run.empty()) constant_[e] += phi(run, static_cast<Word>(symbols[i]));
        run.push_back(static_cast<Word>(symbols[i]));
        if (before >= 0 && (run.size() == depth_ || i + 1 == symbols.size() || is_node(symbols[i + 1])) &&
            run.size() <= depth_)
          add(before, -1, run);
        continue;
      }
      if (!run.empty()) {
        context.assign(run.end() - static_cast<std::ptrdiff_t>(std::min(run.size(), depth_)), run.end());
        add(-1, ~symbols[i], context);
      } else if (i > 0) {
        add(before, ~symbols[i], {});
      }
      before = ~symbols[i];
      run.clear();
    }
    junction_first_.push_back(static_cast<Index>(junction_of_.size()));
  }
}

void BoundaryBounds::evaluate(Junction& junction, std::span<const Word> context) {
  junction.known = true;
  junction.best = kNever<double>;
  std::vector<Word> words;
  if (junction.left >= 0 && junction.right >= 0) {
    const BoundaryWords &left = last_[junction.left], &right = first_[junction.right];
    junction.left_values.assign(left.words.size(), kNever<double>);
    junction.right_values.assign(right.words.size(), kNever<double>);
    for (std::size_t l = 0; l < left.words.size(); ++l)
      for (std::size_t f = 0; f < right.words.size(); ++f) {
        const double value = phi({&left.words[l], 1}, right.words[f]) - left.multiplier[l] - right.multiplier[f];
        raise(junction.left_values[l], value);
        raise(junction.right_values[f], value);
        raise(junction.best, value);
      }
  } else if (junction.left >= 0) {
    const BoundaryWords& left = last_[junction.left];
    for (std::size_t l = 0; l < left.words.size(); ++l) {
      words.assign(1, left.words[l]);
      double value = -left.multiplier[l];
      for (const Word word : context) {
        value += phi(words, word);
        words.push_back(word);
      }
      junction.left_values.push_back(value);
      raise(junction.best, value);
    }
  } else {
    const BoundaryWords& right = first_[junction.right];
    for (std::size_t f = 0; f < right.words.size(); ++f) {
      junction.right_values.push_back(phi(context, right.words[f]) - right.multiplier[f]);
      raise(junction.best, junction.right_values.back());
    }
  }
}

// The most that a node's multipliers exceed those of the part that it begins (or ends) with.
double BoundaryBounds::find_shift(const BoundaryWords& whole, const BoundaryWords& part) const {
  double best = kNever<double>;
  std::size_t at = 0;
  for (std::size_t i = 0; i < part.words.size(); ++i) {
    while (whole.words[at] != part.words[i]) ++at;
    raise(best, whole.multiplier[at] - part.multiplier[i]);
  }
  return best;
}

void BoundaryBounds::make_node(Index v) {
  const TargetForest& forest = problem_.forest;
  const Index begin = forest.edge_first[v], end = forest.edge_first[v + 1];
  if (begin == end) return;
  std::vector<double> value(end - begin);
  for (Index e = begin; e < end; ++e) {
    edge_[e] = constant_[e];
    for (Index i = junction_first_[e]; i < junction_first_[e + 1]; ++i) {
      Junction& junction = junctions_[junction_of_[i]];
      if (!junction.known) evaluate(junction, contexts_[junction_of_[i]]);
      edge_[e] += junction.best;
    }
    value[e - begin] = edge_[e];
    for (const Symbol symbol : forest.list_symbols(e))
      if (is_node(symbol)) value[e - begin] += inside_[~symbol];
  }
  for (const bool at_start : {true, false}) {
    std::vector<BoundaryWords>& all = at_start ? first_ : last_;
    BoundaryWords& mine = all[v];
    std::vector<double> best(mine.words.size(), kNever<double>);
    std::unordered_map<Index, double> parts;  // the best edge for each node at this side
    for (Index e = begin; e < end; ++e) {
      const Symbol symbol = at_start ? forest.list_symbols(e).front() : forest.list_symbols(e).back();
      if (is_node(symbol)) {
        raise(parts.try_emplace(~symbol, kNever<double>).first->second, value[e - begin]);
      } else {
        raise(best[mine.find(static_cast<Word>(symbol))], value[e - begin]);
      }
    }
    for (const auto& [part, worth] : parts)
      for (std::size_t i = 0; i < all[part].words.size(); ++i)
        raise(best[mine.find(all[part].words[i])], worth - all[part].multiplier[i]);
    const double most = *std::ranges::max_element(best);
    for (std::size_t i = 0; i < best.size(); ++i) mine.multiplier[i] = most - best[i];
    std::unordered_map<Index, double> shifts;
    for (Index e = begin; e < end; ++e) {
      const Symbol symbol = at_start ? forest.list_symbols(e).front() : forest.list_symbols(e).back();
      double shift;
      if (is_node(symbol)) {
        const auto [place, is_new] = shifts.try_emplace(~symbol, 0);
        if (is_new) place->second = find_shift(mine, all[~symbol]);
        shift = place->second;
      } else {
        shift = mine.multiplier[mine.find(static_cast<Word>(symbol))];
      }
      edge_[e] += shift;
      value[e - begin] += shift;
    }
  }
  inside_[v] = *std::ranges::max_element(value);
}

void BoundaryBounds::run_inside() {
  for (Index v = 0; v < problem_.forest.nodes; ++v) make_node(v);
}

void BoundaryBounds::run_outside() {
  const TargetForest& forest = problem_.forest;
  const Index goal = forest.goal;
  if (inside_[goal] == kNever<double>) return;
  BoundaryWords &first = first_[goal], &last = last_[goal];
  double best_first = kNever<double>, best_last = kNever<double>;
  // Nothing is before <s>, so that the first word's cost is known; the last one's context is not.
  for (std::size_t f = 0; f < first.words.size(); ++f) {
    const double exact =
        problem_.weigh(problem_.model->automaton().advance(problem_.model->begin(), first.words[f]).score);
    first.outside[f] = exact - first.multiplier[f];
    raise(best_first, first.outside[f]);
  }
  for (std::size_t l = 0; l < last.words.size(); ++l) {
    last.outside[l] = phi({&last.words[l], 1}, kEnd) - last.multiplier[l];
    raise(best_last, last.outside[l]);
  }
  for (double& value : first.outside) value += best_last;
  for (double& value : last.outside) value += best_first;
  outside_[goal] = best_first + best_last;
  bound_ = inside_[goal] + outside_[goal];
  for (Index v = goal; v >= 0; --v) {
    finish_node(v);
    if (outside_[v] > kNever<double>)
      for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) spread(v, e);
  }
}

// Collects what the junctions around a node say about its words; all edges that use it are done.
void BoundaryBounds::finish_node(Index v) {
  if (inside_[v] == kNever<double>) return;
  for (const Index j : before_[v])
    for (std::size_t f = 0; f < first_[v].words.size() && junctions_[j].rest > kNever<double>; ++f)
      raise(first_[v].outside[f], junctions_[j].rest + junctions_[j].right_values[f] - inside_[v]);
  for (const Index j : after_[v])
    for (std::size_t l = 0; l < last_[v].words.size() && junctions_[j].rest > kNever<double>; ++l)
      raise(last_[v].outside[l], junctions_[j].rest + junctions_[j].left_values[l] - inside_[v]);
}

void BoundaryBounds::spread(Index v, Index e) {
  const std::span<const Symbol> symbols = problem_.forest.list_symbols(e);
  const Symbol start = symbols.front(), stop = symbols.back();
  double around = outside_[v], value = edge_[e];
  if (!is_node(start)) around = std::min(around, first_[v].outside[first_[v].find(static_cast<Word>(start))]);
  if (!is_node(stop)) around = std::min(around, last_[v].outside[last_[v].find(static_cast<Word>(stop))]);
  for (const Symbol symbol : symbols)
    if (is_node(symbol)) value += inside_[~symbol];
  best_[e] = value + around;
  if (best_[e] == kNever<double>) return;
  for (Index i = junction_first_[e]; i < junction_first_[e + 1]; ++i)
    raise(junctions_[junction_of_[i]].rest, best_[e] - junctions_[junction_of_[i]].best);
  for (const Symbol symbol : symbols)
    if (is_node(symbol)) raise(outside_[~symbol], best_[e] - inside_[~symbol]);
  // The first word of what an edge begins with is that of its node, too; likewise the last one.
  for (const bool at_start : {true, false}) {
    const Symbol symbol = at_start ? start : stop;
    if (!is_node(symbol)) continue;
    std::vector<BoundaryWords>& all = at_start ? first_ : last_;
    BoundaryWords &part = all[~symbol], &whole = all[v];
    const double rest = value - find_shift(whole, part) - inside_[~symbol];
    std::size_t at = 0;
    for (std::size_t i = 0; i < part.words.size(); ++i) {
      while (whole.words[at] != part.words[i]) ++at;
      raise(part.outside[i], rest + std::min(around, whole.outside[at]) + whole.multiplier[at] - part.multiplier[i]);
    }
  }
}

BoundaryBounds::Ends BoundaryBounds::find(Index node, Word first, Word last) const {
  const Index f = first_[node].find(first), l = last_[node].find(last);
  if (f < 0 || l < 0) return {0, kNever<double>};
  return {first_[node].multiplier[f] + last_[node].multiplier[l],
          std::min({outside_[node], first_[node].outside[f], last_[node].outside[l]})};
}

}  // namespace certus::translate
