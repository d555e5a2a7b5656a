#include "translate/phrase_graph.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace certus::translate {
namespace {

std::uint64_t join_key(Index a, std::uint32_t b) { return static_cast<std::uint64_t>(a) << 32 | b; }

}  // namespace

PhraseGraph::PhraseGraph(const PhraseProblem& problem, const Deadline& deadline)
    : problem_(problem), deadline_(deadline), automaton_(problem.automaton()), exact_(problem.automaton().order <= 3) {
  list_columns();
  list_reaches();
  list_bases();
  fill_costs();
  list_arcs();
}

// Groups phrases by span, first word and second word, open ones after all others.
void PhraseGraph::list_columns() {
  const PhraseOptions& options = problem_.options();
  const bool tells_apart = automaton_.order >= 3;
  struct Sorted {
    bool open;
    std::int32_t begin, end;
    Word first, second;
    bool has_second;
    Option option;
    auto tie() const { return std::tie(open, begin, end, first, has_second, second); }
  };
  std::vector<Sorted> sorted;
  extra.assign(options.size(), 0);
  for (Option o = 0; o < options.size(); ++o) {
    const auto words = options.list_target(o);
    const bool two = tells_apart && words.size() > 1;
    sorted.push_back({tells_apart && words.size() == 1, options.begin[o], options.end[o],
                      automaton_.order > 1 ? words[0] : kUnknown, two ? words[1] : kUnknown, two, o});
    longest = std::max<Index>(longest, options.end[o] - options.begin[o]);
    if (!exact_) bound_extra(o);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Sorted& a, const Sorted& b) { return a.tie() < b.tie(); });
  std::vector<Beginning> beginnings;
  for (std::size_t n = 0; n < sorted.size(); ++n) {
    const Sorted& one = sorted[n];
    members.push_back(one.option);
    if (n > 0 && sorted[n - 1].tie() == one.tie()) {
      ++phrases.back().last;
      continue;
    }
    beginnings.push_back({one.first, one.second, one.has_second, static_cast<Column>(phrases.size())});
    phrases.push_back({one.begin, one.end, static_cast<Index>(n), static_cast<Index>(n) + 1});
    closed += !one.open;
  }
  number_beginnings(std::move(beginnings));
}

// Numbers the first words of columns, and their pairs of first words, in increasing order.
void PhraseGraph::number_beginnings(std::vector<Beginning> beginnings) {
  std::stable_sort(beginnings.begin(), beginnings.end(),
                   [](const Beginning& a, const Beginning& b) { return a.tie() < b.tie(); });
  first_of_.resize(phrases.size());
  pair_of_.resize(phrases.size());
  std::vector<Word> firsts;
  std::vector<JoinCosts::Pair> pairs;
  const Beginning* before = nullptr;
  for (const Beginning& one : beginnings) {
    if (before == nullptr || before->first != one.first) {
      firsts.push_back(one.first);
      columns_of_.emplace_back();
    }
    if (before == nullptr || before->tie() != one.tie())
      pairs.push_back({static_cast<Index>(firsts.size()) - 1, one.second, one.has_second});
    columns_of_.back().push_back(one.column);
    first_of_[one.column] = static_cast<std::int32_t>(firsts.size() - 1);
    pair_of_[one.column] = static_cast<std::int32_t>(pairs.size() - 1);
    before = &one;
  }
  joins_.emplace(problem_, std::move(firsts), std::move(pairs));
}

// Words that see neither all of their context inside of the phrase nor are among the first two.
void PhraseGraph::bound_extra(Option o) {
  const auto words = problem_.options().list_target(o);
  const auto count = std::min(static_cast<Index>(words.size()), automaton_.order - 1);
  double total = 0;
  for (Index n = 2; n < count; ++n) total += problem_.bounds()->find(automaton_, words.first(n), words[n]);
  extra[o] = problem_.weigh(total);
}

