#include "syntax/rows.hpp"

#include "vector.hpp"

// Each step is written once, for vectors of any size, and compiled for the sizes that machines have. (Clones of
// one function will not do: maxima of vectors that are wider than the registers become scalar code.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(CERTUS_NO_CLONES)
#define CERTUS_TARGETS 1
#define CERTUS_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define CERTUS_AVX2 __attribute__((target("avx2")))
#endif

namespace certus::syntax {
namespace {

template <int bytes>
struct Of {
  typedef float vector __attribute__((vector_size(bytes)));
  typedef float unaligned __attribute__((vector_size(bytes), aligned(alignof(float)), may_alias));
  static constexpr Index width = bytes / static_cast<Index>(sizeof(float));
};
template <int bytes>
CERTUS_INLINE typename Of<bytes>::vector load(const float* p) {
  return *reinterpret_cast<const typename Of<bytes>::unaligned*>(p);
}
template <int bytes>
CERTUS_INLINE void store(float* p, typename Of<bytes>::vector v) {
  *reinterpret_cast<typename Of<bytes>::unaligned*>(p) = v;
}
template <int bytes>
CERTUS_INLINE float largest_lane(typename Of<bytes>::vector v) {
  if constexpr (bytes == 16) {
    const float first = v[0] > v[1] ? v[0] : v[1], second = v[2] > v[3] ? v[2] : v[3];
    return first > second ? first : second;
  } else {
    typename Of<bytes / 2>::vector halves[2];
    __builtin_memcpy(halves, &v, bytes);
    return largest_lane<bytes / 2>(larger(halves[0], halves[1]));
  }
}

template <int bytes>
CERTUS_INLINE bool best_sums_by(float* out, const float* const* from, Index count, Index blocks) {
  using V = typename Of<bytes>::vector;
  constexpr Index width = Of<bytes>::width;
  const V never = V{} + kNever<float>;
  V most = never;
  for (Index i = 0; i < blocks * kLanes; i += width) {
    V best = never;
    for (Index n = 0; n < 2 * count; n += 2) best = larger(best, load<bytes>(from[n] + i) + load<bytes>(from[n + 1] + i));
    store<bytes>(out + i, best);
    most = larger(most, best);
  }
  return largest_lane<bytes>(most) > kNever<float>;
}

template <int bytes>
CERTUS_INLINE void raise_row_by(float* row, const float* from, float score, Index blocks) {
  const typename Of<bytes>::vector added = typename Of<bytes>::vector{} + score;
  for (Index i = 0; i < blocks * kLanes; i += Of<bytes>::width)
    store<bytes>(row + i, larger(load<bytes>(row + i), load<bytes>(from + i) + added));
}

template <int bytes>
CERTUS_INLINE float largest_by(const float* row, Index blocks) {
  typename Of<bytes>::vector most = load<bytes>(row);
  for (Index i = Of<bytes>::width; i < blocks * kLanes; i += Of<bytes>::width) most = larger(most, load<bytes>(row + i));
  return largest_lane<bytes>(most);
}

template <int bytes>
CERTUS_INLINE float sums_through_by(float* out, const float* above, float score, const float* left,
                                    const float* right, Index blocks) {
  using V = typename Of<bytes>::vector;
  const V added = V{} + score;
  V most = V{} + kNever<float>;
  for (Index i = 0; i < blocks * kLanes; i += Of<bytes>::width) {
    const V sum = (load<bytes>(above + i) + added) + (load<bytes>(left + i) + load<bytes>(right + i));
    store<bytes>(out + i, sum);
    most = larger(most, sum);
  }
  return largest_lane<bytes>(most);
}

struct Steps {
  bool (*best_sums)(float*, const float* const*, Index, Index);
  void (*raise_row)(float*, const float*, float, Index);
  float (*largest)(const float*, Index);
  float (*sums_through)(float*, const float*, float, const float*, const float*, Index);
};

#define CERTUS_STEPS(name, target, bytes)                                                                            \
  target bool best_sums_##name(float* out, const float* const* from, Index count, Index blocks) {                   \
    return best_sums_by<bytes>(out, from, count, blocks);                                                           \
  }                                                                                                                  \
  target void raise_row_##name(float* row, const float* from, float score, Index blocks) {                          \
    raise_row_by<bytes>(row, from, score, blocks);                                                                   \
  }                                                                                                                  \
  target float largest_##name(const float* row, Index blocks) { return largest_by<bytes>(row, blocks); }             \
  target float sums_through_##name(float* out, const float* above, float score, const float* left,                  \
                                   const float* right, Index blocks) {                                              \
    return sums_through_by<bytes>(out, above, score, left, right, blocks);                                          \
  }                                                                                                                  \
  constexpr Steps k_##name{best_sums_##name, raise_row_##name, largest_##name, sums_through_##name};

CERTUS_STEPS(baseline, , 16)
#ifdef CERTUS_TARGETS
CERTUS_STEPS(avx2, CERTUS_AVX2, 32)
CERTUS_STEPS(avx512, CERTUS_AVX512, 64)
#endif

Steps choose() {
#ifdef CERTUS_TARGETS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return k_avx512;
  if (__builtin_cpu_supports("avx2")) return k_avx2;
#endif
  return k_baseline;
}

const Steps kSteps = choose();

}  // namespace

bool best_sums(float* out, const float* const* from, Index count, Index blocks) {
  return kSteps.best_sums(out, from, count, blocks);
}
void raise_row(float* row, const float* from, float score, Index blocks) {
  kSteps.raise_row(row, from, score, blocks);
}
float largest(const float* row, Index blocks) { return kSteps.largest(row, blocks); }
float sums_through(float* out, const float* above, float score, const float* left, const float* right, Index blocks) {
  return kSteps.sums_through(out, above, score, left, right, blocks);
}

}  // namespace certus::syntax
