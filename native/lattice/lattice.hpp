// Label sequences as the paths of a lattice, whose states differ from position to position.
//
// States are numbered from 0, one position after the other. The edges into a state come from neighbouring states of the
// position before, so that two numbers say which they are. A path has one state of every position, and scores the sum
// of its nodes and edges. The lattice of a sentence of T tokens has T + 2 positions: the first and the last hold the
// boundary alone, so that sentences begin and end with edges like any other. A piece of a lattice has no boundaries.
#pragma once

#include <stdexcept>
#include <vector>

#include "base/types.hpp"

namespace certus::lattice {

// Numbers of states and edges are kept in 32 bits.
inline std::uint32_t as_number(std::size_t n) {
  if (n >= 0xFFFFFFFFull) throw std::length_error("too many labels stay for so long a sentence: raise the thresholds");
  return static_cast<std::uint32_t>(n);
}

template <class Edge>
struct LatticeOf {
  std::vector<std::uint32_t> begin{0};       // [positions + 1]: the first state of each position
  std::vector<Label> label;                  // [states]: the last label; the number of labels at a boundary
  std::vector<double> node;                  // [states]: the score of the state itself
  std::vector<std::uint32_t> from;           // [states]: the state that the first edge into it comes from
  std::vector<std::uint32_t> edge_begin{0};  // [states + 1]: the first edge into each state
  std::vector<Edge> edge;                    // [edges]: the score of the edge; -inf where there is none

  Index positions() const { return static_cast<Index>(begin.size()) - 1; }
  std::size_t size() const { return label.size(); }
  std::uint32_t states(Index position) const { return begin[position + 1] - begin[position]; }
  std::uint32_t edges(std::size_t state) const { return edge_begin[state + 1] - edge_begin[state]; }

  // How much memory it takes, but for what vectors keep to grow.
  std::size_t bytes() const {
    return 4 * begin.size() + size() * (sizeof(Label) + 16) + 4 + sizeof(Edge) * edge.size();
  }

  void clear() {
    begin.assign(1, 0), edge_begin.assign(1, 0);
    label.clear(), node.clear(), from.clear(), edge.clear();
  }
  // A state of the position that is being built; the edges into it were appended to `edge` just before.
  void add_state(Label last, double score, std::size_t first_source) {
    label.push_back(last), node.push_back(score), from.push_back(as_number(first_source));
    edge_begin.push_back(as_number(edge.size()));
  }
  void end_position() { begin.push_back(as_number(label.size())); }
};

// The scores of edges are those of taggers, in single precision.
using Lattice = LatticeOf<float>;

}  // namespace certus::lattice
