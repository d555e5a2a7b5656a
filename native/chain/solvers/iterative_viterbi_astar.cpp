// k-best iterative Viterbi A*: Huang et al. 2012, section 4.4, algorithm 4.
//
// The lower bound is the k-th score among all real paths seen: those of the beginning (line 1), those of the last
// column (line 16), and those that Viterbi A* finds on the degenerate lattice (line 19). Departures:
// - The paper begins with a beam of width k. Here it is one of width 1, and the k best paths through the labels that
//   its path would change for least, which takes less and bounds more; they are listed again near the best of them
//   where that path is not among them, and near a better one that a pass finds.
// - The labels of that list are active from the start, and no part of the rests. Columns are doubled together, from
//   2^kLevel labels on, and paths are listed again when no rest is left; before that only if k' is given.
// - The paper takes the largest of the three sources' k-th scores; here their union is kept, without repetitions,
//   and its k-th score is at least that. Because the paths are kept, the search also ends when the best degenerate
//   path does not exceed the bound, or when no label is left that the first list did not run through.
// - Line 16 is left out unless it is asked for. It counts, for each label of the last column, the best path over active
//   labels that ends there, also where a degenerate one scores more.
// - Without a first list, Viterbi A* stops at the first degenerate path, or at one that does not exceed the bound,
//   unless k' is given. From then on columns grow until what is left out cannot reach the bound.
// - After a backward pass, Viterbi A* runs from left to right on the suffix scores instead of from right to left.
// - Viterbi A* on the whole trellis ends the search where passes have taken as long as that: it is the last round, with
//   all labels active. It is the only one where there are few labels, or where at some positions of the first path so
//   many labels are near the best one that little would be pruned. Request::patience sets how long; infinity is never.
// Where there are fewer than k paths, nothing is ever pruned, and the search ends with all of them when no
// degenerate path is left.
#include "chain/method.hpp"
#include "chain/search/best_paths.hpp"
#include "chain/search/degenerate_paths.hpp"
#include "chain/search/next_best.hpp"
#include "chain/search/substitutions.hpp"
#include "chain/solvers/viterbi_astar.hpp"

