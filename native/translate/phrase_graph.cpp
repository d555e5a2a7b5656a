#include "translate/phrase_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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
  std::map<std::tuple<Word, Word, bool>, Index> pair_number;
  for (std::size_t n = 0; n < sorted.size(); ++n) {
    const Sorted& one = sorted[n];
    members.push_back(one.option);
    if (n > 0 && sorted[n - 1].tie() == one.tie()) {
      ++phrases.back().last;
      continue;
    }
    phrases.push_back({one.begin, one.end, static_cast<Index>(n), static_cast<Index>(n) + 1});
    closed += !one.open;
    const auto [found, is_new] =
        pair_number.try_emplace({one.first, one.second, one.has_second}, static_cast<Index>(pairs_.size()));
    if (is_new) {
      const auto [place, unseen] = first_number_.try_emplace(one.first, static_cast<Index>(first_words_.size()));
      if (unseen) first_words_.push_back(one.first);
      pairs_.push_back({place->second, one.second, one.first, one.has_second});
    }
    pair_of_.push_back(found->second);
  }
}

// Words that see neither all of their context inside of the phrase nor are among the first two.
void PhraseGraph::bound_extra(Option o) {
  const auto words = problem_.options().list_target(o);
  const auto count = std::min(static_cast<Index>(words.size()), automaton_.order - 1);
  double total = 0;
  for (Index n = 2; n < count; ++n) total += problem_.bounds()->find(automaton_, words.first(n), words[n]);
  extra[o] = problem_.weigh(total);
}

void PhraseGraph::add_ranges(Reach& reach, Index b, Index limit_end) {
  for (const bool is_open : {false, true}) {
    const auto from = phrases.begin() + (is_open ? closed : 0), to = is_open ? phrases.end() : phrases.begin() + closed;
    const auto first = std::lower_bound(from, to, b, [](const Phrases& p, Index x) { return p.begin < x; });
    const auto last = std::find_if(first, to, [&](const Phrases& p) { return p.begin != b || p.end > limit_end; });
    if (first == last) continue;
    std::vector<Range>& ranges = is_open ? reach.open : reach.closed;
    const auto column = static_cast<Column>(first - phrases.begin());
    if (!ranges.empty() && ranges.back().first + ranges.back().count == column) ranges.back().count += last - first;
    else ranges.push_back({column, last - first});
    (is_open ? reach.open_count : reach.closed_count) += last - first;
  }
}

// For each span, the columns that begin near its end and do not touch it. The first reach is that of the beginning.
void PhraseGraph::list_reaches() {
  const Index words = problem_.words();
  const auto add = [&](Index begin, Index end) {
    Reach reach{static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end), {}, {}};
    for (Index b = 0; b < words; ++b)
      if (problem_.allows(end, b) && !(b >= begin && b < end)) add_ranges(reach, b, b < begin ? begin : words);
    reaches.push_back(std::move(reach));
  };
  add(0, 0);
  for (const Phrases& one : phrases) {
    const Key key = join_key(one.begin, static_cast<std::uint32_t>(one.end));
    if (reach_number_.try_emplace(key, static_cast<Index>(reaches.size())).second) add(one.begin, one.end);
  }
}

Index PhraseGraph::find_source(State state, Word word) {
  const auto [found, is_new] = source_number_.try_emplace(state, static_cast<Index>(sources_.size()));
  if (is_new) {
    sources_.push_back(state);
    source_word_.push_back(word);
  }
  return found->second;
}

State PhraseGraph::find_state(Word before, Word last) const {
  return automaton_.advance(automaton_.advance(kEmpty, before).state, last).state;
}

Row PhraseGraph::add_row(Index reach, Row base, State state, Word last) {
  const auto row = static_cast<Row>(nodes.size());
  const auto [found, is_new] = row_number_.try_emplace(join_key(reach, state), row);
  if (!is_new) return found->second;
  const bool is_base = base < 0;
  double backoff = is_base ? 0 : automaton_.backoff[state];
  if (!is_base && !exact_) backoff += problem_.bounds()->slack(state);
  nodes.push_back({static_cast<std::int32_t>(reach), is_base ? row : base, state, problem_.weigh(backoff),
                   find_end(state, is_base, last)});
  return row;
}

double PhraseGraph::find_end(State state, bool is_base, Word) const {
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
  add_row(0, -1, problem_.begin(), kBegin);
  source_of_.push_back(find_source(problem_.begin(), kBegin));
  row_of.resize(options.size());
  for (Option o = 0; o < options.size(); ++o) {
    const Word last = options.list_target(o).back();
    const State state = automaton_.advance(kEmpty, last).state;
    row_of[o] = add_row(find_reach(o), -1, state, last);
    if (row_of[o] == static_cast<Row>(source_of_.size())) source_of_.push_back(find_source(state, last));
  }
  bases = rows();
  for (Option o = 0; o < options.size(); ++o) {
    const auto words = options.list_target(o);
    if (words.size() < 2 || automaton_.order < 3) continue;
    const State state = find_state(words[words.size() - 2], words.back());
    if (state != nodes[row_of[o]].state) row_of[o] = add_row(find_reach(o), row_of[o], state, words.back());
  }
}

