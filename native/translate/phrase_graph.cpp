#include "translate/phrase_graph.hpp"

#include <algorithm>
#include <numeric>

#include "base/interrupt.hpp"

namespace certus::translate {
namespace {

std::uint64_t join_key(Index a, std::uint32_t b) { return static_cast<std::uint64_t>(a) << 32 | b; }

}  // namespace

PhraseGraph::PhraseGraph(const PhraseProblem& problem, const Deadline& deadline)
    : problem_(problem), deadline_(deadline), automaton_(problem.automaton()), exact_(problem.automaton().order <= 3) {
  list_columns();
  list_reaches();
  list_continuations();
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
  for (const Phrases& one : phrases) begin_of_.push_back(one.begin);
  first_of_.resize(phrases.size());
  pair_of_.resize(phrases.size());
  std::vector<Word> firsts;
  std::vector<JoinCosts::Pair> pairs;
  const Beginning* before = nullptr;
  for (const Beginning& one : beginnings) {
    if (before == nullptr || before->first != one.first) firsts.push_back(one.first);
    if (before == nullptr || before->tie() != one.tie())
      pairs.push_back({static_cast<Index>(firsts.size()) - 1, one.second, one.has_second});
    first_of_[one.column] = static_cast<std::int32_t>(firsts.size() - 1);
    pair_of_[one.column] = static_cast<std::int32_t>(pairs.size() - 1);
    before = &one;
  }
  continuation_first_.resize(firsts.size() + 1);
  joins_.emplace(problem_, std::move(firsts), std::move(pairs));
}

// The columns of each first word, in their order.
void PhraseGraph::list_continuations() {
  for (const std::int32_t first : first_of_) ++continuation_first_[first + 1];
  std::partial_sum(continuation_first_.begin(), continuation_first_.end(), continuation_first_.begin());
  std::vector<Index> place(continuation_first_.begin(), continuation_first_.end() - 1);
  continuations_.resize(phrases.size());
  for (Column c = 0; c < static_cast<Column>(phrases.size()); ++c) {
    const Phrases& one = phrases[c];
    const Column first = (c < closed ? closed_begin : open_begin)[one.begin];
    continuations_[place[first_of_[c]]++] = {c, one.begin, one.end, pair_of_[c], c - first};
  }
}

// Words that see neither all of their context inside of the phrase nor are among the first two.
void PhraseGraph::bound_extra(Option o) {
  const auto words = problem_.options().list_target(o);
  const auto count = std::min(static_cast<Index>(words.size()), automaton_.order - 1);
  double total = 0;
  for (Index n = 2; n < count; ++n) total += problem_.bounds().find(automaton_, words.first(n), words[n]);
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
    Reach reach{begin, end, {}, {}, 0, 0, {}, {}, {}};
    for (Index b = 0; b < problem_.words(); ++b) reach.jump.push_back(problem_.jump(end, b));
    add_ranges(reach, false);
    add_ranges(reach, true);
    reaches.push_back(std::move(reach));
  };
  reach_number_.assign(problem_.words() * (longest + 1), -1);
  add(0, 0);
  for (const Phrases& one : phrases) {
    std::int32_t& number = find_reach(one.begin, one.end);
    if (number >= 0) continue;
    number = static_cast<std::int32_t>(reaches.size());
    add(one.begin, one.end);
  }
}

// The state of the last two words of a phrase.
State PhraseGraph::find_state(Option o) const {
  if (exact_) return problem_.tail(o);
  const auto words = problem_.options().list_target(o).last(2);
  return automaton_.advance(automaton_.advance(kEmpty, words[0]).state, words[1]).state;
}

Row PhraseGraph::add_base(Index reach, State state) {
  std::int32_t& row = row_number_.find(join_key(reach, state));
  if (row >= 0) return row;
  row = static_cast<Row>(nodes.size());
  nodes.push_back({static_cast<std::int32_t>(reach), row, state, 0, find_end(state, true)});
  std::int32_t& source = source_number_.find(state);
  if (source < 0) {
    source = static_cast<std::int32_t>(sources_.size());
    sources_.push_back(state);
  }
  source_of_.push_back(source);
  return row;
}

// The row of two words that refers to a base.
Row PhraseGraph::add_row(Row base, State state) {
  const std::int32_t reach = nodes[base].reach;
  std::int32_t& row = row_number_.find(join_key(reach, state));
  if (row >= 0) return row;
  row = static_cast<Row>(nodes.size());
  const Index context = find_context(state);
  context_of_.push_back(static_cast<std::int32_t>(context));
  nodes.push_back({reach, base, state, contexts_[context].backoff, contexts_[context].final});
  return row;
}

