#include "scoring/tag_rows.hpp"

#include "base/exponential.hpp"
#include "base/widths.hpp"

namespace certus::scoring {
namespace {

// Several numbers at once, of which the largest are wanted.
template <int bytes>
struct Largest {
  using V = typename Simd<double, bytes>::vector;
  static constexpr Index width = Simd<double, bytes>::width;

  CERTUS_INLINE_MEMBER static V load(const double* x) {
    return *reinterpret_cast<const typename Simd<double, bytes>::unaligned*>(x);
  }
  CERTUS_INLINE_MEMBER static V load(const float* x) {
    typedef float Half __attribute__((vector_size(bytes / 2)));
    Half half;
    __builtin_memcpy(&half, x, sizeof half);
    return __builtin_convertvector(half, V);
  }
  CERTUS_INLINE_MEMBER static void store(V x, double* out) {
    *reinterpret_cast<typename Simd<double, bytes>::unaligned*>(out) = x;
  }
  CERTUS_INLINE_MEMBER static V join(V x, V y) { return larger(x, y); }
  CERTUS_INLINE_MEMBER static V smaller(V x, V y) { return x < y ? x : y; }

  // Of many.
  class All {
   public:
    CERTUS_INLINE_MEMBER void add(V x) { most_ = larger(most_, x); }
    CERTUS_INLINE_MEMBER V log() const { return most_; }

   private:
    V most_ = V{} + kNever<double>;
  };
};

// The same of logarithms of sums.
template <int bytes>
struct Summed : Largest<bytes> {
  using All = LogSums<bytes>;
  using V = typename All::V;

  CERTUS_INLINE_MEMBER static V join(V x, V y) {
    All sum;
    sum.add(x), sum.add(y);
    return sum.log();
  }
};

template <class K>
CERTUS_INLINE void lead(std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, double* x,
                        double* y) {
  for (Index i = 0; i < first.stride; i += K::width) {
    typename K::All one, other;
    for (const TagLead& from : leads) {
      one.add(K::load(first.row(from.tag) + i) + from.score);
      other.add(K::load(second.row(from.tag) + i) + from.score);
    }
    K::store(one.log(), x + i), K::store(other.log(), y + i);
  }
}

template <class K>
CERTUS_INLINE void lead_either_way(std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second,
                                   double* x) {
  for (Index i = 0; i < first.stride; i += K::width) {
    typename K::All one;
    for (const TagLead& from : leads)
      one.add(
          K::smaller(K::load(first.row(from.tag) + i) + from.score, K::load(second.row(from.tag) + i) + from.other));
    K::store(one.log(), x + i);
  }
}

template <class K>
CERTUS_INLINE void pass(std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second,
                        const RestRow& rest, const AloneRows& on, double* after, double* entering) {
  for (Index i = 0; i < first.stride; i += K::width) {
    const auto ending = K::load(rest.ending + i), around = K::load(rest.around + i);
    typename K::All ahead;
    for (const TagLead& to : leads)
      ahead.add(K::smaller(around + K::load(first.row(to.tag) + i), ending + K::load(second.row(to.tag) + i)) +
                to.score);
    const auto excess = K::load(on.excess + i), to_other = K::load(on.to_other + i);
    K::store(K::join(ending + to_other, excess + ahead.log()), after + i);
    K::store(K::load(rest.own + i) + K::join(to_other, excess + K::load(on.own_to_label + i)), entering + i);
  }
}

// `S` is the kind of numbers, by the width of vectors.
template <template <int> class S, int bytes>
CERTUS_INLINE void lead_body(std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, double* x,
                             double* y) {
  lead<S<bytes>>(leads, first, second, x, y);
}
template <template <int> class S, int bytes>
CERTUS_INLINE void lead_either_way_body(std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second,
                                        double* x) {
  lead_either_way<S<bytes>>(leads, first, second, x);
}
template <template <int> class S, int bytes>
CERTUS_INLINE void pass_body(std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second,
                             const RestRow& rest, const AloneRows& on, double* after, double* entering) {
  pass<S<bytes>>(leads, first, second, rest, on, after, entering);
}

template <class S, int bytes>
CERTUS_INLINE void bound_rests_body(const RestRow& rest, const AloneRows& rows, Index stride, double* x) {
  using K = Largest<bytes>;
  for (Index i = 0; i < stride; i += K::width) {
    const auto alone = K::load(rows.alone + i);
    const auto ends = K::smaller(K::load(rows.own_alone + i) + K::load(rest.own + i), alone + K::load(rest.ending + i));
    const auto label = K::smaller(alone + K::load(rest.around + i) + K::load(rows.to_label + i),
                                  ends + K::load(rows.own_to_label + i));
    K::store(K::join(ends + K::load(rows.to_other + i), K::load(rows.excess + i) + label), x + i);
  }
}

}  // namespace

CERTUS_BY_WIDTH(void, lead_largest, Largest, lead_body,
                (std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, double* x, double* y),
                (leads, first, second, x, y))
CERTUS_BY_WIDTH(void, lead_largest_either_way, Largest, lead_either_way_body,
                (std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, double* x),
                (leads, first, second, x))
CERTUS_BY_WIDTH(void, pass_largest, Largest, pass_body,
                (std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, const RestRow& rest,
                 const AloneRows& on, double* after, double* entering),
                (leads, first, second, rest, on, after, entering))
CERTUS_BY_WIDTH(void, lead_summed, Summed, lead_body,
                (std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, double* x, double* y),
                (leads, first, second, x, y))
CERTUS_BY_WIDTH(void, lead_summed_either_way, Summed, lead_either_way_body,
                (std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, double* x),
                (leads, first, second, x))
CERTUS_BY_WIDTH(void, pass_summed, Summed, pass_body,
                (std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, const RestRow& rest,
                 const AloneRows& on, double* after, double* entering),
                (leads, first, second, rest, on, after, entering))
CERTUS_BY_WIDTH(void, bound_rests, double, bound_rests_body,
                (const RestRow& rest, const AloneRows& rows, Index stride, double* x), (rest, rows, stride, x))

// Without branches, which nobody could foresee.
bool list_above(const double* x, double limit, Index stride, std::vector<Index>& out) {
  out.resize(static_cast<std::size_t>(stride));
  Index count = 0, finite = 0;
  for (Index i = 0; i < stride; ++i) {
    out[count] = i;
    count += x[i] > limit;
    finite += x[i] != kNever<double>;
  }
  out.resize(static_cast<std::size_t>(count));
  return finite > count;
}

void lead_tags(bool sum, std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, double* x,
               double* y) {
  if (sum) lead_summed(leads, first, second, x, y);
  else lead_largest(leads, first, second, x, y);
}

void lead_tags_either_way(bool sum, std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second,
                          double* x) {
  if (sum) lead_summed_either_way(leads, first, second, x);
  else lead_largest_either_way(leads, first, second, x);
}

void pass_rests(bool sum, std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second,
                const RestRow& rest, const AloneRows& on, double* after, double* entering) {
  if (sum) pass_summed(leads, first, second, rest, on, after, entering);
  else pass_largest(leads, first, second, rest, on, after, entering);
}

}  // namespace certus::scoring
