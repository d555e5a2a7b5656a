// Beam search, the approximate baseline of Huang et al. 2012 (section 5), with a certificate.
//
// At every position the `width` labels with the best prefixes go on and the others are dropped. What a dropped
// prefix could still have come to is bounded, so the answer carries the largest score it may have missed; where
// that is no more than what was found, the path is proven optimal. The bound comes from a pass from the end that
// knows the transitions between the few most promising labels of neighbouring positions, and for all others the
// potentials of the model (see Bounds).
//
// Two departures from the textbook: a beam that dies is started again with twice the width, so "no path" is said
// only of problems that have none; and prefixes are summed in double whatever the model's precision, so that the
// bound is not rounded below the truth.
#include "chain/method.hpp"

namespace certus {
namespace {

struct Hypothesis {
  double score;  // of the prefix that ends here
  Label label;
  Label from;  // index into the beam of the position before
};

inline bool better(const Hypothesis& a, const Hypothesis& b) {
  return a.score != b.score ? a.score > b.score : a.label < b.label;
}

// Moves the best `width` scores into `beam`, leaving -inf in their places; returns how many there were.
Index select(double* scores, Index L, Index width, Hypothesis* beam) {
  Index size = 0;
  double least = kNever<double>;
  for (Index y = 0; y < L; ++y) {
    if (!(scores[y] > least)) continue;
    const Hypothesis h{scores[y], static_cast<Label>(y), -1};
    if (size < width) {
      beam[size++] = h;
      if (size < width) continue;
      std::make_heap(beam, beam + size, better);  // the worst on top
    } else {
      std::pop_heap(beam, beam + size, better);
      beam[size - 1] = h;
      std::push_heap(beam, beam + size, better);
    }
    least = beam[0].score;
  }
  for (Index n = 0; n < size; ++n) scores[beam[n].label] = kNever<double>;
  return size;
}

// Upper bounds on what a prefix can still gain.
template <class Tr>
class Outlook {
 public:
  using S = typename Tr::Score;

  Outlook(const Trellis<Tr>& trellis, Index width, Arena& arena)
      : trellis_(trellis), width_(std::min({width, trellis.labels, kMost})), arena_(arena) {
    const Index T = trellis.length, L = trellis.labels;
    double* own = arena.get<double>(L);
    entered_[T] = 0;
    double others = kNever<double>;
    Heed heed;
    for (Index t = T - 1; t >= 0; --t, heed(4 * L + width_ * width_)) {
      const S* node = trellis.node(t);
      for (Index y = 0; y < L; ++y) own[y] = static_cast<double>(node[y]) + bounds_.enter[y];
      if (t < T - 1)
        for (Index y = 0; y < L; ++y) own[y] += bounds_.leave[y];
      others = look(t, own, others);
    }
  }

  // The largest scores[y] + gain after label y at position t < T - 1. Changes the scores.
  double most(Index t, double* scores) const {
    double most = kNever<double>;
    for (Index n = 0; n < size_[t]; ++n) {
      const Hypothesis& h = top_[t * width_ + n];
      most = std::max(most, scores[h.label] + h.score);
      scores[h.label] = kNever<double>;
    }
    return std::max(most, max_sum(scores, bounds_.leave.data(), trellis_.labels) + entered_[t + 1]);
  }

 private:
  // Bounds position t, given what its labels gain by themselves (`own`, used up) and the most through the less
  // promising labels of the position after; returns the same for this position.
  double look(Index t, double* own, double others_after) {
    const Index L = trellis_.labels;
    Hypothesis* top = top_ + t * width_;
    size_[t] = select(own, L, width_, top);
    const double others = largest(own, L) + entered_[t + 1];
    entered_[t] = others;
    for (Index n = 0; n < size_[t]; ++n) {
      const Label y = top[n].label;
      top[n].score = t < trellis_.length - 1 ? gain(t, y, others_after) : 0.0;
      const double node = static_cast<double>(trellis_.node(t)[y]);
      entered_[t] = std::max(entered_[t], node + bounds_.enter[y] + top[n].score);
    }
    return others;
  }

  double gain(Index t, Label y, double others_after) const {
    double most = bounds_.leave[y] + others_after;
    const S* node = trellis_.node(t + 1);
    const Hypothesis* after = top_ + (t + 1) * width_;
    for (Index n = 0; n < size_[t + 1]; ++n) {
      const Label z = after[n].label;
      const double step = static_cast<double>(trellis_.at(t, y, z));
      most = std::max(most, step + static_cast<double>(node[z]) + after[n].score);
    }
    return most;
  }