// A bound of the first word of a column after a state of one word, and where it leads.
double PhraseGraph::find_first(Index source, Index first) {
  const std::size_t place = static_cast<std::size_t>(source) * first_words_.size() + first;
  if (std::isnan(after_[place])) {
    const Step step = automaton_.advance(sources_[source], first_words_[first]);
    after_[place] = step.score + (exact_ ? 0 : problem_.bounds()->slack(sources_[source]));
    led_[place] = step.state;
  }
  return after_[place];
}

// A bound of the second word of a column, if it has one that sees the state before.
double PhraseGraph::find_second(Index source, Index pair) {
  const Pair& one = pairs_[pair];
  if (!one.has_second) return 0;
  const std::size_t place = static_cast<std::size_t>(source) * pairs_.size() + pair;
  if (std::isnan(second_[place])) {
    find_first(source, one.first);
    const State state = led_[static_cast<std::size_t>(source) * first_words_.size() + one.first];
    const Word context[] = {source_word_[source], one.word};
    second_[place] =
        exact_ ? automaton_.advance(state, one.second).score : problem_.bounds()->find(automaton_, context, one.second);
  }
  return second_[place];
}

double PhraseGraph::join(Index source, Index pair, double first) {
  if (automaton_.order < 2) return 0;
  return problem_.weigh(first) + problem_.weigh(find_second(source, pair));
}

// The costs of all bases, and the rows that their open columns lead to.
void PhraseGraph::fill_costs() {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  second_.assign(sources_.size() * pairs_.size(), unknown);
  after_.assign(sources_.size() * first_words_.size(), unknown);
  led_.assign(after_.size(), kEmpty);
  Heed heed;
  for (Row r = 0; r < bases; ++r) {
    deadline_.check();
    const Index source = source_of_[r];
    const Reach& reach = reaches[nodes[r].reach];
    nodes[r].cost = cost.size();
    nodes[r].next = next.size();
    for (const auto* ranges : {&reach.closed, &reach.open})
      for (const Range& range : *ranges)
        for (Column c = range.first; c < range.first + range.count; ++c) {
          heed(8);
          const double first = find_first(source, pairs_[pair_of_[c]].first);
          cost.push_back(problem_.jump(reach.end, phrases[c].begin) + join(source, pair_of_[c], first));
          if (c < closed) continue;
          const Option o = members[phrases[c].first];
          const Row base = row_of[o];
          const State state = led_[static_cast<std::size_t>(source) * first_words_.size() + pairs_[pair_of_[c]].first];
          const bool is_base = state == nodes[base].state;
          next.push_back(is_base ? base : add_row(nodes[base].reach, base, state, kUnknown));
        }
  }
}

// The first words that a state of two words has arcs for, with their scores.
const std::vector<std::pair<Index, double>>& PhraseGraph::find_arcs(State state) {
  const auto [found, is_new] = arcs_of_.try_emplace(state);
  if (!is_new) return found->second;
  const Index from = automaton_.begin[state], to = automaton_.begin[state + 1];
  const auto add = [&](Index arc, Index first) {
    const Word word = automaton_.word[arc];
    const double score = exact_ ? double{automaton_.score[arc]} : problem_.bounds()->find(automaton_, state, word);
    found->second.emplace_back(first, score);
  };
  if (to - from <= 4 * static_cast<Index>(first_words_.size())) {
    for (Index arc = from; arc < to; ++arc)
      if (const auto place = first_number_.find(automaton_.word[arc]); place != first_number_.end())
        add(arc, place->second);
  } else {
    for (std::size_t n = 0; n < first_words_.size(); ++n)
      if (const Index arc = automaton_.find(state, first_words_[n]); arc >= 0) add(arc, static_cast<Index>(n));
  }
  return found->second;
}

void PhraseGraph::list_arcs() {
  std::vector<double> marked(first_words_.size(), std::numeric_limits<double>::quiet_NaN());
  Heed heed;
  for (Row r = static_cast<Row>(bases); r < rows(); ++r) {
    Node& node = nodes[r];
    const auto& found = find_arcs(node.state);
    node.arc_begin = arcs.size();
    for (const auto& [first, score] : found) marked[first] = score;
    std::int32_t place = 0;
    const Reach& reach = reaches[node.reach];
    for (const auto* ranges : {&reach.closed, &reach.open})
      for (const Range& range : *ranges)
        for (Column c = range.first; c < range.first + range.count && !found.empty(); ++c, ++place) {
          const Index first = pairs_[pair_of_[c]].first;
          if (std::isnan(marked[first])) continue;
          const double joined = join(source_of_[node.base], pair_of_[c], marked[first]);
          arcs.push_back({place, c, problem_.jump(reach.end, phrases[c].begin) + joined});
        }
    for (const auto& [first, score] : found) marked[first] = std::numeric_limits<double>::quiet_NaN();
    node.arc_end = arcs.size();
    heed(reach.closed_count + reach.open_count);
    if (r % 16 == 0) deadline_.check();
  }
}

}  // namespace certus::translate
