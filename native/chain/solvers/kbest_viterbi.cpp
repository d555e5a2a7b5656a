// k-best Viterbi: Huang et al. 2012, section 3.4. Every label keeps its k best prefixes.
//
// The paper scores all k L prefixes for every label. Here a label of the position before is tried with its best
// prefix first, and with the others only where that one gets in; labels come by decreasing best prefix plus best
// transition, so that the rest of them is left out as soon as none can get in anywhere. Equal prefixes are ordered
// by label and rank, so that the k best are always the first k of the k + 1 best.
//
// Where most pairs share one score, each target takes its listed transitions and then the labels by decreasing
// best prefix until one does not get in: entries and k L, never L^2.
#include <limits>

#include "chain/method.hpp"

namespace certus {
namespace {

struct Prefix {
  double score;
  Label from, rank;  // extends the rank-th best prefix of label `from` at the position before
};

inline bool precedes_prefix(const Prefix& a, const Prefix& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.from != b.from ? a.from < b.from : a.rank < b.rank;
}

// The best prefixes of one target, at most `room` of them, as a heap with the worst on top. `least` is what a
// newcomer must reach: anything finite while there is room.
struct Shortlist {
  Prefix* list;
  Index room;

  bool offer(Index& count, double& least, const Prefix& p) const {
    if (count == room && !precedes_prefix(p, list[0])) return false;
    if (count == room) std::pop_heap(list, list + count--, precedes_prefix);
    list[count++] = p;
    std::push_heap(list, list + count, precedes_prefix);
    if (count == room) least = list[0].score;
    return true;
  }
};

// What every label of one position has.
struct PrefixColumn {
  Prefix* list;  // [L][room], best first
  Index* count;  // [L]
  Index room;    // k, or the number of prefixes there are

  double best(Label y) const { return list[y * room].score; }
};

constexpr double kAny = std::numeric_limits<double>::lowest();
constexpr double kClosed = std::numeric_limits<double>::infinity();

template <class Tr>
class KBest {
 public:
  using S = typename Tr::Score;

  KBest(const Trellis<Tr>& trellis, Index k, Arena& arena) : trellis_(trellis), k_(k), arena_(arena) {
    const Index L = trellis.labels;
    Index room = 1;
    for (Index t = 0; t < trellis.length; ++t, room = std::min(k, room * L))
      columns_[t] = {arena.get<Prefix>(L * room), arena.get<Index>(L, 0), room};
  }

  Index run(Index* labels, Counters& counters) {
    const Index T = trellis_.length;
    start();
    for (Index t = 1; t < T; ++t) extend(t, counters);
    counters.iterations = 1;
    counters.activated = T * trellis_.labels;
    return finish(labels);
  }

 private:
  void start() {
    const S* node = trellis_.node(0);
    for (Index y = 0; y < trellis_.labels; ++y) {
      columns_[0].list[y] = {static_cast<double>(node[y]), -1, -1};
      columns_[0].count[y] = node[y] != kNever<S>;
    }
  }

  void extend(Index t, Counters& counters) {
    const PrefixColumn& before = columns_[t - 1];
    PrefixColumn& now = columns_[t];
    const Index L = trellis_.labels;
    const S* node = trellis_.node(t);
    for (Index y = 0; y < L; ++y)
      least_[y] = node[y] == kNever<S> || bounds_.enter[y] == kNever<double> ? kClosed : kAny;
    if constexpr (std::is_same_v<Tr, Sparse<S>>) counters.edges += by_target(before, now);
    else counters.edges += L * by_row(t, before, now);
    for (Index y = 0; y < L; ++y) {
      Prefix* list = now.list + y * now.room;
      std::sort_heap(list, list + now.count[y], precedes_prefix);
      for (Index r = 0; r < now.count[y]; ++r) list[r].score += static_cast<double>(node[y]);
      heed_(8 * now.count[y]);
    }
  }

  // Returns how many labels were tried.
  Index by_row(Index t, const PrefixColumn& before, PrefixColumn& now) {
    const Index n = arrange(before, bounds_.leave.data());
    for (Index r = 0; r < n; ++r) {
      const Label i = ranked(r);
      if (r % kCheck == 0 && reach_[i] < slack()) return r;
      const S* row = trellis_.transitions.row(t - 1, i, nullptr);
      heed_(trellis_.labels);
      const Index hits = reaching(hits_, before.best(i), row, least_, trellis_.labels);
      for (Index h = 0; h < hits; ++h) offer(before, now, i, hits_[h], row[hits_[h]]);
    }
    return n;
  }

