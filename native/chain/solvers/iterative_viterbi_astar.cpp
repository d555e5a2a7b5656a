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
  // `trellis` and `buffer`, which has room for L + 1 scores, must outlive the search.
  DegenerateColumns(const DegenerateLattice<Tr>& trellis, S* buffer) : trellis_(&trellis), buffer_(buffer) {}

  Index length() const { return trellis_->length(); }
  double offset(Index) const { return 0; }
  double node(Index s, Index i) const { return trellis_->place(s).node[i]; }
  double link(Index s, Index i, Index j) const { return static_cast<double>(trellis_->link(s, i, j)); }
  Index label(Index s, Index i) const { return trellis_->place(s).label[i]; }

  Index next(Index s, Index j, double value, Index index, double* found) const {
    if (s < 0) return -1;
    const S* x = j < 0 ? nullptr : trellis_->arrivals(s, j, buffer_);
    double best = kNever<double>;
    Index where = -1;
    for (Index i = 0; i < trellis_->place(s).size(); ++i) {
      const double sum = trellis_->prefix(s, i) + (x ? static_cast<double>(x[i]) : 0.0);
      const bool after = sum < value || (sum == value && i > index);
      if (after && sum > best) best = sum, where = i;
    }
    *found = best;
    return where;
  }

 private:
  const DegenerateLattice<Tr>* trellis_;
  S* buffer_;
};

// Viterbi A* (line 10) on the degenerate lattice: adds the real paths among the first 2k, and marks the columns
// where one of the first k is degenerate. Tells whether `paths` now holds the k best of all.
template <class Tr>
bool add_next_best(const DegenerateLattice<Tr>& degenerate, DegeneratePaths<Tr>& search, Index k, bool forward,
                   BestPaths<Tr>& paths, typename Tr::Score* buffer, Index* path, Counters& counters) {
  NextBest<DegenerateColumns<Tr>> next(DegenerateColumns<Tr>(degenerate, buffer));
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
  using S = typename Tr::Score;
  const Index k = request.k;
  BestPaths<Tr> paths(trellis, k, arena);
  add_beam(trellis, k, paths, answer.counters, arena);
  DegenerateLattice<Tr> degenerate(trellis, 0, answer.counters, arena);
  DegeneratePaths<Tr> search(degenerate, request.columnwise, arena);
  S* buffer = arena.get<S>(trellis.labels + 1);
  Index* path = arena.get<Index>(trellis.length);
  for (bool forward = true;; forward = !forward) {
    const double most = forward ? degenerate.forward(paths.bound()) : degenerate.backward(paths.bound());
    if (most == kNever<double>) break;
    search.add_active(k, paths);
    if (most <= paths.bound()) break;
    if (search.best_is_active() && add_next_best(degenerate, search, k, forward, paths, buffer, path, answer.counters))
      break;
    search.expand(paths.bound());
  }
  paths.write(answer);
}

CERTUS_REGISTER(iterative_viterbi_astar, "iterative-viterbi-astar")

}  // namespace certus
