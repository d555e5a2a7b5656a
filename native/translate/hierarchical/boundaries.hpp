// What of a piece of target text matters to what stands around it.
//
// To its left, the first words matter whose probability depends on words before them; to its right, the state of the
// language model. A word w_i of w_1 ... w_n depends on them in full where the model has an n-gram x w_1 ... w_i for
// some x. From the first word on that it does not have one for, the words cost what they cost inside of the piece, but
// for the back-off weights of contexts longer than w_1 ... w_{i-1}: these are due whatever w_i is. So the left boundary
// is w_1 ... w_{i-1} and whether it is closed, which a boundary of order - 1 words always is. This is the state
// minimisation of Li & Khudanpur (2008) and Heafield (2011), for both sides.
#pragma once

#include "base/hash.hpp"
#include "translate/hierarchical/target_forest.hpp"

namespace certus::translate {

using LeftId = std::uint32_t;

// The language model with what joins need to know about it.
class BoundaryModel {
 public:
  BoundaryModel(const LanguageModel& model, const WordBounds& bounds);

  const Automaton& automaton() const { return automaton_; }
  const WordBounds& bounds() const { return bounds_; }
  State begin() const { return begin_; }
  bool extends(Index arc) const { return extends_[arc] != 0; }

 private:
  Automaton automaton_;
  const WordBounds& bounds_;
  State begin_;
  std::vector<char> extends_;  // [arcs] whether some longer context has an arc for the same word
};

// The left boundaries that were met, each once.
class LeftTable {
 public:
  explicit LeftTable(const BoundaryModel& model, double weight) : model_(model), weight_(weight) { rebuild(1024); }

  LeftId add(std::span<const Word> words, bool closed);
  std::span<const Word> words(LeftId id) const {
    return {words_.data() + first_[id], static_cast<std::size_t>(first_[id + 1] - first_[id])};
  }
  bool is_closed(LeftId id) const { return closed_[id] != 0; }
  // The most that its words, and closing it, add to the score, whatever stands before.
  double bound(LeftId id) const { return bound_[id]; }
  // The same without the first word.
  double rest(LeftId id) const { return rest_[id]; }
  Index size() const { return static_cast<Index>(closed_.size()); }

 private:
  void rebuild(std::size_t slots);
  static std::uint64_t hash(std::span<const Word> words, bool closed);

  const BoundaryModel& model_;
  double weight_;
  std::vector<Index> first_{0};
  std::vector<Word> words_;
  std::vector<char> closed_;
  std::vector<double> bound_, rest_;
  std::vector<std::uint32_t> slots_;  // 0, or an id + 1
};

// A piece of text as its neighbours see it. Its score has all that no neighbour changes.
struct Piece {
  double score = 0;
  LeftId left = 0;
  State right = kEmpty;
};

// Joins words and pieces from left to right.
class Joiner {
 public:
  Joiner(const BoundaryModel& model, LeftTable& lefts, double weight) : model_(model), lefts_(lefts), weight_(weight) {}

  // Begins with nothing, about whose left nothing is known.
  void clear(double score) {
    score_ = score;
    state_ = kEmpty;
    left_.clear();
    closed_ = model_.automaton().order == 1;
  }
  // Begins with <s>.
  void begin(double score) {
    clear(score);
    state_ = model_.begin();
    closed_ = true;
  }
  void add(Word word);
  void add(const Piece& piece);
  Piece finish() { return {score_, lefts_.add(left_, closed_), state_}; }
  double score() const { return score_; }

 private:
  double weigh(double probability) const { return weight_ == 0 ? 0 : weight_ * probability; }

  const BoundaryModel& model_;
  LeftTable& lefts_;
  double weight_;
  double score_ = 0;
  State state_ = kEmpty;
  std::vector<Word> left_;
  bool closed_ = false;
};

}  // namespace certus::translate
