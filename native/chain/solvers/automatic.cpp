// The default method: exact, and as near as possible to reading each emission once.
//
// Beyond Kaji et al. 2010 and Huang et al. 2012: labels are chosen at each position by their score there, not in
// one order for all; the labels left out are bounded after the transitions from the labels kept, not before; and
// when the bound does not meet the best path, it tells exactly which labels can still matter, instead of doubling.
#include <span>

#include "chain/run.hpp"
#include "chain/search/narrow_search.hpp"
#include "chain/search/pruned_sweeps.hpp"
#include "chain/search/substitutions.hpp"
#include "chain/search/tight_paths.hpp"
#include "chain/solvers/viterbi.hpp"
#include "chain/solvers/viterbi_astar.hpp"

namespace certus {
namespace {

inline constexpr Index kSmall = 160;  // labels below which the dense sweep is faster
// Labels that a sweep keeps of a position, at most: so many at least, and the share of all, for the best path and for
// lists, which run through more labels.
inline constexpr Index kFew = 16, kMost = 32, kShareOne = 10, kShareMany = 4;
inline constexpr Index kSweeps = 8;      // after the first
inline constexpr Index kConnected = 16;  // transitions between kept labels, for each label of the sentence, at most
// How boldly the first sweep prunes; see Pruned::explore. Found by trial on trained and random models: the first try
// serves nearly all sentences, the second most of the others.
struct Try {
  double trust, caution, expected = 0;
};
inline constexpr Try kOne[] = {{0.3, 0.02}, {0.0, 0.2}};
// With k paths to prune by, a second try seldom finds what the first did not.
inline constexpr Try kMany[] = {{0.3, 0.1}};
// Rows of transitions that come from beyond the second-level cache are dearer than a second sweep.
inline constexpr Try kOneLarge[] = {{0.6, 0.05}, {0.0, 0.2}};
inline constexpr Index kLarge = 1000;
inline constexpr Index kLargeMany = 2000;  // for lists
// Bytes of transitions from which on those that cannot matter are worth looking for.
inline constexpr Index kOrdered = Index{6} << 20;
// Where few transitions are read, labels cost less.
inline constexpr Try kOneCoarse[] = {{0.4, 0.1, 1.5}, {0.0, 0.2}};
// Where all but a few pairs of labels share one score, as in trained models with many labels, that is what to expect.
inline constexpr Try kOneListed[] = {{0.0, 0.2}, {0.0, 0.6}};

// Writes the k best paths of some columns; returns the score of the last, or -inf if there are fewer.
double list(const Columns& columns, Index k, Answer& answer) {
  NextBest paths(columns, k);
  double last = kNever<double>;
  for (answer.found = 0; answer.found < k; ++answer.found) {
    last = paths.remaining();
    if (!paths.next(answer.labels + answer.found * columns.positions)) return kNever<double>;
  }
  answer.counters.expanded += paths.taken;
  return last;
}

// Where there is nothing to prune by, because a great many paths share the best score.
template <class Tr>
bool solve_tight(const Trellis<Tr>& trellis, Index k, Answer& answer, Arena& arena) {
  Tight<Tr> tight(trellis, arena);
  return tight.find() && list(tight.columns(), k, answer) >= tight.bound();
}

template <class Tr>
void solve_whole(const Trellis<Tr>& trellis, const Request& request, Answer& answer, Arena& arena) {
  answer.found = 0;
  if (request.k > 1) return viterbi_astar(trellis, request, answer, arena);
  using S = typename Tr::Score;
  const Index L = trellis.labels;
  if constexpr (std::is_same_v<Tr, Dense<S>>)
    if (L * L * Index{sizeof(S)} >= kOrdered && trellis.model->positions() == 0 && !trellis.model->prefers_sparse())
      return viterbi_ordered(trellis, answer, arena);
  viterbi(trellis, request, answer, arena);
}

// Whether any score is NaN, +inf or too large, for trellises that are not swept to the end.
template <class Tr>
bool has_invalid(const Trellis<Tr>& trellis) {
  using S = typename Tr::Score;
  const Sentence<S> sentence{trellis.data, trellis.length, trellis.stride};
  return check_scores<S>(sentence, *trellis.model).status == Status::invalid;
}

// Whether many labels share the best score, at first sight.
template <class Tr>
bool seems_tied(const Trellis<Tr>& trellis) {
  constexpr Index kSample = 64, kShared = 5;
  const auto* const row = trellis.node(0);
  const Index n = std::min(kSample, trellis.labels);
  return std::count(row, row + n, *std::max_element(row, row + n)) >= kShared;
}

// Where rows of transitions are long, or many paths share the best score; false when too many labels matter.
template <class Tr>
bool solve_narrow(const Trellis<Tr>& trellis, Index k, Answer& answer, Arena& arena) {
  using S = typename Tr::Score;
  if constexpr (std::is_same_v<Tr, Dense<S>>) {
    using Outcome = typename Narrow<S>::Outcome;
    Narrow<S> narrow(trellis, answer.counters, arena);
    const auto write = [&](const Columns& columns) { return list(columns, k, answer); };
    const Outcome outcome = k == 1 ? narrow.solve(answer.labels) : narrow.solve_many(k, write);
    if (outcome == Outcome::invalid) answer.status = Status::invalid;
    if (outcome != Outcome::found) answer.found = 0;
    else if (k == 1) answer.found = 1;
    return outcome != Outcome::lost;
  }
  return false;
}

// The sweeps after the first, until the labels that matter are known; false when that would not pay.
template <class Tr>
bool solve_one(Pruned<Tr>& pruned, Index T, Index most, Index edges, Answer& answer, Arena& arena) {
  using Sweep = typename Pruned<Tr>::Sweep;
  double known = pruned.trace(answer.labels);
  if (known == kNever<double>) return false;
  answer.found = 1;
  if (pruned.bound() <= known) return true;
  Index* path = arena.get<Index>(T);
  for (Index n = 0; n < kSweeps; ++n) {
    const Sweep sweep = n % 2 ? pruned.sweep_right(known, most) : pruned.sweep_left(known, most);
    if (sweep == Sweep::lost) return false;
    if (sweep == Sweep::complete) {
      if (pruned.edges() > edges) return false;
      pruned.connect().trace(known, answer.labels);
      return true;
    }
    if (n % 2 == 0) continue;
    const double score = pruned.trace(path);
    if (score > known) known = score, std::copy_n(path, T, answer.labels);
    if (pruned.bound() <= known) return true;
  }
  return false;
}

// The same for lists of paths. What to prune by is the last of a list through the labels that the first path would
// change for least.
template <class Tr>
bool solve_many(const Trellis<Tr>& trellis, Pruned<Tr>& pruned, Index most, Index edges, Index k, Answer& answer,
                Arena& arena) {
  using Sweep = typename Pruned<Tr>::Sweep;
  Index* path = arena.get<Index>(trellis.length);
  if (pruned.trace(path) == kNever<double>) return false;
  Column* columns = Substitutions<Tr>(trellis, arena).collect_best(path, k - 1, most);
  const Columns listed(columns, trellis.length);
  if (listed.edges() > edges) return false;
  answer.counters.edges += connect_all(columns, trellis, arena);
  const double known = list(listed, k, answer);
  for (Index n = 0; n < kSweeps; ++n) {
    const Sweep sweep = n % 2 ? pruned.sweep_right(known, most) : pruned.sweep_left(known, most, n ? 0 : kFew);
    if (sweep == Sweep::lost) return false;
    if (sweep == Sweep::complete) {
      // Where the labels that matter are among those that paths were listed from, the list is right already.
      if (answer.found == k && known != kNever<double> && pruned.within(listed)) return true;
      if (pruned.edges() > edges) return false;
      list(pruned.connect(), k, answer);
      return answer.found > 0;
    }
  }
  return false;
}

}  // namespace

CERTUS_SOLVER(automatic) {
  const Index T = trellis.length, L = trellis.labels, edges = T * L * std::min(L / 200, kConnected);
  // Lists of a great many paths run through so many labels that connecting them would not pay.
  const bool long_list = request.k > 1 && (request.k + T) * (request.k / T + 1) > edges;
  if (L < kSmall || trellis.model->positions() > 0 || long_list) {
    if (has_invalid(trellis)) answer.status = Status::invalid;
    else solve_whole(trellis, request, answer, arena);
    return;
  }
  const bool tied = seems_tied(trellis);  // then one path is soon found, but a great many belong to a list
  const bool narrow = request.k == 1 ? L >= kLarge || tied : L >= kLargeMany && !tied;
  if (narrow && solve_narrow(trellis, request.k, answer, arena)) return;
  using Sweep = typename Pruned<Tr>::Sweep;
  Pruned<Tr> pruned(trellis, request.k > 1, answer.counters, arena);
  const bool one = request.k == 1, listed = trellis.model->mostly_default();
  const Index few = std::max(kFew, L / 20), most = std::max(kMost, L / (one ? kShareOne : kShareMany));
  std::span<const Try> tries = kMany;
  if (one && listed) tries = kOneListed;
  else if (one && pruned.coarse()) tries = kOneCoarse;
  else if (one) tries = L < kLarge ? kOne : kOneLarge;
  for (const Try& attempt : tries) {
    const Sweep sweep = pruned.explore(few, attempt.trust, attempt.caution, attempt.expected);
    if (sweep == Sweep::partial) {
      if (one ? solve_one(pruned, T, most, edges, answer, arena)
              : solve_many(trellis, pruned, most, edges, request.k, answer, arena))
        return;
      continue;
    }
    if (sweep == Sweep::invalid || has_invalid(trellis)) answer.status = Status::invalid;
    if (sweep == Sweep::dead || answer.status == Status::invalid) return;
    if (sweep != Sweep::flat) continue;
    if (solve_tight(trellis, request.k, answer, arena)) return;
    break;
  }
  solve_whole(trellis, request, answer, arena);
}

CERTUS_REGISTER_ALL(automatic, "auto", .checks_scores = true)

}  // namespace certus
