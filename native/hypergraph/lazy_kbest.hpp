// Derivations best first, each found when it is asked for: algorithm 3 of Huang & Chiang, "Better k-best parsing"
// (IWPT 2005), over any packed forest.
//
// A derivation of a node is an edge with a rank for each tail: the tail's derivation of that rank. A node keeps its
// derivations so far, in order, and a heap of candidates for the next. When a derivation is taken, its neighbours
// (one rank further at one tail) become candidates, for which the tails may have to go one derivation further.
//
// Departures: the recursion is a stack, since forests can be deep. A neighbour raises the rank of its last raised tail
// or of one after it only: so every derivation has one way to be reached, and no table of those seen is kept. Nodes
// that are asked for their best only, known from the inside pass, need no heap.
//
// A View tells of the forest, whose nodes and edges have int32 numbers; an edge is also what a leaf is derived by:
//   Index nodes()
//   double inside(v)            the score of the best derivation of v; -inf where there is none
//   Edge best(v)                an edge that attains it
//   void edges(v, use)          calls use(e) for the edges of v, not for what a leaf is derived by
//   Edge arity(e)               how many tails an edge has; 0 of what a leaf is derived by
//   Node tail(e, i)
//   double weight(e)
//   double term(e)              its weight and the insides of its tails, added up from left to right
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "base/types.hpp"

namespace certus {

template <class View>
class LazyKBest {
 public:
  using Node = std::int32_t;
  using Edge = std::int32_t;
  struct Item {
    double value;
    Edge edge;
    // The ranks of the first two tails, where the others' are 0; else, with the first below 0, a place in the pool.
    std::int32_t first = 0, second = 0;
  };

  explicit LazyKBest(View view) : view_(std::move(view)), lists_(static_cast<std::size_t>(view_.nodes())) {}

  // Whether a node has a derivation of this rank, which is found for it.
  bool has(Node goal, std::size_t wanted) {
    if (view_.inside(goal) == kNever<double>) return false;
    stack_.assign(1, {goal, wanted});
    while (!stack_.empty()) {
      const Frame frame = stack_.back();
      List& l = list(frame.node);
      if (l.found.size() > frame.rank || l.exhausted) {
        stack_.pop_back();
        continue;
      }
      Frame needs{};
      if (!advance(frame.node, l, &needs)) stack_.push_back(needs);
    }
    return list(goal).found.size() > wanted;
  }

  // A derivation that was found, or the best of a node that some derivation goes through.
  const Item& at(Node v, std::size_t rank) { return list(v).found[rank]; }
  std::int32_t rank(const Item& item, Edge i) const {
    if (item.first < 0) return pool_[place(item) + i];
    return i == 0 ? item.first : i == 1 ? item.second : 0;
  }
  Index expanded() const { return expanded_; }

 private:
  struct List {
    std::vector<Item> found, candidates;
    bool opened = false;     // candidates were filled
    bool exhausted = false;  // no further derivation exists
    Edge position = -1;      // the tail at which neighbours of the last one found are made next; -1: not begun
  };
  struct Frame {
    Node node;
    std::size_t rank;
  };
  static Index place(const Item& item) { return static_cast<Index>(~item.first) << 31 | item.second; }
  // Ties go to the lower edge, then to the lower ranks, or with more than two tails to what was made first.
  static bool worse(const Item& a, const Item& b) {
    if (a.value != b.value) return a.value < b.value;
    if (a.edge != b.edge) return a.edge > b.edge;
    if (a.first < 0 && b.first < 0) return place(a) > place(b);
    if (a.first < 0 || b.first < 0) return a.first < 0;
    return a.first != b.first ? a.first > b.first : a.second > b.second;
  }

  // The derivations of a node that has one, the best of them to begin with.
  List& list(Node v) {
    if (!lists_[v]) {
      lists_[v] = &made_.emplace_back();
      lists_[v]->found.push_back({view_.inside(v), view_.best(v)});
    }
    return *lists_[v];
  }

  // The best of every other edge become candidates.
  void open(Node v, List& l) {
    l.opened = true;
    view_.edges(v, [&](Edge e) {
      const double x = view_.term(e);
      if (x != kNever<double> && e != l.found[0].edge) l.candidates.push_back({x, e});
    });
    expanded_ += static_cast<Index>(l.candidates.size());
    std::make_heap(l.candidates.begin(), l.candidates.end(), worse);
  }

  // Finds the next derivation of v, or says what it needs for that.
  bool advance(Node v, List& l, Frame* needs) {
    if (!l.opened) open(v, l);
    const Item last = l.found.back();
    const Edge arity = view_.arity(last.edge);
    if (l.position < 0) {
      l.position = 0;
      for (Edge i = 0; i < arity; ++i)
        if (rank(last, i) > 0) l.position = i;
    }
    for (; l.position < arity; ++l.position) {
      const Node below = view_.tail(last.edge, l.position);
      const std::size_t further = static_cast<std::size_t>(rank(last, l.position)) + 1;
      const List& tail = list(below);
      if (tail.found.size() > further) neighbour(l, last, l.position);
      else if (!tail.exhausted) {
        *needs = {below, further};
        return false;
      }
    }
    if (l.candidates.empty()) {
      l.exhausted = true;
      return true;
    }
    std::pop_heap(l.candidates.begin(), l.candidates.end(), worse);
    l.found.push_back(l.candidates.back());
    l.candidates.pop_back();
    l.position = -1;
    return true;
  }

  // Adds the derivation that is one rank further than `last` at one tail.
  void neighbour(List& l, const Item& last, Edge position) {
    const Edge arity = view_.arity(last.edge);
    const Index place = static_cast<Index>(pool_.size());
    Item item{view_.weight(last.edge), last.edge, rank(last, 0) + (position == 0), rank(last, 1) + (position == 1)};
    for (Edge i = 0; i < arity; ++i) {
      const std::int32_t r = rank(last, i) + (i == position);
      if (arity > 2) pool_.push_back(r);
      item.value += list(view_.tail(last.edge, i)).found[r].value;  // in the order of View::term: values never rise
    }
    if (arity > 2) item.first = ~static_cast<std::int32_t>(place >> 31), item.second = place & 0x7fffffff;
    l.candidates.push_back(item);
    std::push_heap(l.candidates.begin(), l.candidates.end(), worse);
    ++expanded_;
  }

  const View view_;
  std::vector<List*> lists_;  // [nodes]: null before the node is asked for
  std::deque<List> made_;     // where they are
  std::vector<std::int32_t> pool_;
  std::vector<Frame> stack_;  // scratch
  Index expanded_ = 0;
};

}  // namespace certus
