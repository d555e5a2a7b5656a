// The degenerate lattice of one sentence: Kaji et al. 2010, sections 3.1 to 3.3.
//
// Every column holds its active labels that are not pruned and, while there are others, one node for the rest.
// A pass in either direction refreshes one of the two bounds of every node, and prunes with both. Departures:
// - Bounds are kept without the node's own score. A label that leaves the rest inherits those of the rest but
//   counts its own emission, so most labels are pruned in the moment they are activated.
// - The bounds start as the naive ones (Huang et al. 2012, equation 9) instead of infinity, so that the first
//   pass prunes as well.
// - Where a lower bound is known before the first pass, a label that leaves the rest is also bounded by the best ways
// to
//   the column before and from the one after, with its own best transitions.
// - Labels of any rank may be active from the start: those of a list of paths, for instance.
// - No back-pointers: the few paths that are wanted are found again by re-scoring, as in viterbi.hpp.
// All sums are in double, whatever the scores are held in: integer scores stay exact.
#pragma once

#include "chain/search/columns.hpp"
#include "chain/search/degenerate_labels.hpp"
#include "chain/search/selected_sparse_transitions.hpp"
#include "chain/search/selected_transitions.hpp"
#include "chain/solver.hpp"

namespace certus {

template <class Tr>
class DegenerateLattice {
 public:
  using S = typename Tr::Score;

  struct Column {
    Index level = 0;    // labels of rank below 2^level were activated
    Index active = 0;   // how many of them are left
    bool rest = false;  // whether a node for the other labels follows them
    Index capacity = 0;
    Label* rank = nullptr;   // [size], increasing
    Label* label = nullptr;  // [size], the rest's is kRest
    double* node = nullptr;  // [size]: the node's own score
    double* in = nullptr;    // [size]: no path from the start scores more before it reaches the node,
    double* out = nullptr;   // [size]: and none more after it has left it
    double* pure = nullptr;  // [size]: in or out, as the last pass went, over active labels only; these are real
    S* rests = nullptr;      // [levels]: the node score of the rest at each level
    S* ranked = nullptr;     // [labels]: node scores by rank, -inf where active from the start; in narrow lattices
    bool adjoining = true;   // whether ranks follow each other without a gap

    Index size() const { return active + rest; }
    Selection selection() const { return {rank, label, active, adjoining}; }
  };
  static constexpr Label kRest = -1;

  // Starts with 2^level active labels per column. `trellis`, `counters` and `arena` must outlive this.
  DegenerateLattice(const Trellis<Tr>& trellis, Index level, Counters& counters, Arena& arena)
      : trellis_(trellis), counters_(counters), arena_(arena) {
    for (Index t = 0; t < length(); ++t, heed_(trellis.labels)) open(t);
    naive_bounds({});
    for (Index t = 0; t < length(); ++t)
      while (columns_[t].rest && columns_[t].level < level) expand(t, kNever<double>);
  }
  // A narrow one, for where it is known what paths have to score: besides one label per column, those of some columns
  // are active from the start, as far as they may reach `least`.
  struct Start {
    const certus::Column* columns = nullptr;  // [T], or none
    double least = kNever<double>;
  };
  DegenerateLattice(const Trellis<Tr>& trellis, const Start& start, Counters& counters, Arena& arena)
      : trellis_(trellis), counters_(counters), arena_(arena) {
    into_ = rank(trellis.model->bounds().incoming_rounded.data());
    onward_ = rank(trellis.model->bounds().leave_rounded.data());
    for (Index t = 0; t < length(); ++t, heed_(2 * trellis.labels)) {
      columns_[t] = Column{};
      columns_[t].ranked = rank(trellis.node(t));
      if (start.columns) take_out(columns_[t], start.columns[t]);
      find_rests(columns_[t]);
    }
    naive_bounds(start);
  }

  Index length() const { return trellis_.length; }
  const Column& column(Index t) const { return columns_[t]; }
  const DegenerateTables<S>& tables() const { return tables_; }

