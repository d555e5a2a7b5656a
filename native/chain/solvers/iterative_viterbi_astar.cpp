// k-best iterative Viterbi A*: Huang et al. 2012, section 4.4, algorithm 4.
//
// The lower bound is the k-th score among all real paths seen: those of the beginning (line 1), those of the last
// column (line 16), and those that Viterbi A* finds on the degenerate lattice (line 19). Departures:
// - The paper begins with a beam of width k. Here it is one of width 1, and the k best paths through the labels that
//   its path would change for least, which takes less and bounds more.
// - The paper takes the largest of the three sources' k-th scores; here their union is kept, without repetitions,
//   and its k-th score is at least that. Because the paths are kept, the search also ends when the best degenerate
//   path does not exceed the bound, or when no label is left that the first list did not run through.
// - Line 16 counts, for each label of the last column, the best path over active labels that ends there, also
//   where a degenerate one scores more.
// - Viterbi A* stops at the first degenerate path, or at one that does not exceed the bound, unless k' is given. From
//   then on columns are not doubled: they grow until what is left out cannot reach the bound, since by then it is good.
// - After a backward pass, Viterbi A* runs from left to right on the suffix scores instead of from right to left.
// Where there are fewer than k paths, nothing is ever pruned, and the search ends with all of them when no
// degenerate path is left.
#include "chain/method.hpp"
#include "chain/search/best_paths.hpp"
#include "chain/search/degenerate_paths.hpp"
#include "chain/search/next_best.hpp"
#include "chain/search/substitutions.hpp"

namespace certus {
namespace {

// Labels of a position that the first paths run through, at most, or an eighth of all.
inline constexpr Index kMost = 16;

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

// Adds real paths to begin with (line 1), and returns the labels that they are the best through: none where the beam
// met a dead end.
template <class Tr>
Column* add_first(const Trellis<Tr>& trellis, Index k, BestPaths<Tr>& paths, Index* path, Counters& counters,
                  Arena& arena) {
  if (!follow_best(trellis, path, counters, arena)) return nullptr;
  Column* columns = Substitutions<Tr>(trellis, arena).collect_best(path, k - 1, std::max(kMost, trellis.labels / 8));
  counters.edges += connect_all(columns, trellis, arena);
  NextBest next(Columns(columns, trellis.length), k);
  for (Index n = 0; n < k && next.next(path); ++n) paths.add(path);
  counters.expanded += next.taken;
  return columns;
}

// Viterbi A* (line 10) on the degenerate lattice: adds the real paths before the first degenerate one, or those among
// the first `most`. Tells whether `paths` now holds the k best of all.
template <class Tr>
bool add_next_best(const DegenerateLattice<Tr>& degenerate, Index k, Index most, bool forward, BestPaths<Tr>& paths,
                   Index* path, Counters& counters, Arena& arena) {
  const Arena::Scope scope(arena);
  NextBest<DegenerateColumns<Tr>> next(DegenerateColumns<Tr>(degenerate, arena), std::max(k, most), paths.bound());
  double unresolved = kNever<double>;  // the score of the best degenerate path
  bool all_active = true;
  for (Index n = 0; n < (all_active ? k : most); ++n) {
    const double score = next.remaining();
    if (score <= paths.bound() || !next.next(path)) break;
    if (!forward) std::reverse(path, path + degenerate.length());
    if (DegeneratePaths<Tr>::active(path, degenerate.length())) {
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
  Index* path = arena.get<Index>(trellis.length);
  const Column* first = request.first ? add_first(trellis, k, paths, path, answer.counters, arena) : nullptr;
  DegenerateLattice<Tr> degenerate(trellis, 0, answer.counters, arena);
  DegeneratePaths<Tr> search(degenerate, request.columnwise, arena);
  bool listed = false;
  for (bool forward = true;; forward = !forward) {
    const double most = forward ? degenerate.forward(paths.bound()) : degenerate.backward(paths.bound());
    if (most == kNever<double>) break;
    if (request.ends) search.add_active(k, paths);
    if (most <= paths.bound() || (first && search.is_within(first))) break;
    if (search.best_is_active()) {
      if (add_next_best(degenerate, k, request.listed * k, forward, paths, path, answer.counters, arena)) break;
      listed = true;
    }
    if (listed) search.expand_all(paths.bound());
    else search.expand(paths.bound());
  }
  paths.write(answer);
}

CERTUS_REGISTER(iterative_viterbi_astar, "iterative-viterbi-astar")

}  // namespace certus
