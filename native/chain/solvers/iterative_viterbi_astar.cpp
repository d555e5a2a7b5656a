// k-best iterative Viterbi A*: Huang et al. 2012, section 4.4, algorithm 4.
//
// The lower bound is the k-th score among all real paths seen: the beam's (line 1), those of the last column (line
// 16), and those among the k' = 2k that Viterbi A* finds on the degenerate lattice (line 19). Departures:
// - The paper takes the largest of the three sources' k-th scores; here their union is kept, without repetitions,
//   and its k-th score is at least that. Because the paths are kept, the search also ends when the best degenerate
//   path does not exceed the bound, and the paths kept are the answer.
// - Line 16 counts, for each label of the last column, the best path over active labels that ends there, also
//   where a degenerate one scores more.
// - Columns are expanded where one of the k best sequences is degenerate; the paper does not say.
// - After a backward pass, Viterbi A* runs from left to right on the suffix scores instead of from right to left.
// Where there are fewer than k paths, nothing is ever pruned, and the search ends with all of them when no
// degenerate path is left.
#include "chain/method.hpp"
#include "chain/search/best_paths.hpp"
#include "chain/search/degenerate_paths.hpp"
#include "chain/search/next_best.hpp"

namespace certus {
namespace {

// The degenerate lattice after a pass, in the order of that pass, as the search for next-best paths wants it.
template <class Tr>
class DegenerateColumns {
 public:
  using S = typename Tr::Score;
  // `trellis` and the memory of `arena` must outlive the search.
  DegenerateColumns(const DegenerateLattice<Tr>& trellis, Arena& arena)
      : trellis_(&trellis), prefix_(arena.get<const double*>(trellis.length())) {
    Index widest = 0;
    for (Index s = 0; s < trellis.length(); ++s) {
      const Index size = trellis.place(s).size();
      double* prefix = arena.get<double>(size);
      for (Index i = 0; i < size; ++i) prefix[i] = trellis.prefix(s, i);
      prefix_[s] = prefix;
      widest = std::max(widest, size);
    }
    sums_ = arena.get<double>(widest);
    links_ = arena.get<S>(widest);
  }

  Index length() const { return trellis_->length(); }
  Index width(Index s) const { return trellis_->place(s).size(); }
  double offset(Index) const { return 0; }
  double node(Index s, Index i) const { return trellis_->place(s).node[i]; }
  double link(Index s, Index i, Index j) const { return static_cast<double>(trellis_->link(s, i, j)); }
  Index label(Index s, Index i) const { return trellis_->place(s).label[i]; }

  Index next(Index s, Index j, double value, Index index, double* found) const {
    if (s < 0) return -1;
    return next_best_sum(add(s, j), &kNothing, 0, trellis_->place(s).size(), value, index, found);
  }
  TwoBest two(Index s, Index j) const { return two_best_sums(add(s, j), &kNothing, 0, trellis_->place(s).size()); }

 private:
  static constexpr double kNothing = 0;

  // The best ways to node j at place s + 1, or to the end if it is -1, through each node at place s.
  const double* add(Index s, Index j) const {
    if (j < 0) return prefix_[s];
    const S* links = trellis_->arrivals(s, j, links_);
    const double* prefix = prefix_[s];
    for (Index i = 0; i < trellis_->place(s).size(); ++i) sums_[i] = prefix[i] + static_cast<double>(links[i]);
    return sums_;
  }

  const DegenerateLattice<Tr>* trellis_;
  const double** prefix_;  // [T][size]: the best way to each node, with the node
  double* sums_;           // [size]
  S* links_;               // [size]
};

// Viterbi A* (line 10) on the degenerate lattice: adds the real paths among the first 2k, and marks the columns
// where one of the first k is degenerate. Tells whether `paths` now holds the k best of all.
template <class Tr>
bool add_next_best(const DegenerateLattice<Tr>& degenerate, DegeneratePaths<Tr>& search, Index k, bool forward,
                   BestPaths<Tr>& paths, Index* path, Counters& counters, Arena& arena) {
  const Arena::Scope scope(arena);
  NextBest<DegenerateColumns<Tr>> next(DegenerateColumns<Tr>(degenerate, arena), 2 * k);
  double unresolved = kNever<double>;  // the score of the best degenerate path
  bool all_active = true;
  for (Index n = 0; n < 2 * k; ++n) {
    if (n == k && all_active) break;
    const double score = next.remaining();
    if (!next.next(path)) break;
    if (!forward) std::reverse(path, path + degenerate.length());
    if (n < k ? search.is_active(path) : DegeneratePaths<Tr>::active(path, degenerate.length())) {
      paths.add(path);
    } else if (all_active) {
      all_active = false;
      unresolved = score;
    }
  }
  counters.expanded += next.taken;
  return all_active || unresolved <= paths.bound();
}

}  // namespace

CERTUS_SOLVER(iterative_viterbi_astar) {
  const Index k = request.k;
  BestPaths<Tr> paths(trellis, k, arena);
  add_beam(trellis, k, paths, answer.counters, arena);
  DegenerateLattice<Tr> degenerate(trellis, 0, answer.counters, arena);
  DegeneratePaths<Tr> search(degenerate, request.columnwise, arena);
  Index* path = arena.get<Index>(trellis.length);
  for (bool forward = true;; forward = !forward) {
    const double most = forward ? degenerate.forward(paths.bound()) : degenerate.backward(paths.bound());
    if (most == kNever<double>) break;
    search.add_active(k, paths);
    if (most <= paths.bound()) break;
    if (search.best_is_active() && add_next_best(degenerate, search, k, forward, paths, path, answer.counters, arena))
      break;
    search.expand(paths.bound());
  }
  paths.write(answer);
}

CERTUS_REGISTER(iterative_viterbi_astar, "iterative-viterbi-astar")

}  // namespace certus