  // Refreshes `in` from left to right, or `out` from right to left, and removes the nodes that no path of score
  // `least` or more goes through. Returns the score of the best path of this trellis: an upper bound on all paths
  // that reach `least`, and -inf when there is none.
  double forward(double least) {
    begin(true);
    for (Index t = 0; t < length(); ++t) {
      Column& c = columns_[t];
      std::fill(c.in, c.in + c.size(), t ? kNever<double> : 0.0);
      std::copy_n(c.in, c.size(), c.pure);
      if (t > 0) arrive(t);
      heed_(4 * c.size() + counters_.edges - heeded_), heeded_ = counters_.edges;
      if (!settle(c, least) || is_exhausted()) return kNever<double>;
    }
    return best();
  }

  double backward(double least) {
    begin(false);
    for (Index t = length() - 1; t >= 0; --t) {
      Column& c = columns_[t];
      if (t < length() - 1) {
        depart(t);
      } else {
        std::fill(c.out, c.out + c.size(), 0.0);
        std::fill(c.pure, c.pure + c.size(), 0.0);
      }
      heed_(4 * c.size() + counters_.edges - heeded_), heeded_ = counters_.edges;
      if (!settle(c, least) || is_exhausted()) return kNever<double>;
    }
    return best();
  }

  // Doubles the active labels of column t, if it has a rest, until they are those of `level` at least. Those that
  // cannot reach `least` do not stay.
  void expand(Index t, double least, Index level = 0) {
    Column& c = columns_[t];
    if (!c.rest) return;
    const double in = c.in[c.active], out = c.out[c.active];
    const Index begin = tables_.active(c.level);
    c.level = std::min(std::max(c.level + 1, level), tables_.levels);
    activate(c, t, begin, tables_.active(c.level), in, out, least);
  }

  // The active labels.
  certus::Column* copy_columns() const {
    certus::Column* copies = arena_.template get<certus::Column>(length());
    for (Index t = 0; t < length(); ++t) {
      certus::Column& copy = copies[t] = {};
      const Column& c = columns_[t];
      copy.count = c.active, copy.label = c.label, copy.own = c.node;
    }
    return copies;
  }
  // Passes end early when so many transitions were scored; what they return means nothing then.
  void limit_edges(Index most) { most_edges_ = counters_.edges + most; }
  bool is_exhausted() const { return counters_.edges > most_edges_; }

  // Everything below reads the trellis in the order of the last pass: place s is position s after a forward pass,
  // and position T - 1 - s after a backward one.
  Index position(Index s) const { return forward_ ? s : length() - 1 - s; }
  const Column& place(Index s) const { return columns_[position(s)]; }
  double prefix(Index s, Index i) const { return place(s).node[i] + (forward_ ? place(s).in : place(s).out)[i]; }
  double pure_prefix(Index s, Index i) const { return place(s).node[i] + place(s).pure[i]; }

  // The scores of going to node j at place s + 1 from every node at place s.
  const S* arrivals(Index s, Index j, S* buffer) const {
    return forward_ ? entering(s, j, buffer) : links(length() - 2 - s, j, buffer);
  }

  // One of these.
  S link(Index s, Index i, Index j) const { return forward_ ? edge(s, i, j) : edge(length() - 2 - s, j, i); }

  // The scores of going from node i of column t to every node of column t + 1.
  const S* links(Index t, Index i, S* buffer) const {
    const Column& n = columns_[t + 1];
    const S* active = active_links(t, i, buffer);
    if (active != buffer) std::copy_n(active, n.active, buffer);
    if (n.rest) buffer[n.active] = into_rest(columns_[t], i, n);
    return buffer;
  }

