// The label sequences of many sentences that a tagger's search leaves, kept so that the best can be asked for again and
// again with other adjustments: numbers that are added to the scores of labels at single tokens.
//
// Of a sequence y of a sentence the lattice knows the score s(y), summed in double in the order of the sentence. With
// adjustments a, `decode` finds the y with the largest s(y) + sum_t a[t][y_t].
#pragma once

#include <memory>
#include <vector>

#include "chain/run.hpp"
#include "scoring/cascade.hpp"

namespace certus::learn {

// What is added, at some tokens. Tokens are numbered over all sentences.
struct Adjustments {
  const Index* tokens = nullptr;   // [count], ascending
  const double* scores = nullptr;  // [count][labels]
  Index count = 0;

  // Those of the tokens in [first, last).
  Adjustments within(Index first, Index last, Index labels) const;
};

// Rows of adjustments, asked for token by token in ascending order.
class AdjustmentRows {
 public:
  AdjustmentRows(const Adjustments& a, Index labels) : a_(a), labels_(labels) {}
  const double* at(Index token) {  // null where nothing is added
    while (next_ < a_.count && a_.tokens[next_] < token) ++next_;
    return next_ < a_.count && a_.tokens[next_] == token ? a_.scores + next_ * labels_ : nullptr;
  }

 private:
  const Adjustments& a_;
  Index labels_, next_ = 0;
};

// The lattice of one sentence, spelled out: state 0 is the boundary before it, the last states the boundary after.
struct Arcs {
  std::vector<Index> begin;           // [T + 3]: first state of each position, boundaries included
  std::vector<Label> label;           // [states]; the number of labels at a boundary
  std::vector<double> node;           // [states]
  std::vector<Index> origin, target;  // [arcs]
  std::vector<double> score;          // [arcs]
};

// The same as it lies in memory: the arcs into a state come from neighbouring states, one after the other.
struct View {
  Index positions = 0;                             // T + 2
  const std::uint32_t *begin, *from, *edge_begin;  // [positions + 1], [states], [states + 1]: see Level
  const Label* label;                              // [states]
  const float *node, *edge;                        // [states], [edges]; -inf where there is no arc

  Index states() const { return begin[positions]; }
};

class Lattices {
 public:
  // Room for lattices that do not lie in memory.
  struct Room {
    std::vector<std::uint32_t> begin, from, edge_begin;
    std::vector<Label> label;
    std::vector<float> node, edge;
    View view() const {
      return {static_cast<Index>(begin.size()) - 1,
              begin.data(),
              from.data(),
              edge_begin.data(),
              label.data(),
              node.data(),
              edge.data()};
    }
  };

  // Memory that one thread uses from sentence to sentence.
  struct Scratch {
    std::vector<double> best, rest;   // [states]
    std::vector<std::uint32_t> back;  // [states]
    std::vector<Index> path;          // [T]
  };

  Lattices(std::vector<Index> first, Index labels) : first_(std::move(first)), labels_(labels) {}
  virtual ~Lattices() = default;

  Index sentences() const { return static_cast<Index>(first_.size()) - 1; }
  Index length(Index n) const { return first_[n + 1] - first_[n]; }
  Index labels() const { return labels_; }
  const std::vector<Index>& first() const { return first_; }

  // The best labels of sentence n, [T], and their score without the adjustments; -inf, and labels of -1, where the
  // adjustments forbid all. Of equals the one that the tagger itself would choose: always the same.
  double decode(Index n, const Adjustments& adjust, Label* labels, Scratch& scratch) const;
  // best[t][y]: the largest score with adjustments of a sequence that has label y at token t; -inf where none has.
  void max_marginals(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const;

  virtual bool exact(Index n) const = 0;  // whether the lattice has all sequences
  virtual Arcs arcs(Index n) const = 0;
  // Of a sentence that is not empty. Scores are in single precision.
  virtual View view(Index n, Room& room) const = 0;

 protected:
  virtual double search(Index n, const Adjustments& adjust, Label* labels, Scratch& scratch) const = 0;
  virtual void sweep(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const = 0;

  std::vector<Index> first_;  // [sentences + 1]: tokens
  Index labels_;
};

// What the last level of a cascade left.
class CascadeLattices final : public Lattices {
 public:
  using Lattices::Lattices;

  void resize() { packed_.resize(sentences()); }
  void keep(Index n, const Level& level, bool exact);  // may be called from several threads, for different n

  bool exact(Index n) const override { return packed_[n].exact; }
  Arcs arcs(Index n) const override;
  View view(Index n, Room& room) const override;

 protected:
  double search(Index n, const Adjustments& adjust, Label* labels, Scratch& scratch) const override;
  void sweep(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const override;

 private:
  struct Packed {  // see Level
    std::vector<std::uint32_t> begin, from, edge_begin;
    std::vector<Label> label;
    std::vector<float> node, edge;
    bool exact = true;
  };
  void forward(const Packed& p, Index first, const Adjustments& adjust, Scratch& scratch) const;

  std::vector<Packed> packed_;
};

// All sequences: emissions, and a chain in double precision, so that adjustments are added without rounding.
class ChainLattices final : public Lattices {
 public:
  ChainLattices(std::vector<Index> first, std::shared_ptr<const Model<double>> chain, const float* emissions)
      : Lattices(std::move(first), chain->labels()), chain_(std::move(chain)), emissions_(emissions) {}

  bool exact(Index) const override { return true; }
  Arcs arcs(Index n) const override;
  View view(Index n, Room& room) const override;

 protected:
  double search(Index n, const Adjustments& adjust, Label* labels, Scratch& scratch) const override;
  void sweep(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const override;

 private:
  void add_up(Index n, const Adjustments& adjust, std::vector<double>& scores) const;

  std::shared_ptr<const Model<double>> chain_;
  const float* emissions_;  // [tokens][labels]
};

}  // namespace certus::learn
