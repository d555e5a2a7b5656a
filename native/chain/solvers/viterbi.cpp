#include "chain/solvers/viterbi.hpp"
#include "chain/method.hpp"
#include "chain/search/ordered_arrivals.hpp"

namespace certus {
namespace {

template <class Tr>
void finish(const Trellis<Tr>& trellis, const Forward<typename Tr::Score>& f, Answer& answer, Arena& arena) {
  if (f.died >= 0) return;
  const Index T = trellis.length;
  const auto* ends = f.row(T - 1);
  const auto best = std::max_element(ends, ends + trellis.labels) - ends;
  trace(trellis, f, T - 1, static_cast<Label>(best), answer.labels, arena);
  answer.found = 1;
}

}  // namespace

CERTUS_SOLVER(viterbi) {
  if (request.defer) {
    answer.deferred = true;
    return;
  }
  using S = typename Tr::Score;
  const Index L = trellis.labels;
  answer.counters.iterations = 1;
  answer.counters.activated = trellis.length * L;
  if constexpr (std::is_same_v<Tr, Dense<S>>) {
    const Model<S>& model = *trellis.model;
    if (request.sparse && model.prefers_sparse() && !trellis.transitions.step) {
      const Trellis<Sparse<S>> listed(trellis, model.sparse());
      answer.counters.edges = (trellis.length - 1) * (L + model.sparse().row_begin[L]);
      return finish(listed, forward(listed, arena), answer, arena);
    }
  }
  answer.counters.edges = (trellis.length - 1) * L * L;
  finish(trellis, forward(trellis, arena), answer, arena);
}

template <class S>
void viterbi_ordered(const Trellis<Dense<S>>& trellis, Answer& answer, Arena& arena) {
  OrderedArrivals<S> ordered(trellis, arena);
  const auto f = forward_by(trellis, arena, [&](Index t, const S* before, S* arrivals, Index width, Heed& heed) {
    ordered.arrive(t, before, arrivals, width, heed);
  });
  answer.counters.iterations = 1;
  answer.counters.activated = trellis.length * trellis.labels;
  answer.counters.edges = ordered.edges();
  finish(trellis, f, answer, arena);
}

template <class S>
void viterbi_together(const Trellis<Dense<S>>* const* trellises, Answer* const* answers, Index sentences,
                      Arena& arena) {
  const Index L = trellises[0]->labels, width = padded(L);
  Index longest = 0;
  auto* forwards = arena.get<Forward<S>>(sentences);
  for (Index b = 0; b < sentences; ++b) {
    forwards[b] = forward_storage<S>(trellises[b]->length, L, arena);
    longest = std::max(longest, trellises[b]->length);
    answers[b]->counters = {1, trellises[b]->length * L, 0, (trellises[b]->length - 1) * L * L, 0};
  }
  S* before = arena.get<S>(sentences * width);
  S* arrivals = arena.get<S>(sentences * width);
  Index* running = arena.get<Index>(sentences);
  Heed heed;
  for (Index t = 0; t < longest; ++t) {
    Index n = 0;
    for (Index b = 0; b < sentences; ++b)
      if (t < trellises[b]->length && forwards[b].died < 0) {
        if (t > 0) std::copy_n(forwards[b].row(t - 1), width, before + n * width);
        running[n++] = b;
      }
    std::fill(arrivals, arrivals + n * width, t ? kNever<S> : S{0});
    if (t > 0) {
      const Dense<S>& tr = trellises[0]->transitions;
      for_row_blocks(L, false, heed, [&](Index begin, Index count) {
        maxplus_many(arrivals, before + begin, n, tr.data + begin * tr.stride, count, tr.stride, width);
        heed(n * count * L / 4);
      });
    }
    for (Index r = 0; r < n; ++r) {
      Forward<S>& f = forwards[running[r]];
      if (!settle(f.alpha + t * width, arrivals + r * width, trellises[running[r]]->node(t), L, width,
                  t ? f.offset[t - 1] : 0, f.offset + t))
        f.died = t;
    }
  }
  for (Index b = 0; b < sentences; ++b) finish(*trellises[b], forwards[b], *answers[b], arena);
}

CERTUS_REGISTER_ALL(viterbi, "viterbi")
template void viterbi_ordered(const Trellis<Dense<float>>&, Answer&, Arena&);
template void viterbi_ordered(const Trellis<Dense<double>>&, Answer&, Arena&);
template void viterbi_together(const Trellis<Dense<float>>* const*, Answer* const*, Index, Arena&);
template void viterbi_together(const Trellis<Dense<double>>* const*, Answer* const*, Index, Arena&);

}  // namespace certus