  // The best path, or the best among active labels, to node `last` at the last place: path[t] is an index into
  // column t.
  void trace(Index last, bool pure, Index* path) const {
    Index s = length() - 1;
    path[position(s)] = last;
    while (--s >= 0) {
      const S* x = arrivals(s, path[position(s + 1)], links_);
      const Index n = pure ? place(s).active : place(s).size();
      double most = kNever<double>;
      Index from = 0;
      for (Index i = 0; i < n; ++i) {
        const double value = (pure ? pure_prefix(s, i) : prefix(s, i)) + static_cast<double>(x[i]);
        if (value > most) most = value, from = i;
      }
      path[position(s)] = from;
      heed_(2 * n);
    }
  }

  // Where the best path ends.
  Index best_end() const {
    const Index s = length() - 1;
    Index best = 0;
    for (Index i = 1; i < place(s).size(); ++i)
      if (prefix(s, i) > prefix(s, best)) best = i;
    return best;
  }

 private:
  void open(Index t) {
    Column& c = columns_[t] = Column{};
    const S* node = trellis_.node(t);
    find_rests(c, [&](Index begin, Index end) { return largest_at(node, tables_.order.data() + begin, end - begin); });
  }
  void find_rests(Column& c) {
    find_rests(c, [&](Index begin, Index end) { return largest(c.ranked + begin, end - begin); });
  }
  template <class Largest>
  void find_rests(Column& c, const Largest& find_largest) {
    if (!c.rests) c.rests = arena_.template get<S>(tables_.levels);
    S most = kNever<S>;
    for (Index m = tables_.levels - 1; m >= 0; --m)
      c.rests[m] = most = std::max(most, find_largest(tables_.active(m), tables_.active(m + 1)));
  }
  S* rank(const S* row) {
    S* out = arena_.template get<S>(trellis_.labels);
    gather(out, row, tables_.order.data(), trellis_.labels);
    return out;
  }

  // Activates the first label of every column, with the sums of the largest scores before and after as bounds. Done
  // once, so it is kept out of the constructors, which are inlined into every solver.
  [[gnu::noinline]] void naive_bounds(const Start& start) {
    const Index T = length();
    const double across = largest_transition(*trellis_.model);
    double* most = arena_.template get<double>(T);
    double* ahead = arena_.template get<double>(T);
    for (Index t = T - 1; t >= 0; --t) {
      most[t] = static_cast<double>(largest(trellis_.node(t), trellis_.labels));
      ahead[t] = t == T - 1 ? 0.0 : ahead[t + 1] + across + most[t + 1];
    }
    double behind = 0;
    for (Index t = 0; t < T; ++t) {
      if (start.columns) activate_some(columns_[t], t, start.columns[t], behind, ahead[t], start.least);
      activate(columns_[t], t, 0, 1, behind, ahead[t], start.least);
      behind += most[t] + across;
    }
  }

  // Takes some labels, whatever their rank, out of the rest,
  void take_out(Column& c, const certus::Column& some) {
    for (Index n = 0; n < some.count; ++n) c.ranked[tables_.rank[some.label[n]]] = kNever<S>;
  }
  // and makes them active.
  void activate_some(Column& c, Index t, const certus::Column& some, double in, double out, double least) {
    const S* node = trellis_.node(t);
    for (Index n = 0; n < some.count; ++n) {
      const Label y = some.label[n];
      c.active += append(c, tables_.rank[y], y, static_cast<double>(node[y]), in, out, least);
    }
  }

