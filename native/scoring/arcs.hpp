// Scores of arcs, siblings and grandparents: weights of their features, added up into the tables of
// syntax/dependency/arcs.hpp. A relation belongs to an arc: its best one is chosen with the arc, within the arc's
// score.
#pragma once

#include <algorithm>
#include <vector>

#include "scoring/weight_sums.hpp"
#include "syntax/dependency/arcs.hpp"

namespace certus::scoring {

using features::ArcKeys;
using features::ArcPart;
using features::ArcPlan;
using features::ArcWords;
using features::Places;
using syntax::Arcs;

// Whether a model scores nothing but arcs.
bool is_plain(const ArcPlan& plan);
// Whether a sentence takes so little work that it is parsed, and learned from, over all arcs.
bool is_small(const ArcPlan& plan, Index words);

// Which relations an arc may have: those of the root's arcs, and those of others.
struct Relations {
  Index count = 0;
  std::vector<char> of_root, of_others;  // [count]

  bool allows(Index head, Index relation) const { return (head == 0 ? of_root : of_others)[relation] != 0; }
};

// sums[r] = the sum of weights[place + r] over places, for r in 0..count-1.
void add_rows(const float* weights, const features::Place* places, Index size, Index count, float* sums);
void add_rows(const std::int16_t* weights, const features::Place* places, Index size, Index count, std::int32_t* sums);

template <class W>
void prefetch_rows(const W* weights, const features::PlaceList& places, Index count) {
  constexpr Index kLine = 64 / sizeof(W);
  for (const features::Place place : places) {
    for (Index r = 0; r < count; r += kLine) __builtin_prefetch(weights + place + r);
    __builtin_prefetch(weights + place + count - 1);  // rows begin anywhere in a line
  }
}

// A table of 2^bits weights, and as many more as there are relations.
template <class W>
class PartScorer {
 public:
  using Sum = WeightSum<W>;

  PartScorer(const ArcPlan& plan, const Relations& relations, const W* weights)
      : plan_(plan), relations_(relations), weights_(weights), sums_(static_cast<std::size_t>(relations.count)) {}

  // Hashes the words of a sentence; all that follows is about that sentence.
  void prepare(const ArcWords& words) {
    for (int part = 0; part < features::kArcParts; ++part)
      if (plan_.has(static_cast<ArcPart>(part))) keys_[part].prepare(plan_, static_cast<ArcPart>(part), words);
  }

  // scores[arc] and the best relation[arc]. `cost`: what is added to the score of each relation of an arc,
  // cost(arc, relation), or nothing.
  template <class Cost>
  void score_arcs(const Arcs& arcs, const Cost& cost, double* scores, Label* relation);
  void score_siblings(const Arcs& arcs, double* scores);
  void score_grandparents(const Arcs& arcs, double* scores);
  void score_grandsiblings(const Arcs& arcs, double* scores);
  // scores[m - 1][h] of all arcs with their best relations, [n][n + 1]; -inf from a word to itself.
  void score_all_arcs(Index n, double* scores);
  // The scores of all relations of one arc, those that it may not have included: [relations].
  const Sum* score_relations(Index head, Index modifier);

  const ArcKeys& keys(ArcPart part) const { return keys_[static_cast<int>(part)]; }

 private:
  void add_relations(const Places& places) {
    add_rows(weights_, places.relation.begin(), static_cast<Index>(places.relation.size()), relations_.count,
             sums_.data());
  }
  void prefetch(const Places& places) const {
    prefetch_weights(weights_, places.bare);
    prefetch_rows(weights_, places.relation, relations_.count);
  }
  template <class Find>
  void score_pairs(const Arcs& arcs, Index side, double* table, const Find& find);

  const ArcPlan& plan_;
  const Relations& relations_;
  const W* weights_;
  ArcKeys keys_[features::kArcParts];
  Places places_[2];
  AwaitedSums awaited_;
  std::vector<Sum> sums_, closed_[2];  // [relations]
  Index found_ = 0;
};

// The score of an arc under a coarse model, of its features and its cost; see PartTables::refine().
inline double refine_arc(double fine, double coarse, double cost, double cap) {
  return std::min(cap, fine - cost) + coarse + cost;
}

// The scores of a sentence's arcs and of the other parts that templates are of.
struct PartTables {
  std::vector<double> arcs, siblings, grandparents, grandsiblings;
  std::vector<Label> relation;  // [arcs]: the best one

