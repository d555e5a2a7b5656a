// The best paths of a lattice, in the max-plus kind of numbers (base/forward_backward.hpp):
//
//   best[s] = node[s] + added[s] + max_r best[r] + edge[r, s],     rest[r] = max_s edge[r, s] + node[s] + added[s] +
//   rest[s]
//
// over the edges from states r to states s. `best` is the score of the best path up to a state, and `rest` that of the
// best way to go on from it; together they are the score of the best path through it.
#pragma once

#include <algorithm>

#include "base/forward_backward.hpp"
#include "lattice/lattice.hpp"

namespace certus::lattice {

// The step from the states of position t - 1 to those of position t: best[s] = max_r before[r] + edge[r, s], rows of a
// position each; and the way back, before[r] = max(before[r], max_s edge[r, s] + onward[s]).
void step_forward(const Lattice& lattice, Index t, const double* before, double* best);
void step_backward(const Lattice& lattice, Index t, const double* onward, double* before);

// What is added to the scores of states; -inf forbids.
struct Additions {
  const double* const* rows = nullptr;   // [positions]: what is added at a position, or null; null if nothing is
  const std::int32_t* column = nullptr;  // [states]: which number of the row of its position a state gets

  const double* row(Index t) const { return rows ? rows[t] : nullptr; }
};

// Memory that is used from lattice to lattice.
struct PathMemory {
  std::vector<double> best, rest, onward;  // [states]
};

// The steps of the recursion.
class BestSteps {
 public:
  BestSteps(const Lattice& lattice, const Additions& additions, PathMemory& memory)
      : lattice_(lattice), additions_(additions), memory_(memory) {
    memory.best.resize(lattice.size());
  }

  double* alpha(Index t) const { return memory_.best.data() + lattice_.begin[t]; }
  double* beta(Index t) const { return memory_.rest.data() + lattice_.begin[t]; }
  double* onward(Index t) const { return memory_.onward.data() + lattice_.begin[t]; }

  Index work() const { return 1 << 12; }
  void begin(double* best) const { std::fill_n(best, lattice_.states(0), 0.0); }
  void forward(Index t, const double* before, double* best) const { step_forward(lattice_, t, before, best); }
  bool settle(Index t, double* best) const {
    weigh(t, best, best);
    return std::any_of(best, best + lattice_.states(t), [](double x) { return x != kNever<double>; });
  }
  void finish(double*) const {  // the row may move
    const Index last = lattice_.positions() - 1;
    memory_.rest.assign(lattice_.size(), kNever<double>), memory_.onward.resize(lattice_.size());
    std::fill_n(beta(last), lattice_.states(last), 0.0);
  }
  void look_back(Index t, const double*, const double* rest, double* onward) const { weigh(t, rest, onward); }
  void backward(Index t, const double* onward, double* before) const { step_backward(lattice_, t, onward, before); }

 protected:
  // Adds the scores of the states of a position to a row.
  void weigh(Index t, const double* from, double* to) const {
    const std::uint32_t first = lattice_.begin[t], count = lattice_.states(t);
    const double* const node = lattice_.node.data() + first;
    const double* const row = additions_.row(t);
    if (!row) {
      for (std::uint32_t s = 0; s < count; ++s) to[s] = from[s] + node[s];
      return;
    }
    const std::int32_t* const column = additions_.column + first;
    for (std::uint32_t s = 0; s < count; ++s) to[s] = from[s] + node[s] + row[column[s]];
  }

  const Lattice& lattice_;
  const Additions additions_;
  PathMemory& memory_;
};

// A path that scores most.
struct BestPath {
  double score = kNever<double>;  // -inf where there is no path
  std::uint32_t end = 0;          // its last state
  Index reached = 0;              // the first position that no path reaches, or the number of positions
};

// Makes `best`, which leads back from the end of the path.
BestPath find_best_path(const Lattice& lattice, PathMemory& memory, const Additions& additions = {});
// Makes `best` and `rest`; the score of the best path.
double find_best_through(const Lattice& lattice, PathMemory& memory, const Additions& additions = {});
// The end of a best path once `best` is made, and its score.
BestPath find_best_end(const Lattice& lattice, const PathMemory& memory);
// The state before on the best path to a state, once `best` is made; of equals, the first.
std::uint32_t find_source(const Lattice& lattice, const PathMemory& memory, std::uint32_t state);

// Calls use(position, state) along the best path, the last first.
template <class Use>
void trace_back(const Lattice& lattice, const PathMemory& memory, const BestPath& path, const Use& use) {
  std::uint32_t s = path.end;
  for (Index t = lattice.positions() - 1;; --t, s = find_source(lattice, memory, s)) {
    use(t, s);
    if (t == 0) return;
  }
}

// The labels of a path of a sentence, [T].
void trace_labels(const Lattice& lattice, const PathMemory& memory, const BestPath& path, Label* labels);

// The k best paths of a sentence whose best path was found, labels of [k][T] and scores of [k]; how many there are.
Index find_best_paths(const Lattice& lattice, const PathMemory& memory, Index k, Label* labels, double* scores);

}  // namespace certus::lattice