  // Makes the labels of ranks [begin, end) active with the bounds given, and those after them the rest.
  void activate(Column& c, Index t, Index begin, Index end, double in, double out, double least) {
    const S* node = trellis_.node(t);
    const Index before = c.active;
    c.rest = false;
    if (c.ranked) {
      activate_reaching(c, t, begin, end, in, out, least);
    } else {
      for (Index r = begin; r < end; ++r) {
        const Label y = tables_.order[r];
        c.active += append(c, r, y, static_cast<double>(node[y]), in, out, least);
      }
    }
    counters_.activated += end - begin;
    counters_.pruned += end - begin - (c.active - before);
    if (tables_.has_rest(c.level))
      c.rest = append(c, end, kRest, static_cast<double>(c.rests[c.level]), in, out, least);
  }
  // The same for those that may reach `least` by their own transitions, too.
  void activate_reaching(Column& c, Index t, Index begin, Index end, double in, double out, double least) {
    const S* const nothing = trellis_.model->bounds().nothing.data();
    const bool inner = t > 0 && columns_[t - 1].size(), follows = t + 1 < length() && columns_[t + 1].size();
    const S* const into = inner ? into_ + begin : nothing;
    const S* const onward = follows ? onward_ + begin : nothing;
    ReachBounds reach{in, in, out, out, least};
    if (inner) reach.behind = find_most(columns_[t - 1], columns_[t - 1].in);
    if (follows) reach.ahead = find_most(columns_[t + 1], columns_[t + 1].out);
    const Index hits = reaching(hits_, c.ranked + begin, into, onward, reach, end - begin);
    for (Index n = 0; n < hits; ++n) {
      const Index r = begin + hits_[n];
      const double arrive = std::min(in, reach.behind + static_cast<double>(into[hits_[n]]));
      const double depart = std::min(out, reach.ahead + static_cast<double>(onward[hits_[n]]));
      c.active += append(c, r, tables_.order[r], static_cast<double>(c.ranked[r]), arrive, depart, least);
    }
  }
  static double find_most(const Column& c, const double* bound) {
    double most = kNever<double>;
    for (Index i = 0; i < c.size(); ++i) most = std::max(most, c.node[i] + bound[i]);
    return most;
  }

  static bool useless(double bound, double least) { return bound < least || bound == kNever<double>; }

  // Writes a node after the active ones, unless it cannot be part of a path of score `least`.
  bool append(Column& c, Index rank, Label label, double node, double in, double out, double least) {
    if (useless(in + node + out, least)) return false;
    const Index n = c.active;
    if (n == c.capacity) grow(c);
    if (label != kRest) c.adjoining = n == 0 || (c.adjoining && rank == c.rank[n - 1] + 1);
    c.rank[n] = static_cast<Label>(rank), c.label[n] = label;
    c.node[n] = node, c.in[n] = in, c.out[n] = out;
    return true;
  }

  void grow(Column& c) {
    const Index capacity = std::max<Index>(8, 2 * c.capacity);
    const auto move = [&](auto*& array) {
      using X = std::remove_reference_t<decltype(*array)>;
      X* larger = arena_.template get<X>(capacity);
      std::copy_n(array, c.active, larger);
      array = larger;
    };
    move(c.rank), move(c.label), move(c.node), move(c.in), move(c.out), move(c.pure);
    c.capacity = capacity;
  }

  void begin(bool forward) {
    forward_ = forward;
    ++counters_.iterations;
  }

  // What paths score up to and with the nodes of a column, on the side of `bound`.
  void take_totals(const Column& c, const double* bound) {
    for (Index i = 0; i < c.size(); ++i) total_[i] = c.node[i] + bound[i], pure_total_[i] = c.node[i] + c.pure[i];
  }

  void arrive(Index t) {
    const Column& p = columns_[t - 1];
    Column& c = columns_[t];
    take_totals(p, p.in);
    counters_.edges += p.size() * c.size() - p.active * c.active;
    counters_.edges += selected_.arrive(t - 1, p.selection(), total_, pure_total_, c.selection(), c.in, c.pure, links_);
    if (p.rest)
      raise_both(c.in, c.pure, total_[p.active], kNever<double>, active_links(t - 1, p.active, links_), c.active);
    if (c.rest)
      for (Index i = 0; i < p.size(); ++i)
        c.in[c.active] = std::max(c.in[c.active], total_[i] + static_cast<double>(into_rest(p, i, c)));
  }