  static constexpr Index kMost = 64;  // promising labels per position; their pairs are looked at

  const Trellis<Tr>& trellis_;
  const Bounds<S>& bounds_ = trellis_.model->bounds();
  Index width_;
  Arena& arena_;
  // [T][width]: the promising labels; `score` is the most that is gained after them
  Hypothesis* top_ = arena_.get<Hypothesis>(trellis_.length * width_);
  Index* size_ = arena_.get<Index>(trellis_.length);
  // The most that is gained from position t on, less `leave` of the label before
  double* entered_ = arena_.get<double>(trellis_.length + 1);
};

template <class Tr>
class Beam {
 public:
  using S = typename Tr::Score;

  Beam(const Trellis<Tr>& trellis, Index width, Arena& arena)
      : trellis_(trellis), outlook_(trellis, width, arena), arena_(arena) {}

  // Tells whether the beam got through; what the dropped prefixes could have come to is in `missed` either way.
  bool run(Index width, Index* labels, Counters& counters) {
    const Arena::Scope scope(arena_);
    const Index T = trellis_.length;
    Hypothesis* beams = arena_.get<Hypothesis>(T * width);  // [T][width]
    Index size = 0;
    missed = found = kNever<double>;
    ++counters.iterations;
    Heed heed;
    for (Index t = 0; t < T; ++t, heed((4 + size) * trellis_.labels + size * size)) {
      Hypothesis* beam = beams + t * width;
      const Hypothesis* previous = t ? beam - width : nullptr;
      extend(t, previous, size, counters);
      const Index before = size;
      size = select(scores_, trellis_.labels, width, beam);
      counters.activated += size;
      if (t < T - 1) missed = std::max(missed, outlook_.most(t, scores_));
      if (size == 0) return false;
      if (t > 0) link(t, beam, size, previous, before);
    }
    trace(beams, width, size, labels);
    return true;
  }

  double found = 0, missed = 0;

 private:
  // scores[y]: the best prefix from the beam to label y at position t; arrivals[y]: the same without its node.
  void extend(Index t, const Hypothesis* beam, Index size, Counters& counters) {
    const Index L = trellis_.labels;
    std::fill(arrivals_, arrivals_ + L, t ? kNever<double> : 0.0);
    for (Index n = 0; n < size; ++n)
      raise(arrivals_, beam[n].score, trellis_.transitions.row(t - 1, beam[n].label, buffer_), L);
    counters.expanded += size;
    counters.edges += size * L;
    const S* node = trellis_.node(t);
    for (Index y = 0; y < L; ++y) scores_[y] = arrivals_[y] + static_cast<double>(node[y]);
  }

  // Finds again where the survivors came from: a few look-ups instead of a back-pointer in every update.
  void link(Index t, Hypothesis* beam, Index size, const Hypothesis* before, Index count) const {
    for (Index n = 0; n < size; ++n) {
      const Label y = beam[n].label;
      const auto arrival = [&](Label b) {
        return before[b].score + static_cast<double>(trellis_.at(t - 1, before[b].label, y));
      };
      Label from = 0;
      while (from < count - 1 && arrival(from) != arrivals_[y]) ++from;
      beam[n].from = from;
    }
  }

  void trace(const Hypothesis* beams, Index width, Index size, Index* labels) {
    const Index T = trellis_.length;
    const Hypothesis* last = beams + (T - 1) * width;
    const Hypothesis* h = std::min_element(last, last + size, better);
    found = h->score;
    for (Index t = T - 1;; --t) {
      labels[t] = h->label;
      if (t == 0) return;
      h = beams + (t - 1) * width + h->from;
    }
  }

  const Trellis<Tr>& trellis_;
  Outlook<Tr> outlook_;
  Arena& arena_;
  double *arrivals_ = arena_.get<double>(trellis_.labels), *scores_ = arena_.get<double>(trellis_.labels);
  S* buffer_ = arena_.get<S>(trellis_.labels);
};

}  // namespace

CERTUS_SOLVER(beam) {
  Index width = std::max<Index>(1, request.width);
  Beam<Tr> search(trellis, width, arena);
  for (;; width *= 2) {
    width = std::min(width, trellis.labels);
    if (search.run(width, answer.labels, answer.counters)) break;
    if (search.missed == kNever<double> || width == trellis.labels) return;  // nothing dropped leads to the end
  }
  answer.found = 1;
  if (search.missed <= search.found) return;
  answer.status = Status::feasible;
  answer.bound = search.missed;
}

CERTUS_REGISTER(beam, "beam")

}  // namespace certus
