// The derivations of a forest, best first, each found when it is asked for (Huang and Chiang 2005, algorithm 3).
#pragma once

#include <vector>

#include "syntax/forest.hpp"
#include "syntax/derivation.hpp"

namespace certus::syntax {

class KBest {
 public:
  // The forest must have been maximised, and stay as it is.
  explicit KBest(const Forest& forest);

  // Whether a node has a derivation of this rank; ranks are asked for in order.
  bool has(std::int32_t node, std::int32_t rank);
  Step step(std::int32_t node, std::int32_t rank) const;
  double score(std::int32_t rank) const { return found_[0][static_cast<std::size_t>(rank)].score; }  // of the root

 private:
  struct Derivation {
    double score;
    std::int32_t edge, left, right;
    // Of equal ones the later edge first, as in Forest::maximize.
    bool operator<(const Derivation& other) const {
      if (score != other.score) return score < other.score;
      if (edge != other.edge) return edge < other.edge;
      return left != other.left ? left > other.left : right > other.right;
    }
  };
  void start(std::int32_t node);
  void push(std::int32_t node, std::int32_t edge, std::int32_t left, std::int32_t right);
  double value(std::int32_t node, std::int32_t rank) const {
    return found_[node].empty() ? forest_.insides()[node] : found_[node][static_cast<std::size_t>(rank)].score;
  }

  const Forest& forest_;
  std::vector<std::int32_t> first_, order_;     // edges by head
  std::vector<std::vector<Derivation>> found_;  // [node][rank]
  std::vector<std::vector<Derivation>> heap_;   // [node] candidates
  std::vector<char> started_, exhausted_;
};

}  // namespace certus::syntax
