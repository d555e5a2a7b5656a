#include "chain/run.hpp"

#include <mutex>
#include <numeric>

#include "base/parallel.hpp"
#include "chain/search/forward_pass.hpp"
#include "chain/solvers/viterbi.hpp"

namespace certus {
namespace {

// Scores the paths found in canonical order and sorts them by it, keeping the solver's order among equals.
template <class Tr>
void rank(const Trellis<Tr>& trellis, Answer& answer, double* scores) {
  const Index T = trellis.length, n = answer.found;
  Heed heed;
  for (Index i = 0; i < n; ++i, heed(4 * T)) scores[i] = trellis.score(answer.labels + i * T);
  if (std::is_sorted(scores, scores + n, std::greater<>())) return;
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return scores[a] > scores[b]; });
  std::vector<Index> labels(answer.labels, answer.labels + n * T);
  std::vector<double> sorted(scores, scores + n);
  for (Index i = 0; i < n; ++i) {
    scores[i] = sorted[order[i]];
    std::copy_n(labels.begin() + order[i] * T, T, answer.labels + i * T);
  }
}

template <class Tr>
Result settle_answer(const Trellis<Tr>& trellis, Answer& answer, double* scores, Arena& arena) {
  if (answer.found == 0)
    return {.status = Status::infeasible,
            .score = kNever<double>,
            .bound = kNever<double>,
            .position = forward(trellis, arena).died,
            .counters = answer.counters};
  rank(trellis, answer, scores);
  if (answer.status == Status::feasible && answer.bound <= scores[0]) answer.status = Status::optimal;
  const double bound = answer.status == Status::optimal ? scores[0] : answer.bound;
  return {
      .status = answer.status, .found = answer.found, .score = scores[0], .bound = bound, .counters = answer.counters};
}

template <class Tr>
Result run_trellis(const Trellis<Tr>& trellis, const Method& method, const Request& request, Index* labels,
                   double* scores, Arena& arena) {
  Answer answer{labels};
  method.solver<Tr>()(trellis, request, answer, arena);
  if (answer.deferred) return {.deferred = true, .counters = answer.counters};
  if (answer.status == Status::invalid) return {.status = Status::invalid};
  return settle_answer(trellis, answer, scores, arena);
}

template <class Tr>
bool has_solver(const Method& method) {
  return method.solver<Tr>() != nullptr;
}

// For methods that are compiled for double precision only.
Sentence<double> widen(const Sentence<float>& sentence, Index labels, Arena& arena) {
  double* const wide = arena.get<double>(sentence.length * labels);
  Heed heed;
  for (Index t = 0; t < sentence.length; ++t, heed(labels))
    std::copy_n(sentence.data + t * sentence.stride, labels, wide + t * labels);
  return {wide, sentence.length, labels};
}

// Sentences that share a sweep: enough that reading the matrix no longer matters, while their prefixes fit
// in a bounded amount of memory.
inline constexpr Index kTogether = 16;
inline constexpr Index kTogetherBytes = Index{256} << 20;

template <class S>
void run_together(const Model<S>& model, const std::vector<Sentence<S>>& sentences, std::vector<Index> members,
                  Index threads, const std::vector<Index*>& labels, Index k, double* scores, Result* results) {
  std::stable_sort(members.begin(), members.end(),
                   [&](Index a, Index b) { return sentences[a].length > sentences[b].length; });
  const Index row = padded(model.labels()) * static_cast<Index>(sizeof(S));
  std::vector<std::pair<Index, Index>> groups;
  const Index count = static_cast<Index>(members.size());
  const Index share = std::min(kTogether, (count + threads - 1) / threads);
  for (Index begin = 0; begin < count;) {
    const Index fit = std::max<Index>(1, kTogetherBytes / std::max<Index>(1, row * sentences[members[begin]].length));
    const Index end = std::min({count, begin + share, begin + fit});
    groups.emplace_back(begin, end);
    begin = end;
  }
  parallel(static_cast<Index>(groups.size()), threads, [&](Index g, Index) {
    const LocalArena arena;
    std::vector<Trellis<Dense<S>>> trellises;
    std::vector<Answer> answers;
    const auto [begin, end] = groups[g];
    for (Index m = begin; m < end; ++m) {
      const Sentence<S>& s = sentences[members[m]];
      trellises.emplace_back(s.data, s.length, s.stride, model, model.dense(), arena);
      answers.push_back(Answer{labels[members[m]]});
    }
    std::vector<const Trellis<Dense<S>>*> each;
    std::vector<Answer*> into;
    for (Index n = 0; n < end - begin; ++n) each.push_back(&trellises[n]), into.push_back(&answers[n]);
    viterbi_together(each.data(), into.data(), end - begin, arena);
    for (Index n = 0; n < end - begin; ++n)
      results[members[begin + n]] = settle_answer(trellises[n], answers[n], scores + members[begin + n] * k, arena);
  });
}