  syntax::TreeScores<double> view() const {
    const auto data = [](const std::vector<double>& table) { return table.empty() ? nullptr : table.data(); };
    return {arcs.data(), data(siblings), data(grandparents), data(grandsiblings)};
  }

  template <class W, class Cost>
  void fill(PartScorer<W>& scorer, const ArcPlan& plan, const Arcs& over, const Cost& cost) {
    arcs.resize(static_cast<std::size_t>(over.size()));
    relation.resize(static_cast<std::size_t>(over.size()));
    scorer.score_arcs(over, cost, arcs.data(), relation.data());
    fill_others(scorer, plan, over);
  }

  // All but arcs.
  template <class W>
  void fill_others(PartScorer<W>& scorer, const ArcPlan& plan, const Arcs& over) {
    const auto fill_one = [&plan](ArcPart part, std::vector<double>& table, Index size, const auto& score) {
      table.resize(plan.has(part) ? static_cast<std::size_t>(size) : 0);
      if (plan.has(part)) score(table.data());
    };
    fill_one(ArcPart::sibling, siblings, over.siblings(), [&](double* out) { scorer.score_siblings(over, out); });
    fill_one(ArcPart::grandparent, grandparents, over.grandparents(),
             [&](double* out) { scorer.score_grandparents(over, out); });
    fill_one(ArcPart::grand_sibling, grandsiblings, over.grandsiblings(),
             [&](double* out) { scorer.score_grandsiblings(over, out); });
  }