// The ranges of closed or of open columns that a reach has, and where those of each beginning stand among all.
void PhraseGraph::add_ranges(Reach& reach, bool is_open) {
  const std::vector<Column>& begin = is_open ? open_begin : closed_begin;
  std::vector<Range>& ranges = is_open ? reach.open : reach.closed;
  std::vector<std::int32_t>& place = is_open ? reach.open_place : reach.closed_place;
  Index& count = is_open ? reach.open_count : reach.closed_count;
  place.assign(problem_.words(), -1);
  for (Index b = 0; b < problem_.words(); ++b) {
    if (!problem_.allows(reach.end, b) || (b >= reach.begin && b < reach.end)) continue;
    const Column first = begin[b];
    Column last = begin[b + 1];
    while (b < reach.begin && last > first && phrases[last - 1].end > reach.begin) --last;
    if (first == last) continue;
    place[b] = static_cast<std::int32_t>(reach.closed_count + (is_open ? count : 0));
    if (!ranges.empty() && ranges.back().first + ranges.back().count == first) ranges.back().count += last - first;
    else ranges.push_back({first, last - first});
    count += last - first;
  }
}

// For each span, the columns that begin near its end and do not touch it. The first reach is that of the beginning.
void PhraseGraph::list_reaches() {
  for (const bool is_open : {false, true}) {
    std::vector<Column>& begin = is_open ? open_begin : closed_begin;
    auto from = phrases.begin() + (is_open ? closed : 0);
    const auto to = is_open ? phrases.end() : phrases.begin() + closed;
    for (Index b = 0; b <= problem_.words(); ++b) {
      while (from != to && from->begin < b) ++from;
      begin.push_back(static_cast<Column>(from - phrases.begin()));
    }
  }
  const auto add = [&](std::int32_t begin, std::int32_t end) {
    Reach reach{begin, end, {}, {}, 0, 0, {}, {}};
    add_ranges(reach, false);
    add_ranges(reach, true);
    reaches.push_back(std::move(reach));
  };
  add(0, 0);
  for (const Phrases& one : phrases) {
    const Key key = join_key(one.begin, static_cast<std::uint32_t>(one.end));
    if (reach_number_.try_emplace(key, static_cast<Index>(reaches.size())).second) add(one.begin, one.end);
  }
}

Index PhraseGraph::find_source(State state) {
  const auto [found, is_new] = source_number_.try_emplace(state, joins_->sources());
  if (is_new) {
    deadline_.check();
    joins_->add_source(state);
  }
  return found->second;
}

State PhraseGraph::find_state(Word before, Word last) const {
  return automaton_.advance(automaton_.advance(kEmpty, before).state, last).state;
}

Row PhraseGraph::add_row(Index reach, Row base, State state) {
  const auto row = static_cast<Row>(nodes.size());
  const auto [found, is_new] = row_number_.try_emplace(join_key(reach, state), row);
  if (!is_new) return found->second;
  const bool is_base = base < 0;
  double backoff = is_base ? 0 : automaton_.backoff[state];
  if (!is_base && !exact_) backoff += problem_.bounds()->slack(state);
  nodes.push_back({static_cast<std::int32_t>(reach), is_base ? row : base, state, problem_.weigh(backoff),
                   find_end(state, is_base)});
  return row;
}

double PhraseGraph::find_end(State state, bool is_base) const {
  if (exact_) return problem_.finish(state);
  const double slack = problem_.bounds()->slack(state);
  return problem_.weigh(is_base ? automaton_.advance(state, kEnd).score + slack
                                : problem_.bounds()->find(automaton_, state, kEnd));
}