// counts[j]: the sum over the labels i that j may follow of before[i].
template <class S>
void count_arrivals(const Dense<S>& tr, Index t, const std::vector<double>& before, std::vector<double>& counts) {
  std::fill(counts.begin(), counts.end(), 0.0);
  for (Label i = 0; i < tr.labels; ++i) {
    if (before[i] == 0) continue;
    const S* row = tr.row(t, i, nullptr);
    for (Index j = 0; j < tr.labels; ++j) counts[j] += row[j] == kNever<S> ? 0 : before[i];
  }
}
// Where pairs that are not listed are possible, those that are listed count as if they were, too.
template <class S>
void count_arrivals(const Sparse<S>& tr, Index, const std::vector<double>& before, std::vector<double>& counts) {
  const bool most = tr.fallback != kNever<S>;
  std::fill(counts.begin(), counts.end(), most ? std::accumulate(before.begin(), before.end(), 0.0) : 0.0);
  for (Index j = 0; !most && j < tr.labels; ++j)
    for (Index n = tr.column_begin[j]; n < tr.column_begin[j + 1]; ++n)
      if (tr.column_score[n] != kNever<S>) counts[j] += before[tr.column_from[n]];
}

}  // namespace

template <class S>
double count_paths(const Model<S>& model, const Sentence<S>& sentence) {
  const LocalArena arena;
  const auto count = [&](const auto& transitions) {
    const Trellis trellis(sentence.data, sentence.length, sentence.stride, model, transitions, arena);
    const Index L = trellis.labels;
    std::vector<double> before(L, 1.0), counts(L, 1.0);
    Heed heed;
    for (Index t = 0; t < trellis.length; ++t, heed(L * L)) {
      if (t > 0) count_arrivals(transitions, t - 1, before, counts);
      for (Index y = 0; y < L; ++y) before[y] = trellis.node(t)[y] == kNever<S> ? 0 : counts[y];
    }
    return std::accumulate(before.begin(), before.end(), 0.0);
  };
  return model.only_sparse() ? count(model.sparse()) : count(model.dense());
}

template <class S>
Result run(const Model<S>& model, const Method& method, const Sentence<S>& sentence, const Request& request,
           Index* labels, double* scores) {
  if (!method.checks_scores) {
    const Result bad = check_scores<S>(sentence, model);
    if (bad.status == Status::invalid) return bad;
  }
  const LocalArena arena;
  if constexpr (std::is_same_v<S, float>)
    if (!(model.only_sparse() ? has_solver<Sparse<S>>(method) : has_solver<Dense<S>>(method)))
      return run(model.widened(), method, widen(sentence, model.labels(), arena), request, labels, scores);
  const auto go = [&](const auto& transitions) {
    const Trellis trellis(sentence.data, sentence.length, sentence.stride, model, transitions, arena);
    return run_trellis(trellis, method, request, labels, scores, arena);
  };
  const Result result = model.only_sparse() ? go(model.sparse()) : go(model.dense());
  return result.status == Status::invalid ? check_scores<S>(sentence, model) : result;
}

template <class S>
void run_many(const Model<S>& model, const Method& method, const std::vector<Sentence<S>>& sentences,
              const Request& request, Index threads, const std::vector<Index*>& labels, double* scores,
              Result* results) {
  const Index count = static_cast<Index>(sentences.size());
  const Index bytes = model.labels() * model.labels() * static_cast<Index>(sizeof(S));
  // Sweeping together pays where the matrix does not stay in the second-level cache by itself.
  const bool together = request.k == 1 && !model.only_sparse() && model.positions() == 0 &&
                        !(request.sparse && model.prefers_sparse()) && bytes > (Index{1} << 20) && count > 1;
  Request each = request;
  each.defer = together;
  std::vector<Index> members;  // sentences that were deferred
  std::mutex guard;
  parallel(count, threads, [&](Index n, Index) {
    results[n] = {};
    if (!sentences[n].length) return;
    results[n] = run(model, method, sentences[n], each, labels[n], scores + n * request.k);
    if (!results[n].deferred) return;
    const std::lock_guard lock(guard);
    members.push_back(n);
  });
  if (members.empty()) return;
  std::sort(members.begin(), members.end());
  run_together(model, sentences, members, threads, labels, request.k, scores, results);
}

#define CERTUS_RUN(S)                                                                                            \
  template double count_paths(const Model<S>&, const Sentence<S>&);                                              \
  template Result run(const Model<S>&, const Method&, const Sentence<S>&, const Request&, Index*, double*);      \
  template void run_many(const Model<S>&, const Method&, const std::vector<Sentence<S>>&, const Request&, Index, \
                         const std::vector<Index*>&, double*, Result*);
CERTUS_RUN(float)
CERTUS_RUN(double)

}  // namespace certus