namespace certus {
namespace {

// Labels of a position that the first paths run through, at most, or an eighth of all.
inline constexpr Index kMostNear = 16;
// Columns that have these from the start begin with 2^kLevel labels more: smaller ones bound too little.
inline constexpr Index kLevel = 4;

// Below so many labels Viterbi A* takes less than the first list.
inline constexpr Index kFewLabels = 100;
// Positions that are looked at to see whether scores are flat, and the share of labels near the best, 1 / kNear.
inline constexpr Index kSamples = 4, kNear = 3;
inline constexpr double kEver = std::numeric_limits<double>::infinity();

// A little below or above a score: what rounding may make of it.
double lower(double score) { return score - 1e-9 * std::max(1.0, std::abs(score)); }
double lift(double score) { return score + 1e-9 * std::max(1.0, std::abs(score)); }

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

// Lists real paths to begin with (line 1): the k best through some labels, which it returns, those of the best
// substitutions of `path`.
template <class Tr>
Column* list_near(const Trellis<Tr>& trellis, Index k, const Index* path, BestPaths<Tr>& paths, Counters& counters,
                  Arena& arena) {
  Column* columns =
      Substitutions<Tr>(trellis, arena).collect_best(path, k - 1, std::max(kMostNear, trellis.labels / 8));
  counters.edges += connect_all(columns, trellis, arena);
  NextBest next(Columns(columns, trellis.length), k);
  paths.take(next);
  counters.expanded += next.taken;
  return columns;
}

// The same again near the best of them, where the path is not among them.
template <class Tr>
Column* list_first(const Trellis<Tr>& trellis, Index k, Index* path, BestPaths<Tr>& paths, Counters& counters,
                   Arena& arena) {
  Column* columns = list_near(trellis, k, path, paths, counters, arena);
  if (!(trellis.score(path) < paths.bound())) return columns;
  std::copy_n(paths.best_path(), trellis.length, path);
  return list_near(trellis, k, path, paths, counters, arena);
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

// What Viterbi A* on the whole trellis takes, roughly, in transitions that a pass over a degenerate lattice scores, so
// many times.
template <class Tr>
Index measure_whole(const Trellis<Tr>& trellis, double times) {
  using S = typename Tr::Score;
  const Model<S>& model = *trellis.model;
  const Index L = trellis.labels;
  const Index step = model.prefers_sparse() ? 4 * L + model.sparse().row_begin[L] * Index{sizeof(S)} / 8
                                            : L * L * Index{sizeof(S)} / 160;  // it scores many at a time
  return static_cast<Index>(std::min(times * static_cast<double>(trellis.length * step), 1e18));
}

// Whether so many labels are near the best one, at some positions of a path, that little will be pruned: those that
// could overtake it by their best transition, where it goes on with a usual one.
template <class Tr>
bool seems_flat(const Trellis<Tr>& trellis, const Index* path, Arena& arena) {
  using S = typename Tr::Score;
  const Arena::Scope scope(arena);
  const Bounds<S>& bounds = trellis.model->bounds();
  const Index T = trellis.length, L = trellis.labels, stride = std::max<Index>(1, (T - 1) / kSamples);
  S* buffer = arena.get<S>(L);
  S* scores = arena.get<S>(L);
  Label* hits = arena.get<Label>(L);
  Index near = 0, samples = 0;
  for (Index t = 0; t + 1 < T; t += stride, ++samples) {
    const S* row = t ? trellis.transitions.row(t - 1, static_cast<Label>(path[t - 1]), buffer) : bounds.nothing.data();
    const double least = static_cast<double>(add_max(scores, row, trellis.node(t), L)) + bounds.mean;
    near += reaching(hits, scores, bounds.nothing.data(), bounds.leave_rounded.data(), {0, 0, kEver, 0, least}, L);
  }
  return kNear * near > samples * L;
}

// Viterbi A* where no degenerate label is left: through the columns themselves.
template <class Tr>
void list_closed(const Trellis<Tr>& trellis, const DegenerateLattice<Tr>& degenerate, BestPaths<Tr>& paths,
                 const Request& request, Answer& answer, Arena& arena) {
  Column* columns = degenerate.copy_columns();
  answer.counters.edges += connect_all(columns, trellis, arena);
  const Index T = trellis.length;
  NextBest next(Columns(columns, T), request.k, lower(paths.bound()));
  while (answer.found < request.k && next.next(answer.labels + answer.found * T)) ++answer.found;
  answer.counters.expanded += next.taken;
  if (answer.found == request.k) return;
  for (Index n = 0; n < answer.found; ++n) paths.add(answer.labels + n * T);
  paths.write(answer);
}

}  // namespace

CERTUS_SOLVER(iterative_viterbi_astar) {
  using Lattice = DegenerateLattice<Tr>;
  const Index k = request.k, T = trellis.length;
  const bool hurries = request.first && std::isfinite(request.patience);
  if (hurries && trellis.labels < kFewLabels) return viterbi_astar(trellis, request, answer, arena);
  BestPaths<Tr> paths(trellis, k, arena);
  Index* path = arena.get<Index>(T);
  const Column* first = nullptr;
  if (request.first && follow_best(trellis, path, answer.counters, arena)) {
    if (hurries && seems_flat(trellis, path, arena)) return viterbi_astar(trellis, request, answer, arena);
    first = list_first(trellis, k, path, paths, answer.counters, arena);
  }
  Lattice degenerate(trellis, typename Lattice::Start{first, lower(paths.bound())}, answer.counters, arena);
  if (std::isfinite(request.patience)) degenerate.limit_edges(measure_whole(trellis, request.patience));
  DegeneratePaths<Tr> search(degenerate, request.columnwise, arena);
  bool listed = false;
  for (bool forward = true;; forward = !forward) {
    const double least = lower(paths.bound());
    const double most = forward ? degenerate.forward(least) : degenerate.backward(least);
    if (degenerate.is_exhausted()) return viterbi_astar(trellis, request, answer, arena);
    if (most == kNever<double>) break;
    if (request.ends) search.add_active(k, paths);
    if (first && search.find_active(lift(paths.best()), path))
      first = list_near(trellis, k, path, paths, answer.counters, arena);
    if (most <= paths.bound() || (first && search.is_within(first))) break;
    if (search.is_closed()) return list_closed(trellis, degenerate, paths, request, answer, arena);
    if ((!first || request.listed) && search.best_is_active()) {
      if (add_next_best(degenerate, k, request.listed * k, forward, paths, path, answer.counters, arena)) break;
      listed = true;
    }
    if (listed) search.expand_all(lower(paths.bound()));
    else if (first) search.expand_each(lower(paths.bound()), kLevel);
    else search.expand(lower(paths.bound()));
  }
  paths.write(answer);
}

CERTUS_REGISTER(iterative_viterbi_astar, "iterative-viterbi-astar")

}  // namespace certus
