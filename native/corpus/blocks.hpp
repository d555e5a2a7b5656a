// What is undecided in the sentences of a corpus: pieces of their lattices that hold words of consensus nodes.
//
// A sentence's lattice is first cleared of the states that no optimum of the corpus needs: the best labels of the
// sentence by itself would gain more in the sentence than the consensus nodes of the words that get other labels could
// lose. (The paper, §9, prunes by max-marginals, too, but at a threshold.) What is left is cut where a position has one
// state. A piece with no undecided word of a consensus node is solved once and for all; the others are blocks. Words
// whose label is the same in all that is left are settled: they vote for it.
//
// Sequences that the lattice lacks are one more path, if an optimum might need them. It scores what they score at most,
// and its words agree with whatever their nodes have, so no labels at all are better than the best with such paths. A
// sentence that has one is a single block, and all its words are undecided.
#pragma once

#include <vector>

#include "corpus/mrf.hpp"
#include "lattice/lattices.hpp"

namespace certus::corpus {

struct Blocks {
  // Blocks, from the first undecided word to the last. What is best before and after is part of the scores of the
  // states of the first and the last position.
  std::vector<lattice::Lattice> lattice;  // [blocks]
  // [blocks]: what is before and after, which labels are read from in the end; with the states of the block's first
  // position as the last of `before`, and those of its last as the first of `after`. No positions if there is nothing.
  std::vector<lattice::Lattice> before, after;
  std::vector<Index> sentence, token;  // [blocks]: the sentence, and the first token
  std::vector<double> base;            // [blocks]: the score of the sentence's own best labels
  // [blocks]: what the scores of all paths add up to without their signs, about. Paths are within the gains of the
  // block's words of each other (see Builder), so this is the size of the best one and these gains.
  std::vector<double> magnitude;
  // [blocks]: the score of the path for what its lattice lacks, the last of each position; -inf if there is none
  std::vector<double> outside;

  // Positions, states and slots of all blocks, one after the other. A slot is a word of a consensus node that is not
  // settled; its candidates are the labels of its states.
  std::vector<std::size_t> position{0}, state{0}, slot{0};  // [blocks + 1]: where those of a block begin
  std::vector<Index> slot_at;                               // [positions]: the slot, or -1
  std::vector<std::int32_t> candidate;                      // [states]: which candidate of the slot, or -1
  std::vector<Index> block_of;                              // [slots]

  Index size() const { return static_cast<Index>(token.size()); }
  std::size_t bytes() const {
    std::size_t sum = 4 * candidate.size();
    for (const auto* several : {&lattice, &before, &after})
      for (const lattice::Lattice& one : *several) sum += one.bytes();
    return sum;
  }
  Index slots() const { return static_cast<Index>(block_of.size()); }
  Index length(Index b) const { return static_cast<Index>(position[b + 1] - position[b]); }
  const Index* slots_of(Index b) const { return slot_at.data() + position[b]; }             // [length]
  const std::int32_t* candidates_of(Index b) const { return candidate.data() + state[b]; }  // [states of the block]
};

// Takes sentences apart, one after the other.
class Builder {
 public:
  // Blocks go to `blocks`, the words in them that are not settled to `mrf`, and those that are to `observed`.
  Builder(Mrf& mrf, Blocks& blocks, std::vector<Mrf::Observed>& observed)
      : mrf_(mrf), blocks_(blocks), observed_(observed) {}

  // Sentence n of the lattices, which is number `sentence` of the corpus and whose first token is `token` of it.
  // `consensus`: [T] the nodes of its words; -1 for none; -2 - c for a word that node c takes as observed, with the
  // label that the sentence by itself gives it. Writes the best labels of the sentence by itself, and returns their
  // score. `excess`: by how much the sentence by itself may be better, for sequences that the lattice lacks; infinite
  // where nothing is known of these.
  double add(const lattice::Lattices& lattices, Index n, Index sentence, Index token, const Index* consensus,
             Label* labels, double& excess);

  bool with_outside = true;  // whether there are paths for what lattices lack

 private:
  double find_path(const Label* labels);
  void drop(double score, const Index* consensus);
  void cut(Index sentence, Index token, const Index* consensus);
  bool is_undecided(Index p) const;
  bool has_outside() const { return outside_ != kNever<double>; }
  void add_piece(Index before, Index after, Index sentence, Index token, const Index* consensus);
  void add_position(Index p, Index before, Index after);
  void add_outside(Index p);
  std::size_t add_edges(std::uint32_t s);
  void trim(Index first, Index last);
  void add_slot(Index consensus, const lattice::Lattice& block, Index position);
  struct PathSum {
    double score = 0, magnitude = 0;  // of all numbers on the path, and of these without their signs
  };
  PathSum along_path(Index before, Index after) const;
  double get_edge(std::uint32_t from, std::uint32_t to) const;

  Mrf& mrf_;
  Blocks& blocks_;
  std::vector<Mrf::Observed>& observed_;

  lattice::Lattices::Scratch scratch_;
  lattice::Lattice room_, piece_;  // what may hold the sentence's lattice, and what holds a block's
  const lattice::Lattice* lattice_ = nullptr;
  lattice::PathMemory paths_, paths_of_ends_;
  std::vector<const double*> rows_;  // [positions]
  std::vector<std::int32_t> kind_;   // [states]: 0 with the best label of its position, 1 with one close to it, or 2
  std::vector<std::uint8_t> kept_, on_path_;  // [states]
  std::vector<std::uint32_t> path_;           // [positions]: states of the best labels
  std::vector<std::int32_t> number_;          // [states]: the rank among those kept at the position, or -1
  std::vector<Index> count_;                  // [positions]: states kept
  double outside_ = kNever<double>;           // what sequences score at most that the lattice lacks and may be needed
};

}  // namespace certus::corpus
