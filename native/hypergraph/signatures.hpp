// The sums A x that derivations add up to, each kept once and known by its number.
//
// Where all coefficients are 0 or 1 and all targets too, a signature is a set of bits, and two that share a bit do not
// add up to anything that can still satisfy the constraints. Elsewhere it is a vector of sums.
#pragma once

#include <vector>

#include "hypergraph/relaxation.hpp"

namespace certus::hypergraph {

class Signatures {
 public:
  using Id = std::int32_t;
  static constexpr Id kNone = -1;  // what no satisfying derivation contains

  // Keeps the relaxation by reference. What cannot surround a node is found out for the edges that are open now.
  explicit Signatures(const Relaxation& relaxation);

  Id nothing() const { return 0; }
  Id of(Edge e) const { return edges_[e]; }  // of an edge alone
  Id add(Id a, Id b);
  bool is_target(Id id) const;
  // Whether something that can surround a node makes up what is missing.
  bool fits(Id id, Node v) const;

 private:
  using Word = std::uint64_t;

  bool choose_bits() const;
  void surround();
  Id of_edge(Edge e);
  Id intern(const Word* words);
  std::size_t find(const Word* words) const;
  void grow();
  double sum(Id id, Index r) const;

  const Relaxation& r_;
  const bool bits_;
  const std::size_t stride_;  // words of a signature
  std::vector<Word> words_;   // [count][stride]
  std::vector<Id> slots_;     // a table of hashes
  std::vector<Id> edges_;     // [edges]
  std::vector<Word> target_, scratch_;
  std::vector<double> low_, high_;        // sums: [rows][nodes], or empty where that is too much
  std::vector<Word> reachable_, forced_;  // bits: [nodes][stride]
  std::size_t count_ = 0;
};

}  // namespace certus::hypergraph