Index PhraseGraph::find_context(State state) {
  std::int32_t& number = context_number_.find(state);
  if (number >= 0) return number;
  number = static_cast<std::int32_t>(contexts_.size());
  const double slack = exact_ ? 0 : problem_.bounds().slack(state);
  const std::size_t before = context_arcs_.size();
  joins_->list_arcs(state, context_arcs_);
  std::size_t continuations = 0;
  for (std::size_t n = before; n < context_arcs_.size(); ++n) {
    const Index first = context_arcs_[n].first;
    continuations += static_cast<std::size_t>(continuation_first_[first + 1] - continuation_first_[first]);
  }
  contexts_.push_back({problem_.weigh(automaton_.backoff[state] + slack), find_end(state, false), before,
                       context_arcs_.size(), continuations});
  return number;
}

double PhraseGraph::find_end(State state, bool is_base) const {
  if (exact_) return problem_.finish(state);
  const double slack = problem_.bounds().slack(state);
  return problem_.weigh(is_base ? automaton_.advance(state, kEnd).score + slack
                                : problem_.bounds().find(automaton_, state, kEnd));
}

void PhraseGraph::list_bases() {
  const PhraseOptions& options = problem_.options();
  add_base(0, problem_.begin());
  row_of.resize(options.size());
  for (Option o = 0; o < options.size(); ++o)
    row_of[o] = add_base(find_reach(options.begin[o], options.end[o]),
                         automaton_.advance(kEmpty, options.list_target(o).back()).state);
  bases = rows();
  joins_->fill(sources_, deadline_);
  for (Option o = 0; o < options.size(); ++o) {
    if (options.list_target(o).size() < 2 || automaton_.order < 3) continue;
    const State state = find_state(o);
    if (state != nodes[row_of[o]].state) row_of[o] = add_row(row_of[o], state);
  }
}

// The costs of all bases, and the rows that their open columns lead to.
void PhraseGraph::fill_costs() {
  std::size_t costs = 0;
  for (Row r = 0; r < bases; ++r) {
    const Reach& reach = reaches[nodes[r].reach];
    costs += static_cast<std::size_t>(reach.closed_count + reach.open_count);
  }
  cost = std::make_unique_for_overwrite<double[]>(costs);
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
  const double *firsts = joins_->firsts(source), *seconds = joins_->seconds(source), *jump = reach.jump.data();
  double* place = cost.get() + begin;
  nodes[r].cost = begin;
  nodes[r].next = next.size();
  for (const auto* ranges : {&reach.closed, &reach.open})
    for (const Range& range : *ranges)
      for (Column c = range.first; c < range.first + range.count; ++c)
        *place++ = jump[begin_of_[c]] + (firsts[first_of_[c]] + seconds[pair_of_[c]]);
  const State* after = joins_->states_after(source);
  for (const Range& range : reach.open)
    for (Column c = range.first; c < range.first + range.count; ++c) {
      const Row base = row_of[members[phrases[c].first]];
      const State state = after[first_of_[c]];
      next.push_back(state == nodes[base].state ? base : add_row(base, state));
    }
  return static_cast<std::size_t>(place - cost.get());
}

void PhraseGraph::list_arcs() {
  Heed heed;
  std::size_t most = 0;
  for (const std::int32_t context : context_of_) most += contexts_[context].continuations;
  arcs.reserve(most);
  for (Row r = static_cast<Row>(bases); r < rows(); ++r) {
    nodes[r].arc_begin = arcs.size();
    add_arcs(nodes[r], contexts_[context_of_[r - bases]]);
    nodes[r].arc_end = arcs.size();
    heed(static_cast<Index>(16 * (nodes[r].arc_end - nodes[r].arc_begin + 1)));
    if (r % 16 == 0) deadline_.check();
  }
}

void PhraseGraph::add_arcs(Node& node, const Context& context) {
  const Reach& reach = reaches[node.reach];
  const double* seconds = joins_->seconds(source_of_[node.base]);
  for (std::size_t n = context.arc_begin; n < context.arc_end; ++n) {
    const auto& [first, score] = context_arcs_[n];
    for (Index k = continuation_first_[first]; k < continuation_first_[first + 1]; ++k) {
      const Continuation& one = continuations_[k];
      const std::int32_t from = (one.column < closed ? reach.closed_place : reach.open_place)[one.begin];
      if (from < 0 || (one.begin < reach.begin && one.end > reach.begin)) continue;
      arcs.push_back({from + one.offset, one.column, reach.jump[one.begin] + (score + seconds[one.pair])});
    }
  }
}

}  // namespace certus::translate
