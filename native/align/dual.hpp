// An upper bound of the problem in bidirectional.hpp by dual block ascent, with the values that it rules out.
//
// The objective is a sum of two chains (choices and transitions of each side) and of I * J edges: edge (i, j) scores
//   h(a_i, b_j) = [a_i = j] price(b_j - i) + [b_j = i] price(a_i - j),
// which depends on a_i by its class only: nothing, far from j, j - 1, j, j + 1; and on b_j likewise. Numbers moved
// between chains and edges ("messages", five per edge and side) do not change the sum, and for all of them
//   max of chain a + max of chain b + sum over edges of their max   is an upper bound.
// A pass over a chain takes all that the edges can give, finds max-marginals from left to right, and pushes what each
// value falls behind the best back into the edges it matters to; no step raises the bound. (Tree block coordinate
// ascent; Sontag & Jaakkola 2009, Kolmogorov 2006. A value's shares add up to at most 1, see kShare.)
#pragma once

#include <array>

#include "align/choices.hpp"
#include "base/interrupt.hpp"

namespace certus::align {

class Dual {
 public:
  explicit Dual(const Agreed& problem);

  // Runs a pass over each chain; returns the bound, -inf where no choice is left.
  double ascend();

  // Forbids what cannot be in an answer above `score` + `slack`, by its max-marginal (Chang et al. 2014, lemma 1);
  // returns how many values that rules out.
  Index prune(double score, double slack);

  double scale() const { return scale_; }  // of the problem: see measure_scale

  void forbid(int side, Index word, Index value) { allowed_[side][word * problem_.side[side].values + value] = 0; }
  bool is_allowed(int side, Index word, Index value) const {
    return allowed_[side][word * problem_.side[side].values + value] != 0;
  }
  // The best path of a side's chain under the messages of the last pass.
  const std::vector<Index>& path(int side) const { return path_[side]; }
  // [words][values]: how far below the best path of its chain each value is, as the last pass over it found; <= 0.
  const std::vector<double>& loss(int side) const { return loss_[side]; }

 private:
  enum Class { nothing, far, before, same, after, kClasses };
  using Message = std::array<double, kClasses>;

  double* message(int side, Index i, Index j) { return messages_[side][i * problem_.side[1].words + j].data(); }
  double* edge_message(int side, Index word, Index other) {
    return side == 0 ? message(0, word, other) : message(1, other, word);
  }
  double pay(Class own, Class other) const {
    return (own == same ? price_[other] : 0) + (other == same ? price_[own] : 0);
  }
  bool has_class(int side, Index word, Index other, Class c) const;
  void note_classes(int side);
  void pull(int side, Index word, Index other);
  double pass(int side, bool pushing);
  void look_ahead(int side);
  void sum_messages(int side, Index word, double* scores);
  void push(int side, Index word, const double* loss);
  double find_edges();

  const Agreed problem_;
  Message price_;
  std::vector<Message> messages_[2];      // [source words][target words]
  std::vector<char> allowed_[2];          // [words][values]
  std::vector<std::uint8_t> classes_[2];  // [words][other words]: a bit for each class that has an allowed value
  std::vector<double> scores_, ahead_, behind_, loss_[2];
  std::vector<Index> path_[2];
  Heed heed_;
  double value_[2] = {0, 0};
  double scale_;  // also the most that is pushed of a value that is forbidden: any number keeps the bound right
};

}  // namespace certus::align
