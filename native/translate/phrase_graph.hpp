// The graph that a phrase-based search runs over, but for the words that are translated (Rush et al. 2013, 2.2; Chang &
// Collins 2011): the places where a hypothesis may stand after a phrase, and what it costs to append another one.
//
// A row is (begin, end, state): the span of the last phrase, and the state of the language model after it, which is its
// last two words at most. Appending a phrase costs a jump and the target words whose context begins outside of it, the
// first two of them; so phrases that share their span and these two words are one column. What follows a phrase of one
// word only ("open") depends on the row; what follows all others does not.
//
// States of two words are rows of their own where the language model tells them apart. With x the last word and y the
// one before,
//   cost((y x), column) = backoff(y x) + cost((x), column)   unless the model has an arc from (y x) for its first word,
// so such a row lists its arcs only, and refers to the row of (x), its base, for everything else.
//
// For models of order 3 and below all costs are exact. Above, they bound what longer contexts can give from above.
#pragma once

#include <unordered_map>

#include "translate/deadline.hpp"
#include "translate/phrases.hpp"

namespace certus::translate {

using Row = std::int32_t;
using Column = std::int32_t;

class PhraseGraph {
 public:
  // Throws OutOfTime where making it takes too long.
  PhraseGraph(const PhraseProblem& problem, const Deadline& deadline);

  struct Range {
    Column first;
    Index count;
  };
  // Where a phrase may be appended after those of one span: ranges of columns, closed ones before open ones.
  struct Reach {
    std::int32_t begin, end;
    std::vector<Range> closed, open;
    Index closed_count = 0, open_count = 0;
  };
  struct Node {
    std::int32_t reach;
    Row base;  // itself, for the rows of one word
    State state;
    double backoff;        // to the base, weighted
    double final;          // cost of the end of the sentence
    std::size_t cost = 0;  // where the costs of a base begin, closed columns and then open ones
    std::size_t next = 0;  // where the rows begin that its open columns lead to
    std::size_t arc_begin = 0, arc_end = 0;
  };
  struct Arc {
    std::int32_t place;  // among the columns of the reach, one after the other
    Column column;
    double cost;
  };
  struct Phrases {
    std::int32_t begin, end;
    Index first, last;  // in members
  };

  const PhraseProblem& problem() const { return problem_; }
  const Deadline& deadline() const { return deadline_; }
  bool is_exact() const { return exact_; }
  Index rows() const { return static_cast<Index>(nodes.size()); }
  Index columns() const { return static_cast<Index>(phrases.size()); }

  std::vector<Node> nodes;  // [rows] the first one is the beginning of the sentence; bases come first
  std::vector<Reach> reaches;
  std::vector<Phrases> phrases;  // [columns]
  std::vector<Option> members;   // the phrases of each column
  std::vector<Row> row_of;       // [options] the row after a closed one
  std::vector<double> extra;     // [options] a bound of target words that lie between what is joined and what is inside
  std::vector<double> cost;
  std::vector<Row> next;
  std::vector<Arc> arcs;
  Index closed = 0;   // columns; the others are open
  Index bases = 0;    // rows
  Index longest = 0;  // words of a span

 private:
  struct Pair {
    Index first;  // among first_words_
    Word second;
    Word word;
    bool has_second;
  };
  using Key = std::uint64_t;

  void list_columns();
  void list_reaches();
  void add_ranges(Reach& reach, Index b, Index limit_end);
  void list_bases();
  void fill_costs();
  void list_arcs();
  Index find_source(State state, Word word);
  Row add_row(Index reach, Row base, State state, Word last);
  State find_state(Word before, Word last) const;
  double find_second(Index source, Index pair);
  double join(Index source, Index pair, double first);
  double find_first(Index source, Index first);
  double find_end(State state, bool is_base, Word last) const;
  void bound_extra(Option o);
  const std::vector<std::pair<Index, double>>& find_arcs(State state);

  const PhraseProblem& problem_;
  const Deadline& deadline_;
  const Automaton& automaton_;
  bool exact_;
  std::vector<Word> first_words_;
  std::unordered_map<Word, Index> first_number_;
  std::vector<Pair> pairs_;
  std::vector<Index> pair_of_;  // [columns]
  std::vector<State> sources_;  // states of one word, that bases have
  std::vector<Word> source_word_;
  std::unordered_map<State, Index> source_number_;
  std::vector<Index> source_of_;  // [bases]
  std::vector<double> second_;    // [sources * pairs] of the second word; NaN where nobody asked yet
  std::vector<double> after_;     // [sources * first words] of the first word alone
  std::vector<State> led_;        // [sources * first words] the state that it leads to
  std::unordered_map<Key, Row> row_number_;
  std::unordered_map<Key, Index> reach_number_;
  std::unordered_map<State, std::vector<std::pair<Index, double>>> arcs_of_;
};

}  // namespace certus::translate
