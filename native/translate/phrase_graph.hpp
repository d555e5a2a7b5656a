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

#include <memory>
#include <optional>
#include <tuple>

#include "translate/deadline.hpp"
#include "translate/join_costs.hpp"
#include "translate/pair_table.hpp"

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
    // [words] where the columns that begin there come among those of the reach, one after the other; -1 if none does.
    std::vector<std::int32_t> closed_place, open_place;
    std::vector<double> jump;  // [words] what it costs to go on there
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
  std::vector<Phrases> phrases;                  // [columns]
  std::vector<Option> members;                   // the phrases of each column
  std::vector<Column> closed_begin, open_begin;  // [words + 1] the first column that begins there
  std::vector<Row> row_of;                       // [options] the row after a closed one
  std::vector<double> extra;  // [options] a bound of target words that lie between what is joined and what is inside
  std::unique_ptr<double[]> cost;
  std::vector<Row> next;
  std::vector<Arc> arcs;
  Index closed = 0;   // columns; the others are open
  Index bases = 0;    // rows
  Index longest = 0;  // words of a span

 private:
  // The first words of a column.
  struct Beginning {
    Word first, second;
    bool has_second;
    Column column;
    auto tie() const { return std::tie(first, has_second, second); }
  };

  // A state of two words, and what the rows that stand in it share.
  struct Context {
    double backoff, final;           // weighted
    std::size_t arc_begin, arc_end;  // in context_arcs_
    std::size_t continuations;       // of all its arcs
  };
  // One of the columns that begin with a first word.
  struct Continuation {
    Column column;
    std::int32_t begin, end, pair;
    std::int32_t offset;  // among the columns that begin at the same source word
  };

  void list_columns();
  void number_beginnings(std::vector<Beginning> beginnings);
  void list_reaches();
  void add_ranges(Reach& reach, bool is_open);
  void list_continuations();
  void list_bases();
  void fill_costs();
  std::size_t fill_row(Row r, std::size_t begin);
  void list_arcs();
  void add_arcs(Node& node, const Context& context);
  Row add_base(Index reach, State state);
  Row add_row(Row base, State state);
  Index find_context(State state);
  State find_state(Option o) const;
  double find_end(State state, bool is_base) const;
  void bound_extra(Option o);
  std::int32_t& find_reach(std::int32_t begin, std::int32_t end) {
    return reach_number_[begin * (longest + 1) + end - begin];
  }

  const PhraseProblem& problem_;
  const Deadline& deadline_;
  const Automaton& automaton_;
  bool exact_;
  std::optional<JoinCosts> joins_;
  std::vector<std::int32_t> begin_of_, first_of_, pair_of_;  // [columns] where it begins, its first word, and both
  std::vector<Continuation> continuations_;                  // by first words
  std::vector<Index> continuation_first_;                    // [first words + 1]
  std::vector<State> sources_;                               // the states of bases
  std::vector<std::int32_t> source_of_;                      // [bases]
  std::vector<Context> contexts_;
  std::vector<std::int32_t> context_of_;  // [rows - bases]
  std::vector<JoinCosts::Arc> context_arcs_;
  PairTable source_number_, context_number_{4096}, row_number_{4096};
  std::vector<std::int32_t> reach_number_;  // [words * (longest + 1)] by the beginning and the length of a span
};

}  // namespace certus::translate
