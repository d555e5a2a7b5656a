// What is undecided in the sentences of a corpus: pieces of their lattices that hold words of consensus nodes.
//
// A sentence's lattice is first cleared of the states that no optimum of the corpus needs: the best labels of the
// sentence by itself would gain more in the sentence than all its consensus nodes together could lose. If asked to, it
// is pruned further, by max-marginals, as in the paper (§9). What is left is cut where a position has one state. A
// piece with no undecided word of a consensus node is solved once and for all; the others are blocks. Words whose label
// is the same in all that is left are settled: they vote for it.
#pragma once

#include <limits>
#include <vector>

#include "corpus/mrf.hpp"
#include "lattice/lattices.hpp"

namespace certus::corpus {

struct Blocks {
  // Of each block: its sentence, its first token, where its positions and slots begin.
  std::vector<Index> sentence, token;
  std::vector<std::size_t> position{0}, slot{0};  // [blocks + 1]
  std::vector<double> base;                       // [blocks]: the score of the sentence's own best labels

  // Of each position: where its states begin, and its slot or -1.
  std::vector<std::size_t> state{0};  // [positions + 1]
  std::vector<Index> slot_at;

  // Of each state: its label, which candidate of the slot that is (or -1), its score; arcs into it, which come from
  // neighbouring states of the position before. The arcs into the first position and out of the last are part of the
  // scores of its states. Scores of arcs are those of taggers, in single precision; -inf where there is no arc.
  std::vector<Label> label;
  std::vector<std::int32_t> candidate;
  std::vector<double> node;
  std::vector<std::size_t> arc{0};    // [states + 1]
  std::vector<std::uint32_t> origin;  // [states]: where the first arc comes from, counted in the position before
  std::vector<float> score;           // [arcs]

  std::vector<Index> block_of;  // [slots]: a slot is a word of a consensus node that is not settled

  Index size() const { return static_cast<Index>(token.size()); }
  Index slots() const { return static_cast<Index>(block_of.size()); }
  Index length(Index b) const { return static_cast<Index>(position[b + 1] - position[b]); }
  std::size_t first_state(Index b) const { return state[position[b]]; }
  std::size_t states(Index b) const { return state[position[b + 1]] - state[position[b]]; }
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
  // score. `risky`: whether states were dropped, for being outside the window, that an optimum might have needed.
  double add(const learn::Lattices& lattices, Index n, Index sentence, Index token, const Index* consensus,
             Label* labels, bool& risky);

  double window =
      std::numeric_limits<double>::infinity();  // states whose best path is further from the best are dropped

 private:
  void find_path(const Label* labels);
  bool drop(const Index* consensus);
  void cut(Index sentence, Index token, const Index* consensus);
  bool undecided(Index p) const;
  void piece(Index before, Index after, Index sentence, Index token, const Index* consensus);
  void add_position(Index p, Index before, Index after);
  std::uint32_t add_arcs(std::uint32_t s);
  void add_slot(Index p, Index consensus);
  double along_path(Index before, Index after) const;
  double arc(std::uint32_t from, std::uint32_t to) const;

  Mrf& mrf_;
  Blocks& blocks_;
  std::vector<Mrf::Observed>& observed_;

  learn::Lattices::Scratch scratch_;
  learn::Lattices::Room room_;
  learn::View view_;
  std::vector<double> forward_, backward_;    // [states]
  std::vector<std::uint8_t> kept_, on_path_;  // [states]
  std::vector<std::uint32_t> back_, path_;    // [states], [positions]
  std::vector<std::int32_t> number_;          // [states]: the rank among those kept at the position, or -1
  std::vector<Index> count_;                  // [positions]: states kept
};

}  // namespace certus::corpus
