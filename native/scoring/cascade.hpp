// Lattices of increasing order, each pruned by the posteriors of the one before (Müller et al. 2013, §2.2-2.4):
// coarse tags, labels, then states of 1, 2, ... labels with the transitions between them.
//
// Positions are 0 .. T+1: the first and the last hold the boundary alone, so that sentences begin and end with
// transitions like any other.
#pragma once

#include <vector>

#include "scoring/ngrams.hpp"
#include "scoring/tagset.hpp"

namespace certus::learn {

inline constexpr Index kMostOrder = 5;

// States with a posterior below these are dropped.
struct Thresholds {
  float groups = 0.01f;                                            // coarse tags
  float states[kMostOrder] = {0.01f, 0.01f, 0.01f, 0.01f, 0.01f};  // [n]: of the lattice of order n
};

// The lattice of one order n >= 1. A state stands for the last n labels: it is a pair of states of order n-1 at the
// position before and at its own. States of a position are sorted by `cur`; the edges into a state come from all states
// of the position before that have its `prev` as their `cur`.
struct Level {
  std::vector<std::uint32_t> begin;      // [positions + 1]: first state
  std::vector<std::uint32_t> prev, cur;  // [states]: states of the order below; at order 1 the candidate's number
  std::vector<Label> label;              // [states]: the last label; the number of labels at the boundary
  std::vector<Key> full, coarse;         // [states]: keys of its labels, and of their coarse tags
  std::vector<float> node;               // [states]: score of the state itself
  std::vector<std::uint32_t> from, edge_begin;   // [states], [states + 1]: first source and first edge
  std::vector<float> edge;                       // [edges]: score of the transition
  std::vector<double> alpha, beta, probability;  // [states]
  std::vector<double> edge_probability;          // [edges]
  std::vector<double> factor;                    // [edges]: exp of an edge's score and its target's
  std::vector<double> scale;                     // [positions]
  std::vector<std::uint32_t> back;               // [states]: best source
  std::vector<double> best;                      // [states]
  double log_partition = 0;

  std::uint32_t states(Index position) const { return begin[position + 1] - begin[position]; }
  void clear();
};

// The labels a token may have: all, or those listed, in ascending order.
struct Allowed {
  const Label* labels = nullptr;
  Index count = -1;  // negative: all
};

class Cascade {
 public:
  Cascade(const Tagset& tagset, Index order) : tagset_(tagset), order_(order), levels_(order + 1) {}

  Thresholds thresholds;
  bool remember = false;                // keeps the posteriors before pruning, which learning needs
  const std::uint8_t* legal = nullptr;  // [labels + 1][labels + 1], which label may follow which, or null
  bool pruned = false;                  // whether anything was dropped since `begin` that might be part of a path

  void begin(Index length);
  // The next token, by the scores of its units (one element more than there are units, which is 0): prunes coarse tags,
  // then labels. Returns how many labels stay; there is always one, unless none is allowed.
  Index token(const float* scores, const Allowed& allowed = {});
  // After the last token.
  void close();

  // The lattice of order n, after that of order n-1 (or the labels, for n = 1) was built, and pruned for n > 1.
  Level& build(Index n, const NgramTable& ngrams);
  void sum(Level& level, bool edges);   // posteriors of states (and of edges)
  double maximize(Level& level) const;  // fills `best` and `back`; the score of the best path, -inf without one
  std::uint32_t best_end(const Level& level) const;  // after `maximize`: the last state of the best path
  void trace(const Level& level, Label* labels) const;
  // The best paths after `maximize`, labels of [k][length] and scores of [k]; how many there are.
  Index best_paths(const Level& level, Index k, Label* labels, double* scores) const;
  // After `maximize` without a path: the first position that none reaches.
  Index died(const Level& level) const;
  // Drops states below a threshold, after `sum` and `maximize`; the best path always stays.
  void prune(Index n, float threshold);

  bool kept(std::size_t state) const { return kept_[state]; }
  Unit group_of(Label y) const { return y == tagset_.labels ? static_cast<Unit>(tagset_.groups) : tagset_.group[y]; }

  const Level& level(Index n) const { return levels_[n]; }
  Level& level(Index n) { return levels_[n]; }
  Index length() const { return length_; }
  Index order() const { return order_; }
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
  void join_candidates(Level& level);
  void merge_states(Level& level, const Level& below);
  void score_edges(Level& level, const NgramTable& ngrams, bool pairs);
  float factorize(Level& level, Index t);

  const Tagset& tagset_;
  Index order_, length_ = 0;
  std::vector<Level> levels_;       // [0] holds the candidates as states, without transitions
  std::vector<std::uint8_t> kept_;  // [states] of the level pruned last
  std::vector<float> scratch_;
  std::vector<Index> groups_;              // coarse tags that a token may have, then those that stay
  std::vector<std::pair<Key, Key>> keys_;  // of the edges of a position
  std::vector<Label> expanded_;
  std::vector<float> expanded_score_;
};

// Replaces x[i] by exp(x[i] - shift); returns the sum. What is far below the shift stays above 0.
float exponentiate(float* x, Index n, float shift);
float largest(const float* x, Index n);

}  // namespace certus::learn
