// The transitions between chosen labels, where all but the listed ones score the same.
#pragma once

#include "chain/search/selected_transitions.hpp"

namespace certus {

template <class S>
class Selected<Sparse<S>> {
 public:
  Selected(const Trellis<Sparse<S>>& trellis, const DegenerateTables<S>&, Arena& arena)
      : transitions_(trellis.transitions),
        rows_{transitions_.row_begin, transitions_.row_to, transitions_.row_score},
        columns_{transitions_.column_begin, transitions_.column_from, transitions_.column_score},
        spread_(arena.get<S>(trellis.labels, transitions_.fallback)),
        source_(arena.get<Label>(trellis.labels, kNone)) {}

  // As for dense transitions.
  const S* leaving(Index, const Selection& from, const Selection& to, S* buffer) const {
    return pick(rows_, from.label[0], to, buffer);
  }
  const S* entering(Index, const Selection& from, const Selection& to, S* buffer) const {
    return pick(columns_, to.label[0], from, buffer);
  }
  Index arrive(Index, const Selection& from, const double* a, const double* b, const Selection& to, double* in,
               double* pure, S* buffer) const {
    if (lists_pay(columns_, to, from.count)) return sweep(columns_, from, a, b, to, in, pure);
    for (Index i = 0; i < from.count; ++i)
      raise_both(in, pure, a[i], b[i], pick(rows_, from.label[i], to, buffer), to.count);
    return from.count * to.count;
  }
  Index depart(Index, const Selection& from, const Selection& to, const double* a, const double* b, double* out,
               double* pure, S* buffer) const {
    if (lists_pay(rows_, from, to.count)) return sweep(rows_, to, a, b, from, out, pure);
    for (Index i = 0; i < from.count; ++i)
      largest_sums(a, b, pick(rows_, from.label[i], to, buffer), to.count, out + i, pure + i);
    return from.count * to.count;
  }

 private:
  struct Lists {
    const Index* begin;  // [labels + 1]
    const Label* other;
    const S* score;
  };
  static constexpr Label kNone = -1;

  // A short list is spread over all labels, read and taken back; a long one is searched for each label.
  const S* pick(const Lists& lists, Label y, const Selection& wanted, S* out) const {
    const Index begin = lists.begin[y], end = lists.begin[y + 1];
    if (begin == end) {
      std::fill(out, out + wanted.count, transitions_.fallback);
    } else if (end - begin <= kSearch * wanted.count) {
      for (Index n = begin; n < end; ++n) spread_[lists.other[n]] = lists.score[n];
      gather(out, spread_, wanted.label, wanted.count);
      for (Index n = begin; n < end; ++n) spread_[lists.other[n]] = transitions_.fallback;
    } else {
      for (Index n = 0; n < wanted.count; ++n) {
        const Index found = find(lists, y, wanted.label[n]);
        out[n] = found < 0 ? transitions_.fallback : lists.score[found];
      }
    }
    return out;
  }

  Index find(const Lists& lists, Label y, Label other) const {
    const Label* end = lists.other + lists.begin[y + 1];
    const Label* found = std::lower_bound(lists.other + lists.begin[y], end, other);
    return found != end && *found == other ? found - lists.other : -1;
  }

  // Whether going through the lists of the targets is less work than scoring all pairs.
  bool lists_pay(const Lists& lists, const Selection& targets, Index sources) const {
    Index entries = 4 * (sources + targets.count);
    for (Index j = 0; j < targets.count; ++j) {
      const Index* begin = lists.begin + targets.label[j];
      entries += begin[1] - begin[0];
    }
    return entries < sources * targets.count;
  }

  // The best few sources, best first: one of them is nearly always the best that a target does not list.
  struct Tops {
    static constexpr Index kTop = 32;
    Index index[kTop];
    Index count = 0;

    Tops(const double* value, Index n) {
      for (Index i = 0; i < n; ++i) {
        if (count == kTop && !(value[i] > value[index[kTop - 1]])) continue;
        Index place = count < kTop ? count++ : kTop - 1;
        for (; place > 0 && value[i] > value[index[place - 1]]; --place) index[place] = index[place - 1];
        index[place] = i;
      }
    }
  };

  // For each target, best_a = the largest a[source] + transition, and best_b the same with b: over the listed
  // sources, and with the shared score over the best source that is not listed.
  Index sweep(const Lists& lists, const Selection& sources, const double* a, const double* b, const Selection& targets,
              double* best_a, double* best_b) const {
    const Tops tops_a(a, sources.count), tops_b(b, sources.count);
    for (Index i = 0; i < sources.count; ++i) source_[sources.label[i]] = static_cast<Label>(i);
    Index scored = targets.count;
    for (Index j = 0; j < targets.count; ++j) {
      const Label y = targets.label[j];
      double most_a = kNever<double>, most_b = kNever<double>;
      for (Index n = lists.begin[y]; n < lists.begin[y + 1]; ++n) {
        const Label i = source_[lists.other[n]];
        if (i == kNone) continue;
        const double link = static_cast<double>(lists.score[n]);
        most_a = std::max(most_a, a[i] + link);
        most_b = std::max(most_b, b[i] + link);
        ++scored;
      }
      best_a[j] = std::max(most_a, unlisted(lists, y, sources, a, tops_a, most_a));
      best_b[j] = std::max(most_b, unlisted(lists, y, sources, b, tops_b, most_b));
    }
    for (Index i = 0; i < sources.count; ++i) source_[sources.label[i]] = kNone;
    return scored;
  }

  // The best source that y does not list, with the shared score; less than that where it does not exceed `enough`.
  double unlisted(const Lists& lists, Label y, const Selection& sources, const double* value, const Tops& tops,
                  double enough) const {
    const double fallback = static_cast<double>(transitions_.fallback);
    for (Index n = 0; n < tops.count; ++n) {
      const Index i = tops.index[n];
      if (!(value[i] + fallback > enough)) return kNever<double>;
      if (find(lists, y, sources.label[i]) < 0) return value[i] + fallback;
    }
    double most = kNever<double>;
    if (sources.count > tops.count)
      for (Index i = 0; i < sources.count; ++i)
        if (value[i] > most && find(lists, y, sources.label[i]) < 0) most = value[i];
    return most + fallback;
  }

  static constexpr Index kSearch = 4;  // listed entries that are spread in the time of one search
  Sparse<S> transitions_;
  Lists rows_, columns_;
  S* spread_;      // [labels], the fallback everywhere between calls
  Label* source_;  // [labels]: where a label stands among the sources, kNone everywhere between calls
};

}  // namespace certus