  void depart(Index t) {
    const Column& n = columns_[t + 1];
    Column& c = columns_[t];
    take_totals(n, n.out);
    counters_.edges += n.size() * c.size() - n.active * c.active;
    counters_.edges += selected_.depart(t, c.selection(), n.selection(), total_, pure_total_, c.out, c.pure, links_);
    if (c.rest)
      largest_sums(total_, pure_total_, active_links(t, c.active, links_), n.active, c.out + c.active,
                   c.pure + c.active);
    if (n.rest)
      for (Index i = 0; i < c.size(); ++i)
        c.out[i] = std::max(c.out[i], total_[n.active] + static_cast<double>(into_rest(c, i, n)));
  }

  // Ends the work on a column: prunes it and tells whether any node is left.
  bool settle(Column& c, double least) {
    if (c.rest) c.pure[c.active] = kNever<double>;
    Index kept = 0;
    const Index size = c.size();
    c.adjoining = true;
    for (Index i = 0; i < size; ++i) {
      if (useless(c.in[i] + c.node[i] + c.out[i], least)) continue;
      if (kept > 0 && c.label[i] != kRest) c.adjoining = c.adjoining && c.rank[i] == c.rank[kept - 1] + 1;
      c.rank[kept] = c.rank[i], c.label[kept] = c.label[i], c.node[kept] = c.node[i];
      c.in[kept] = c.in[i], c.out[kept] = c.out[i], c.pure[kept] = c.pure[i];
      ++kept;
    }
    counters_.pruned += size - kept;
    c.rest = c.rest && kept > 0 && c.label[kept - 1] == kRest;
    c.active = kept - c.rest;
    return kept > 0;
  }

  double best() const { return prefix(length() - 1, best_end()); }

  // The scores of going from node i of column t to the active labels of column t + 1.
  const S* active_links(Index t, Index i, S* buffer) const {
    const Column &c = columns_[t], &n = columns_[t + 1];
    if (c.label[i] != kRest) return selected_.leaving(t, c.selection().from(i), n.selection(), buffer);
    gather(buffer, tables_.entering(c.level), n.label, n.active);
    return buffer;
  }

  S into_rest(const Column& c, Index i, const Column& next) const {
    if (c.label[i] == kRest) return tables_.between[c.level * tables_.levels + next.level];
    return tables_.leaving(next.level)[c.label[i]];
  }

  S edge(Index t, Index i, Index j) const {
    const Column &c = columns_[t], &n = columns_[t + 1];
    if (n.label[j] == kRest) return into_rest(c, i, n);
    if (c.label[i] == kRest) return tables_.entering(c.level)[n.label[j]];
    return trellis_.at(t, c.label[i], n.label[j]);
  }

  // The scores of going from every node of column t to node j of column t + 1.
  const S* entering(Index t, Index j, S* buffer) const {
    const Column &c = columns_[t], &n = columns_[t + 1];
    if (n.label[j] == kRest) {
      gather(buffer, tables_.leaving(n.level), c.label, c.active);
      if (c.rest) buffer[c.active] = into_rest(c, c.active, n);
      return buffer;
    }
    selected_.entering(t, c.selection(), n.selection().from(j), buffer);
    if (c.rest) buffer[c.active] = tables_.entering(c.level)[n.label[j]];
    return buffer;
  }

  const Trellis<Tr>& trellis_;
  Counters& counters_;
  Arena& arena_;
  const S *into_ = nullptr, *onward_ = nullptr;  // [labels]: the best transitions into a label and out of it by rank
  const DegenerateTables<S>& tables_ = degenerate_tables(*trellis_.model);
  Selected<Tr> selected_{trellis_, tables_, arena_};
  Column* columns_ = arena_.get<Column>(trellis_.length);
  S* links_ = arena_.get<S>(trellis_.labels + 1);
  Label* hits_ = arena_.get<Label>(trellis_.labels);
  double* total_ = arena_.get<double>(trellis_.labels + 1);
  double* pure_total_ = arena_.get<double>(trellis_.labels + 1);
  bool forward_ = true;
  mutable Heed heed_;
  Index heeded_ = 0;  // edges that it knows of
  Index most_edges_ = std::numeric_limits<Index>::max();
};

}  // namespace certus