  // Makes the scores of features refinements of coarse scores of arcs, which bound them from above: the features of an
  // arc add at most `cap` to its coarse score, and all parts that it is the last of, or that end a side, add at most 0.
  // What exceeds that is taken from the largest part. `coarse`: [arcs]; `costs`: what arcs have beside weights, or
  // null.
  void refine(const ArcPlan& plan, const Arcs& over, const double* coarse, const double* costs, double cap);
};

// Calls use(head, modifier, sibling, grandparent) for each pair of neighbours among the modifiers of a head, which are
// given in rising order: START and END of a side, and the grandparent of what the root has, are place n + 1.
template <class Use>
void visit_neighbours(Index head, Index grandparent, const std::vector<Label>& modifiers, Index n, const Use& use) {
  const Index none = n + 1;
  const auto right = std::upper_bound(modifiers.begin(), modifiers.end(), static_cast<Label>(head));
  Index previous = none;
  for (auto m = right; m != modifiers.begin(); previous = *m) use(head, Index{*--m}, previous, grandparent);
  use(head, none, previous, grandparent);
  previous = none;
  for (auto m = right; m != modifiers.end(); previous = *m++) use(head, Index{*m}, previous, grandparent);
  use(head, none, previous, grandparent);
}

// The same for all heads of a tree. `heads`: [n].
template <class Use>
void visit_siblings(const Label* heads, Index n, const Use& use) {
  std::vector<Label> modifiers;
  for (Index h = 0; h <= n; ++h) {
    modifiers.clear();
    for (Index m = 1; m <= n; ++m)
      if (heads[m - 1] == h) modifiers.push_back(static_cast<Label>(m));
    visit_neighbours(h, h == 0 ? n + 1 : Index{heads[h - 1]}, modifiers, n, use);
  }
}

// The features of an arc are found while the weights of the one before it come from memory.
template <class W>
template <class Cost>
void PartScorer<W>::score_arcs(const Arcs& arcs, const Cost& cost, double* scores, Label* relation) {
  const ArcKeys& keys = keys_[static_cast<int>(ArcPart::arc)];
  const auto find = [&](Index a) {
    if (a == arcs.size()) return;
    Places& next = places_[a % 2];
    next.clear();
    keys.arc(arcs.head(a), arcs.modifier(a), next);
    prefetch(next);
  };
  find(0);
  for (Index a = 0; a < arcs.size(); ++a) {
    find(a + 1);
    const Places& places = places_[a % 2];
    const auto bare = static_cast<double>(add_weights(weights_, places.bare));
    add_relations(places);
    const std::vector<char>& allowed = arcs.head(a) == 0 ? relations_.of_root : relations_.of_others;
    scores[a] = kNever<double>;
    for (Index r = 0; r < relations_.count; ++r) {
      if (!allowed[r]) continue;
      const double score = bare + (static_cast<double>(sums_[r]) + cost(a, r));
      if (score > scores[a]) scores[a] = score, relation[a] = static_cast<Label>(r);
    }
  }
}

template <class W>
void PartScorer<W>::score_all_arcs(Index n, double* scores) {
  const ArcKeys& keys = keys_[static_cast<int>(ArcPart::arc)];
  const Index N = n + 1, R = relations_.count;
  for (const bool root : {false, true}) {  // what a relation that is not allowed loses
    const std::vector<char>& allowed = root ? relations_.of_root : relations_.of_others;
    closed_[root].resize(static_cast<std::size_t>(R));
    for (Index r = 0; r < R; ++r) closed_[root][r] = allowed[r] ? Sum{0} : Sum{-(1 << 30)};
  }
  Index next = 0;
  const auto find = [&] {
    while (next < N * N && (next % N == 0 || next / N == next % N)) ++next;
    if (next == N * N) return;
    Places& out = places_[found_++ % 2];
    out.clear();
    keys.arc(next / N, next % N, out);
    prefetch(out);
    ++next;
  };
  found_ = 0;
  std::fill_n(scores, n * N, kNever<double>);
  find();
  Index done = 0;
  for (Index h = 0; h <= n; ++h)
    for (Index m = 1; m <= n; ++m) {
      if (m == h) continue;
      find();
      const Places& places = places_[done++ % 2];
      add_relations(places);
      const Sum* closed = closed_[h == 0].data();
      Sum best = sums_[0] + closed[0];
      for (Index r = 1; r < R; ++r) best = std::max(best, sums_[r] + closed[r]);
      if (best > Sum{-(1 << 29)})
        scores[(m - 1) * N + h] = static_cast<double>(add_weights(weights_, places.bare)) + static_cast<double>(best);
    }
}

template <class W>
auto PartScorer<W>::score_relations(Index head, Index modifier) -> const Sum* {
  places_[0].clear();
  keys_[static_cast<int>(ArcPart::arc)].arc(head, modifier, places_[0]);
  add_relations(places_[0]);
  return sums_.data();
}

// The pairs of neighbours of one side, previous before next; START and END are place n + 1.
template <class W>
template <class Find>
void PartScorer<W>::score_pairs(const Arcs& arcs, Index side, double* table, const Find& find) {
  const Index k = arcs.candidates(side), none = arcs.words() + 1;
  const auto word = [&](Index i) { return i < 0 || i >= k ? none : Index{arcs.modifier(arcs.candidate(side, i))}; };
  for (Index previous = 0; previous <= k; ++previous)
    for (Index next = previous; next <= k; ++next)
      awaited_.ask(weights_, table + previous * (k + 1) + next,
                   [&](Places& out) { find(side / 2, word(next), word(previous - 1), out); });
}

template <class W>
void PartScorer<W>::score_siblings(const Arcs& arcs, double* scores) {
  const ArcKeys& keys = keys_[static_cast<int>(ArcPart::sibling)];
  for (Index side = 0; side < arcs.sides(); ++side)
    score_pairs(arcs, side, scores + arcs.sibling(side, 0, 0),
                [&](Index h, Index m, Index s, Places& out) { keys.sibling(h, m, s, out); });
  awaited_.settle(weights_);
}

template <class W>
void PartScorer<W>::score_grandparents(const Arcs& arcs, double* scores) {
  const ArcKeys& keys = keys_[static_cast<int>(ArcPart::grandparent)];
  for (Index h = 0; h <= arcs.words(); ++h)
    for (Index p = 0; p < arcs.parents(h); ++p) {
      const Index g = h == 0 ? arcs.words() + 1 : Index{arcs.head(arcs.into(arcs.into_begin(h) + p))};
      for (Label a = arcs.begin(h); a < arcs.begin(h + 1); ++a)
        awaited_.ask(weights_, scores + arcs.grandparent(p, a),
                     [&](Places& out) { keys.grandparent(g, h, arcs.modifier(a), out); });
    }
  awaited_.settle(weights_);
}

template <class W>
void PartScorer<W>::score_grandsiblings(const Arcs& arcs, double* scores) {
  const ArcKeys& keys = keys_[static_cast<int>(ArcPart::grand_sibling)];
  for (Index side = 0; side < arcs.sides(); ++side)
    for (Index p = 0; p < arcs.parents(side / 2); ++p) {
      const Index h = side / 2, g = h == 0 ? arcs.words() + 1 : Index{arcs.head(arcs.into(arcs.into_begin(h) + p))};
      score_pairs(arcs, side, scores + arcs.grandsibling(side, p, 0, 0),
                  [&](Index head, Index m, Index s, Places& out) { keys.grand_sibling(g, head, m, s, out); });
    }
  awaited_.settle(weights_);
}

}  // namespace certus::scoring
