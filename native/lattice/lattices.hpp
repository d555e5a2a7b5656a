// The label sequences of many sentences that a tagger's search leaves, kept so that the best can be asked for again and
// again with other adjustments: numbers that are added to the scores of labels at single tokens.
//
// Of a sequence y of a sentence the lattice knows the score s(y), summed in double in the order of the sentence. With
// adjustments a, `decode` finds the y with the largest s(y) + sum_t a[t][y_t].
#pragma once

#include <memory>

#include "chain/run.hpp"
#include "lattice/best_path.hpp"

namespace certus::lattice {

// What is added, at some tokens. Tokens are numbered over all sentences.
struct Adjustments {
  const Index* tokens = nullptr;   // [count], ascending
  const double* scores = nullptr;  // [count][labels]
  Index count = 0;

  // Those of the tokens in [first, last).
  Adjustments within(Index first, Index last, Index labels) const;
};

class Lattices {
 public:
  // Memory that one thread uses from sentence to sentence.
  struct Scratch {
    PathMemory paths;
    std::vector<const double*> rows;  // [T + 2]: what is added at each position, or null
    std::vector<double> scores;       // [T][labels]
    std::vector<Index> path;          // the states or the labels of a path
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
  void find_max_marginals(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const;

  // A bound of the scores of all sequences that the lattice of sentence n lacks; -inf if it has all.
  virtual double outside(Index n) const = 0;
  bool is_exact(Index n) const { return outside(n) == kNever<double>; }
  // The lattice of a sentence that is not empty, which is made in `room` if it does not lie in memory.
  virtual const Lattice& get(Index n, Lattice& room) const = 0;
  // A copy of the lattice of any sentence; its edges are not rounded to single precision.
  LatticeOf<double> copy(Index n) const;

 protected:
  virtual double search(Index n, const Adjustments& adjust, Label* labels, Scratch& scratch) const = 0;
  virtual void search_through(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const = 0;
  virtual LatticeOf<double> copy_lattice(Index n) const = 0;

  std::vector<Index> first_;  // [sentences + 1]: tokens
  Index labels_;
};

// Lattices that lie in memory, such as what the last level of a cascade left.
class StoredLattices final : public Lattices {
 public:
  StoredLattices(std::vector<Index> first, Index labels)
      : Lattices(std::move(first), labels), lattices_(sentences()), outside_(sentences(), kNever<double>) {}

  // May be called from several threads, for different n.
  void keep(Index n, const Lattice& lattice, double outside) { lattices_[n] = lattice, outside_[n] = outside; }
  // Takes over the lattice that others have of sentence n, their sentence m, if what it lacks has a lower bound.
  bool take_better(Index n, StoredLattices& others, Index m) {
    if (!(others.outside_[m] < outside_[n])) return false;
    std::swap(lattices_[n], others.lattices_[m]);
    outside_[n] = others.outside_[m];
    return true;
  }

  double outside(Index n) const override { return outside_[n]; }
  const Lattice& get(Index n, Lattice&) const override { return lattices_[n]; }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Lattice& lattice : lattices_) sum += lattice.bytes();
    return sum;
  }

 protected:
  double search(Index n, const Adjustments& adjust, Label* labels, Scratch& scratch) const override;
  void search_through(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const override;
  LatticeOf<double> copy_lattice(Index n) const override;

 private:
  Additions spread(Index n, const Adjustments& adjust, Scratch& scratch) const;

  std::vector<Lattice> lattices_;  // [sentences]
  std::vector<double> outside_;    // [sentences]
};

// All sequences: emissions, and a chain in double precision, so that adjustments are added without rounding. The chain
// engine decodes them.
class ChainLattices final : public Lattices {
 public:
  // The chain and the emissions must outlive this.
  ChainLattices(std::vector<Index> first, const Model<double>& chain, const float* emissions)
      : Lattices(std::move(first), chain.labels()), chain_(chain), emissions_(emissions) {}

  double outside(Index) const override { return kNever<double>; }
  const Lattice& get(Index n, Lattice& room) const override;

 protected:
  double search(Index n, const Adjustments& adjust, Label* labels, Scratch& scratch) const override;
  void search_through(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const override;
  LatticeOf<double> copy_lattice(Index n) const override;

 private:
  void add_up(Index n, const Adjustments& adjust, std::vector<double>& scores) const;
  template <class Edge>
  void spell_out(Index n, LatticeOf<Edge>& lattice) const;

  const Model<double>& chain_;
  const float* emissions_;  // [tokens][labels]
};

}  // namespace certus::lattice