  // Returns how many pairs were tried.
  Index by_target(const PrefixColumn& before, PrefixColumn& now) {
    const auto& tr = trellis_.transitions;
    const Index L = trellis_.labels, n = tr.fallback == kNever<S> ? 0 : arrange(before, nullptr);
    Label* listed_by = hits_;  // the last target that lists a label
    std::fill(listed_by, listed_by + L, -1);
    Index tried = 0;
    for (Label j = 0; j < L; ++j) {
      if (least_[j] == kClosed) continue;
      for (Index e = tr.column_begin[j]; e < tr.column_begin[j + 1]; ++e) {
        const Label i = tr.column_from[e];
        listed_by[i] = j;
        if (before.count[i] == 0 || tr.column_score[e] == kNever<S>) continue;
        offer(before, now, i, j, tr.column_score[e]);
        ++tried;
      }
      bool more = true;
      for (Index r = 0; more && r < n; ++r) {
        if (listed_by[ranked(r)] == j) continue;
        more = offer(before, now, ranked(r), j, tr.fallback);
        ++tried;
      }
    }
    return tried;
  }

  // Offers the prefixes of label i to label j; tells whether any got in.
  bool offer(const PrefixColumn& before, PrefixColumn& now, Label i, Label j, S transition) {
    const Prefix* prefixes = before.list + i * before.room;
    const Shortlist shortlist{now.list + j * now.room, now.room};
    const double step = static_cast<double>(transition);
    Index r = 0;
    while (r < before.count[i] &&
           shortlist.offer(now.count[j], least_[j], {prefixes[r].score + step, i, static_cast<Label>(r)}))
      ++r;
    heed_(8 * (r + 1));
    return r > 0;
  }

  // Gathers the labels that have prefixes, to be read in order of best prefix plus `leave`; returns how many.
  Index arrange(const PrefixColumn& before, const double* leave) {
    Index n = 0;
    for (Label i = 0; i < trellis_.labels; ++i) {
      if (before.count[i] == 0) continue;
      reach_[i] = before.best(i) + (leave ? leave[i] : 0.0);
      if (reach_[i] != kNever<double>) order_[n++] = i;
    }
    std::make_heap(order_, order_ + n, Later{reach_});
    heap_ = gathered_ = n;
    return n;
  }

  // The r-th label of that order, which is sorted as far as it is read.
  Label ranked(Index r) {
    while (gathered_ - heap_ <= r) std::pop_heap(order_, order_ + heap_--, Later{reach_});
    return order_[gathered_ - 1 - r];
  }

  struct Later {
    const double* reach;
    bool operator()(Label a, Label b) const { return reach[a] != reach[b] ? reach[a] < reach[b] : a > b; }
  };

  // A label that reaches less than this gets in nowhere.
  double slack() const {
    double least = kClosed;
    for (Index y = 0; y < trellis_.labels; ++y) {
      const double x = least_[y] == kClosed ? kClosed : least_[y] - bounds_.enter[y];
      least = x < least ? x : least;
    }
    if (least == kClosed) return kClosed;
    // The bound holds up to the rounding of its three terms; a label too many costs only time.
    return least - 1e-14 * std::abs(least);
  }

  Index finish(Index* labels) {
    const Index T = trellis_.length;
    const PrefixColumn& last = columns_[T - 1];
    const Index room = std::min(k_, trellis_.labels * last.room);
    const Shortlist shortlist{arena_.get<Prefix>(room), room};
    Index found = 0;
    double least = kAny;
    for (Label y = 0; y < trellis_.labels; ++y)
      for (Index r = 0; r < last.count[y]; ++r)
        if (!shortlist.offer(found, least, {last.list[y * last.room + r].score, y, static_cast<Label>(r)})) break;
    std::sort_heap(shortlist.list, shortlist.list + found, precedes_prefix);
    for (Index n = 0; n < found; ++n, heed_(4 * T)) trace(shortlist.list[n], labels + n * T);
    return found;
  }

  void trace(Prefix p, Index* labels) const {
    for (Index t = trellis_.length - 1; t >= 0; --t) {
      labels[t] = p.from;
      p = columns_[t].list[p.from * columns_[t].room + p.rank];
    }
  }

  static constexpr Index kCheck = 16;  // labels between two looks at whether any more can get in

  const Trellis<Tr>& trellis_;
  const Bounds<S>& bounds_ = trellis_.model->bounds();
  Index k_;
  Arena& arena_;
  PrefixColumn* columns_ = arena_.get<PrefixColumn>(trellis_.length);
  double* least_ = arena_.get<double>(trellis_.labels);  // what a prefix must reach to get into a target's list
  double* reach_ = arena_.get<double>(trellis_.labels);
  // [gathered]: a heap of the labels not read yet, then the others, the first one last
  Label* order_ = arena_.get<Label>(trellis_.labels);
  Index heap_ = 0, gathered_ = 0;
  Heed heed_;
  Label* hits_ = arena_.get<Label>(trellis_.labels);
};

}  // namespace

CERTUS_SOLVER(kbest_viterbi) {
  using S = typename Tr::Score;
  if constexpr (std::is_same_v<Tr, Dense<S>>) {
    const Model<S>& model = *trellis.model;
    if (request.sparse && model.has_sparse() && !trellis.transitions.step)
      return kbest_viterbi(Trellis<Sparse<S>>(trellis, model.sparse()), request, answer, arena);
  }
  answer.found = KBest<Tr>(trellis, request.k, arena).run(answer.labels, answer.counters);
}

CERTUS_REGISTER(kbest_viterbi, "kbest-viterbi")

}  // namespace certus
