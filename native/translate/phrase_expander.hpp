// Appends phrases to hypotheses under the bounds of a relaxation.
#pragma once

#include <unordered_map>

#include "base/interrupt.hpp"
#include "translate/phrase_search.hpp"

namespace certus::translate {

template <int W>
class PhraseExpander {
 public:
  PhraseExpander(const PhraseRelaxation& relaxation, const std::vector<double>& multipliers,
                 const ForbiddenTerms& terms, bool distinct)
      : relaxation_(relaxation),
        graph_(relaxation.graph()),
        problem_(graph_.problem()),
        terms_(terms),
        distinct_(distinct) {
    for (const PhraseGraph::Phrases& one : graph_.phrases) {
      covers_.push_back(Coverage<W>::of_span(one.begin, one.end));
      double used = 0;
      for (Index i = one.begin; i < one.end; ++i) used += multipliers[i];
      used_.push_back(used);
    }
  }

  Hypothesis<W> make_start() const {
    Hypothesis<W> start{};
    start.state = problem_.begin();
    start.bound = relaxation_.outside(0, 0, 0) + relaxation_.offset();
    start.option = -1;
    return start;
  }

  // Calls taker.take(n', made) for each hypothesis that appending a phrase makes, n' words of which are translated,
  // unless its bound is below a threshold, taker.wants(n', bound) says that there is no room for it, or
  // taker.ignores(n', bound) that nobody even has to know of it. `parent` is what it remembers of where it comes from.
  template <class Taker>
  void expand(Index n, std::uint32_t parent, const Hypothesis<W>& from, double threshold, Taker& taker) {
    const double* cost = find_costs(from.row);
    const PhraseGraph::Node& node = graph_.nodes[from.row];
    const PhraseGraph::Reach& reach = graph_.reaches[node.reach];
    const Row* next = graph_.next.data() + graph_.nodes[node.base].next;
    const double* values = relaxation_.values(n, from.bits);
    heed_(reach.closed_count + 4 * reach.open_count);
    const double needed = threshold - (from.score - from.used + relaxation_.offset());
    const Source source{n, parent, from, threshold};
    for (const PhraseGraph::Range& range : reach.closed) {
      for (Index k = 0; k < range.count; ++k)
        if (cost[k] + values[range.first + k] >= needed && cost[k] != kNever<double>)
          append(source, static_cast<Column>(range.first + k), cost[k], -1, taker);
      cost += range.count;
    }
    for (const PhraseGraph::Range& range : reach.open)
      for (Index k = 0; k < range.count; ++k, ++cost, ++next)
        append(source, static_cast<Column>(range.first + k), *cost, *next, taker);
  }

 private:
  struct Source {
    Index n;
    std::uint32_t parent;
    const Hypothesis<W>& from;
    double threshold;
  };

  // The costs of a row's columns. Those of rows that refer to a base are made when they are first used.
  const double* find_costs(Row row) {
    const PhraseGraph::Node& node = graph_.nodes[row];
    const double* base = graph_.cost.get() + graph_.nodes[node.base].cost;
    if (node.base == row) return base;
    auto [place, is_new] = costs_.try_emplace(row);
    if (is_new) {
      const PhraseGraph::Reach& reach = graph_.reaches[node.reach];
      place->second.resize(reach.closed_count + reach.open_count);
      for (std::size_t k = 0; k < place->second.size(); ++k) place->second[k] = base[k] + node.backoff;
      for (std::size_t k = node.arc_begin; k < node.arc_end; ++k)
        place->second[graph_.arcs[k].place] = graph_.arcs[k].cost;
    }
    return place->second.data();
  }

  // Appends all phrases of a column to a hypothesis. Most are refused, so nothing is copied before.
  template <class Taker>
  void append(const Source& source, Column c, double cost, Row next, Taker& taker) const {
    const PhraseGraph::Phrases& one = graph_.phrases[c];
    const Hypothesis<W>& from = source.from;
    if (from.covered.overlaps(covers_[c])) return;
    const std::uint32_t bits = from.bits | relaxation_.bits(c);
    const Index after = source.n + one.end - one.begin;
    const double before = from.score - from.used + relaxation_.offset() + cost;
    bool is_checked = false;
    for (Index m = one.first; m < one.last; ++m) {
      const Option o = graph_.members[m];
      const Row row = c < graph_.closed ? graph_.row_of[o] : next;
      const double future = relaxation_.outside(after, bits, row);
      const double bound = before + relaxation_.weight(o) + future;
      if (bound < source.threshold || bound == kNever<double> || taker.ignores(after, bound)) continue;
      if (!is_checked && !can_return(from.covered | covers_[c], one.end, problem_.weights().limit)) return;
      is_checked = true;
      if (!taker.wants(after, bound)) continue;
      Hypothesis<W> made = from;
      made.covered = from.covered | covers_[c];
      made.bits = bits;
      made.used = from.used + used_[c];
      made.bound = bound;
      made.end = one.end;
      made.parent = source.parent;
      made.option = o;
      made.row = row;
      if (score(made, from, cost, future) && made.bound >= source.threshold) taker.take(after, made);
    }
  }

  // Gives a hypothesis its exact score, and reads its words; whether it may be.
  bool score(Hypothesis<W>& made, const Hypothesis<W>& from, double cost, double future) const {
    const Option o = made.option;
    if (graph_.is_exact()) {
      made.score = from.score + (cost + problem_.base(o));
      made.state = graph_.nodes[made.row].state;
    } else {
      const PhraseProblem::Extension found = problem_.extend(from.state, o);
      made.score = from.score + (problem_.jump(from.end, problem_.options().begin[o]) + found.score);
      made.state = found.state;
      made.bound = made.score - made.used + relaxation_.offset() + future;
    }
    if (distinct_) {
      made.text = from.text;
      for (const Word word : problem_.options().list_text(o)) made.text = hashing::mix(made.text, word);
    }
    if (!terms_.empty()) made.terms = terms_.read(from.terms, problem_.options().list_text(o));
    return made.terms >= 0;
  }

  const PhraseRelaxation& relaxation_;
  const PhraseGraph& graph_;
  const PhraseProblem& problem_;
  const ForbiddenTerms& terms_;
  bool distinct_;
  std::vector<Coverage<W>> covers_;  // [columns]
  std::vector<double> used_;         // [columns] the multipliers of its words
  std::unordered_map<Row, std::vector<double>> costs_;
  Heed heed_;
};

}  // namespace certus::translate
