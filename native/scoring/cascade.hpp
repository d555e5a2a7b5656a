// Lattices of increasing order, each pruned by the posteriors of the one before (Müller et al. 2013, §2.2-2.4):
// coarse tags, labels, then states of 1, 2, ... labels with the transitions between them.
//
// Positions are 0 .. T+1: the first and the last hold the boundary alone, so that sentences begin and end with
// transitions like any other.
#pragma once

#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "lattice/best_path.hpp"
#include "lattice/sums.hpp"
#include "scoring/group_bounds.hpp"
#include "scoring/ngram_bounds.hpp"
#include "scoring/tagset.hpp"

namespace certus::scoring {

inline constexpr Index kMostOrder = 5;

// States with a posterior below these are dropped, and edges that would become states of the next order.
struct Thresholds {
  float groups = 0.01f;                                            // coarse tags
  float states[kMostOrder] = {0.01f, 0.01f, 0.01f, 0.01f, 0.01f};  // [n]: of the lattice of order n
  float edges[kMostOrder] = {};
};

// The lattice of one order n >= 1. A state stands for the last n labels: it is a pair of states of order n-1 at the
// position before and at its own. States of a position are sorted by `cur`; the edges into a state come from all states
// of the position before that have its `prev` as their `cur`. Nodes and edges are in single precision.
struct Level : lattice::Lattice {
  std::vector<std::uint32_t> prev, cur;  // [states]: states of the order below; at order 1 the candidate's number
  std::vector<Key> full, coarse;         // [states]: keys of its labels, and of their coarse tags

  void clear() {
    lattice::Lattice::clear();
    prev.clear(), cur.clear(), full.clear(), coarse.clear();
  }
};

// The labels a token may have: all, or those listed, in ascending order.
struct Allowed {
  const Label* labels = nullptr;
  Index count = -1;  // negative: all
};

class Cascade {
 public:
  Cascade(const Tagset& tagset, Index order);

  Thresholds thresholds;
  lattice::Sums sums;                   // of the level summed last
  lattice::PathMemory paths;            // of the level whose best path was found last,
  lattice::BestPath best;               // which this is
  bool remember = false;                // keeps the posteriors before pruning, which learning needs
  const std::uint8_t* legal = nullptr;  // [labels + 1][labels + 1], which label may follow which, or null
  bool pruned = false;                  // whether anything was dropped since `begin` that might be part of a path
  bool limited = false;                 // whether any of it was because there would be too many edges
  bool several = false;                 // whether many paths are wanted: then as many edges stay as there may be
  // If given, what is dropped at tokens is bounded, unless that is done later.
  const NgramBounds* bounds = nullptr;
  bool bounds_rest = true;
  const GroupBounds* group_bounds = nullptr;

  void begin(Index length);
  // The next token, by the scores of its units (one element more than there are units, which is 0): prunes coarse tags,
  // then labels. Returns how many labels stay; there is always one, unless none is allowed.
  Index token(const float* scores, const Allowed& allowed = {});
  // After the last token.
  void close();

  // The lattice of order n, after that of order n-1 (or the labels, for n = 1) was built, and pruned for n > 1.
  Level& build(Index n, const NgramTable& ngrams);
  // The best path of a level, which `paths` then leads along.
  const lattice::BestPath& find_best(const Level& level) { return best = find_best_path(level, paths); }
  // Drops states below a threshold, by their sums, after `find_best`; the best path always stays. With 0, all stay,
  // and sums are not needed. With a threshold for edges, those below it, by their sums, lead to no state of order n
  // + 1.
  void prune(Index n, float threshold, float edge_threshold = 0);
  // Whether a state of order n stayed, after that level was pruned.
  bool kept(Index n, std::size_t state) const { return kept_[n][state]; }
  const std::uint8_t* kept(Index n) const { return kept_[n].data(); }
  // Whether an edge between two such states is a state of order n + 1; and whether two states of neighbouring positions
  // are, which the second has an edge from.
  bool kept_edge(Index n, std::size_t edge) const { return kept_edge_[n].empty() || kept_edge_[n][edge]; }
  bool is_joined(Index n, std::uint32_t before, std::uint32_t state) const {
    const Level& level = levels_[n];
    return kept_[n][before] && kept_[n][state] && kept_edge(n, level.edge_begin[state] + (before - level.from[state]));
  }