void PhraseGraph::list_bases() {
  const PhraseOptions& options = problem_.options();
  const auto find_reach = [&](Option o) {
    return reach_number_.at(join_key(options.begin[o], static_cast<std::uint32_t>(options.end[o])));
  };
  add_row(0, -1, problem_.begin());
  source_of_.push_back(find_source(problem_.begin()));
  row_of.resize(options.size());
  for (Option o = 0; o < options.size(); ++o) {
    const Word last = options.list_target(o).back();
    const State state = automaton_.advance(kEmpty, last).state;
    row_of[o] = add_row(find_reach(o), -1, state);
    if (row_of[o] == static_cast<Row>(source_of_.size())) source_of_.push_back(find_source(state));
  }
  bases = rows();
  for (Option o = 0; o < options.size(); ++o) {
    const auto words = options.list_target(o);
    if (words.size() < 2 || automaton_.order < 3) continue;
    const State state = find_state(words[words.size() - 2], words.back());
    if (state != nodes[row_of[o]].state) row_of[o] = add_row(find_reach(o), row_of[o], state);
  }
}

// The costs of all bases, and the rows that their open columns lead to.
void PhraseGraph::fill_costs() {
  std::size_t costs = 0;
  for (Row r = 0; r < bases; ++r) {
    const Reach& reach = reaches[nodes[r].reach];
    costs += static_cast<std::size_t>(reach.closed_count + reach.open_count);
  }
  cost.resize(costs);
  Heed heed;
  std::size_t begin = 0;
  for (Row r = 0; r < bases; ++r) {
    deadline_.check();
    const std::size_t end = fill_row(r, begin);
    heed(static_cast<Index>(end - begin));
    begin = end;
  }
}

// Returns where the costs of the next row begin.
std::size_t PhraseGraph::fill_row(Row r, std::size_t begin) {
  const Index source = source_of_[r];
  const Reach& reach = reaches[nodes[r].reach];
  double* place = cost.data() + begin;
  nodes[r].cost = begin;
  nodes[r].next = next.size();
  for (const auto* ranges : {&reach.closed, &reach.open})
    for (const Range& range : *ranges)
      for (Column c = range.first; c < range.first + range.count; ++c)
        *place++ = problem_.jump(reach.end, phrases[c].begin) +
                   (joins_->first(source, first_of_[c]) + joins_->second(source, pair_of_[c]));
  for (const Range& range : reach.open)
    for (Column c = range.first; c < range.first + range.count; ++c) {
      const Row base = row_of[members[phrases[c].first]];
      const State state = joins_->state_after(source, first_of_[c]);
      next.push_back(state == nodes[base].state ? base : add_row(nodes[base].reach, base, state));
    }
  return static_cast<std::size_t>(place - cost.data());
}

void PhraseGraph::list_arcs() {
  std::unordered_map<State, std::vector<JoinCosts::Arc>> known;
  Heed heed;
  for (Row r = static_cast<Row>(bases); r < rows(); ++r) {
    const auto [found, is_new] = known.try_emplace(nodes[r].state);
    if (is_new) found->second = joins_->list_arcs(nodes[r].state);
    nodes[r].arc_begin = arcs.size();
    add_arcs(nodes[r], found->second);
    nodes[r].arc_end = arcs.size();
    heed(static_cast<Index>(16 * (nodes[r].arc_end - nodes[r].arc_begin + 1)));
    if (r % 16 == 0) deadline_.check();
  }
}

void PhraseGraph::add_arcs(Node& node, const std::vector<JoinCosts::Arc>& found) {
  const Reach& reach = reaches[node.reach];
  const Index source = source_of_[node.base];
  for (const auto& [first, score] : found)
    for (const Column c : columns_of_[first]) {
      const Phrases& one = phrases[c];
      const std::int32_t from = (c < closed ? reach.closed_place : reach.open_place)[one.begin];
      if (from < 0 || (one.begin < reach.begin && one.end > reach.begin)) continue;
      const Column before = (c < closed ? closed_begin : open_begin)[one.begin];
      const double joined = problem_.weigh(score) + joins_->second(source, pair_of_[c]);
      arcs.push_back({from + c - before, c, problem_.jump(reach.end, one.begin) + joined});
    }
}

}  // namespace certus::translate
