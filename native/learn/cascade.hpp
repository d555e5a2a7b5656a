// Lattices of increasing order, each pruned by the posteriors of the one before (Müller et al. 2013, §2.2-2.4):
// coarse tags, labels, then states of 1, 2, ... labels with the transitions between them.
//
// Positions are 0 .. T+1: the first and the last hold the boundary alone, so that sentences begin and end with
// transitions like any other.
#pragma once

#include <vector>

#include "learn/ngrams.hpp"
#include "learn/tagset.hpp"

namespace certus::learn {

inline constexpr Index kMostOrder = 5;

// States with a posterior below these are dropped.
struct Thresholds {
  float groups = 0.01f;             // coarse tags
  float states[kMostOrder] = {0.01f, 0.01f, 0.01f, 0.01f, 0.01f};  // [n]: of the lattice of order n
};

// The lattice of one order n >= 1. A state stands for the last n labels: it is a pair of states of order n-1 at the
// position before and at its own. States of a position are sorted by `cur`; the edges into a state come from all states
// of the position before that have its `prev` as their `cur`.
struct Level {
  std::vector<std::uint32_t> begin;            // [positions + 1]: first state
  std::vector<std::uint32_t> prev, cur;        // [states]: states of the order below; at order 1 the candidate's number
  std::vector<Label> label;                    // [states]: the last label; the number of labels at the boundary
  std::vector<Key> full, coarse;               // [states]: keys of its labels, and of their coarse tags
  std::vector<float> node;                     // [states]: score of the state itself
  std::vector<std::uint32_t> from, edge_begin; // [states], [states + 1]: first source and first edge
  std::vector<float> edge;                     // [edges]: score of the transition
  std::vector<double> alpha, beta, probability;   // [states]
  std::vector<double> edge_probability;        // [edges]
  std::vector<float> factor;                   // [edges]
  std::vector<double> scale;                   // [positions]
  std::vector<std::uint32_t> back;             // [states]: best source
  std::vector<double> best;                    // [states]
  double log_partition = 0;

  std::uint32_t states(Index position) const { return begin[position + 1] - begin[position]; }
  void clear();
};

class Cascade {
 public:
  Cascade(const Tagset& tagset, Index order) : tagset_(tagset), order_(order), levels_(order + 1) {}

  Thresholds thresholds;
  bool remember = false;  // keeps the posteriors before pruning, which learning needs

  void begin(Index length);
  // The next token, by the scores of its units: prunes coarse tags, then labels.
  void token(const float* scores);
  // After the last token.
  void close();

  // The lattice of order n, after that of order n-1 (or the labels, for n = 1) was built, and pruned for n > 1.
  Level& build(Index n, const NgramTable& ngrams);
  void sum(Level& level, bool edges) const;     // posteriors of states (and of edges)
  double maximize(Level& level) const;          // fills `best` and `back`; the score of the best path
  void trace(const Level& level, Label* labels) const;
  // Drops states below a threshold; the best path always stays.
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
  double local_log_partition = 0;          // of the lattice of labels; that of coarse tags:
  double group_log_partition = 0;
  Index groups_kept = 0;                   // coarse tags that stayed, summed over tokens; the caller sets it back

 private:
  void add_state(Level& level, std::uint32_t prev, std::uint32_t cur, Label label, Key full, Key coarse, float node);

  const Tagset& tagset_;
  Index order_, length_ = 0;
  std::vector<Level> levels_;              // [0] holds the candidates as states, without transitions
  std::vector<std::uint8_t> kept_;         // [states] of the level pruned last
  std::vector<float> scratch_;
  std::vector<Label> expanded_;
  std::vector<float> expanded_score_;
};

// Replaces x[i] by exp(x[i] - shift); returns the sum.
float exponentiate(float* x, Index n, float shift);

}  // namespace certus::learn