  // With `bounds`: of each coarse tag what the best label may score that is no candidate, with n-grams of labels around
  // it; -inf where none may be better than what is known.
  RestRow rest(Index t) const {
    const float* const own = rest_.data() + (t - 1) * kRestRows * bounds->stride();
    return {own, own + bounds->stride(), own + 2 * bounds->stride()};
  }
  RestScore rest(Index t, Index group) const {
    return {rest(t).own[group], rest(t).ending[group], rest(t).around[group]};
  }
  void set_rest(Index t, Index group, const RestScore& score);
  void raise_rest(Index t, Label y, float score);
  // Brings what is known of a coarse tag as close as its labels' units allow; false if it is already.
  bool refine_rest(Index t, Index group, const float* scores);
  // The scores of such labels of a coarse tag, by their place in `bounds`, once there is a lattice of order 1.
  void score_dropped(Index t, Index group, const float* scores, const Allowed& allowed, float* places) const;
  // After `close`: whether a label is a candidate; adds others, in the order of positions.
  struct Taken {
    Index position;
    Label label;
    float score;
  };
  bool has_candidate(Index t, Label label) const;
  // What a candidate scores by itself, once there is a lattice of order 1; null if a label is none.
  const double* find_score(Index t, Label label) const;
  void add_candidates(const std::vector<Taken>& labels);
  std::span<const Label> paths_to_keep;  // [sequences][T]: labels whose states always stay; they must be candidates
  // Whether lattices may have so many edges.
  bool is_too_much(Index edges) const;
  Unit group_of(Label y) const { return y == tagset_.labels ? static_cast<Unit>(tagset_.groups) : tagset_.group[y]; }

  const Level& level(Index n) const { return levels_[n]; }
  Level& level(Index n) { return levels_[n]; }
  Index length() const { return length_; }
  const Tagset& tagset() const { return tagset_; }

  // With `remember`: the posteriors of all coarse tags, and of all labels whose coarse tag stayed.
  std::vector<float> group_probability;  // [T][groups]
  struct Candidate {
    Label label;
    float score, probability;
  };
  std::vector<Candidate> labels;           // of all tokens
  std::vector<std::uint32_t> label_begin;  // [T + 1]
  Index groups_kept = 0;                   // coarse tags that stayed, summed over tokens; the caller sets it back

 private:
  void add_state(Level& level, std::uint32_t prev, std::uint32_t cur, Label label, Key full, Key coarse, float node);
  void add_boundary();
  void expand(const float* scores);
  void expand(const float* scores, const Allowed& allowed);
  float keep_groups(const float* scores);
  void find_rest(const float* scores, const Allowed& allowed);
  void bound_groups(const float* scores, Index t);
  void bound_merged(const float* scores, Index t);
  float* rest_row(Index t, Index row) { return rest_.data() + ((t - 1) * kRestRows + row) * bounds->stride(); }
  void join_candidates(Level& level);
  void merge_states(Level& level, Index n);
  void score_edges(Level& level, const NgramTable& ngrams, Index n);
  void ask_labels(const Level& level, const NgramTable& ngrams, std::uint32_t s);
  void score_tags(Level& level, const NgramTable& ngrams, Index n, std::uint32_t s, std::uint32_t before);
  Index edges_per_token() const;
  void limit_candidates();
  void keep_path(Index n, const Label* path, std::uint32_t* states, std::vector<std::uint8_t>& kept) const;
  void limit_states(const Level& level, std::vector<std::uint8_t>& kept);
  Index count_next_edges(Index n) const;
  void keep_edges(Index n, float threshold);

  const Tagset& tagset_;
  Index length_ = 0;
  std::vector<Level> levels_;  // [0] holds the candidates as states, without transitions
  std::vector<std::vector<std::uint8_t>> kept_{levels_.size() + 1};       // [order][states] of levels that were pruned
  std::vector<std::vector<std::uint8_t>> kept_edge_{levels_.size() + 1};  // [order][edges], empty where all stay
  // Of each token the rows of RestRow, and what the units of coarse tags add up to where they were not looked at yet.
  static constexpr Index kRestRows = 4;
  std::vector<float> rest_;  // [T][kRestRows][bounds->stride()]
  std::vector<float> scratch_, columns_;
  std::vector<Index> groups_;                        // coarse tags that a token may have, then those that stay
  std::vector<std::pair<Key, std::uint32_t>> keys_;  // of n-grams of a position, and the edges that they score;
  std::size_t asked_ = 0;                            // how many there are
  std::vector<Unit> first_tags_;                     // of the states before
  std::vector<Label> expanded_;
  std::vector<float> expanded_score_;
  std::vector<double> largest_;
  std::vector<std::uint32_t> path_states_;  // [sequences][positions]: of the level that was pruned last
  Heed heed_;
};

}  // namespace certus::scoring
