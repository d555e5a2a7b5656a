// All functions are written twice: plainly, and for AVX-512, whose comparisons leave the bits that are wanted here.
#include "chain/search/gather_top_labels.hpp"

#include <algorithm>
#include <bit>

#include "base/widths.hpp"

#if defined(CERTUS_HAS_WIDTHS)
#include <immintrin.h>
#endif

namespace certus {
namespace {

template <class S>
Index mark_plainly(const Maxima<S>& maxima, Index chunks, S least, unsigned* marked, S* below) {
  Index groups = 0;
  *below = kNever<S>;
  for (Index c = 0; c < chunks; ++c) {
    marked[c] = 0;
    if (maxima.chunk[c] < least) {
      *below = larger(maxima.chunk[c], *below);
      continue;
    }
    for (Index g = 0; g < kLanes; ++g) {
      const S most = maxima.group[c * kLanes + g];
      const bool in = most >= least;
      marked[c] |= static_cast<unsigned>(in) << g;
      *below = larger(in ? kNever<S> : most, *below);
    }
    groups += std::popcount(marked[c]);
  }
  return groups;
}

template <class S>
Index collect_plainly(const S* x, const S* other, Index n, const unsigned* marked, S least, Found<S>* found, S* below) {
  Index count = 0;
  S most = *below;
  for (Index c = 0; c < chunk_count(n); ++c) {
    const Index end = std::min(n, (c + 1) * kChunk);
    for (unsigned lanes = marked[c]; lanes; lanes &= lanes - 1)
      for (Index y = c * kChunk + std::countr_zero(lanes); y < end; y += kLanes) {
        const S sum = x[y] + other[y];
        const bool in = sum >= least;
        found[count] = {sum, static_cast<Label>(y)};
        count += in;
        most = larger(in ? kNever<S> : sum, most);
      }
  }
  *below = most;
  return count;
}

template <class S>
Index collect_blocks_plainly(const S* x, const Blocks<S>& blocks, S least, Found<S>* found, S* below) {
  Index count = 0;
  S most = blocks.left_out;
  for (Index i = 0; i < blocks.count; ++i) {
    const Index c = blocks.taken[i], end = (c + 1) * kBlock<S>;
    const bool skip = blocks.most[c] < least;
    if (skip) most = larger(blocks.most[c], most);
    for (Index y = c * kBlock<S>; y < end && !skip; ++y) {
      const bool in = x[y] >= least;
      found[count] = {x[y], static_cast<Label>(y)};
      count += in;
      most = larger(in ? kNever<S> : x[y], most);
    }
  }
  *below = most;
  return count;
}

#if defined(CERTUS_HAS_WIDTHS)

// Eight elements of a group, and the two vectors or one that hold a chunk's maxima.
struct Doubles {
  using V = __m512d;
  CERTUS_AVX512 static V all(double x) { return _mm512_set1_pd(x); }
  CERTUS_AVX512 static unsigned marks(const double* group, V least, V* below) {
    const V a = _mm512_loadu_pd(group), b = _mm512_loadu_pd(group + 8);
    const __mmask8 in_a = _mm512_cmp_pd_mask(a, least, _CMP_GE_OQ), in_b = _mm512_cmp_pd_mask(b, least, _CMP_GE_OQ);
    *below = _mm512_mask_max_pd(*below, static_cast<__mmask8>(~in_a), *below, a);
    *below = _mm512_mask_max_pd(*below, static_cast<__mmask8>(~in_b), *below, b);
    return in_a | static_cast<unsigned>(in_b) << 8;
  }
  CERTUS_AVX512 static unsigned sums(const double* x, const double* other, unsigned there, V least, double* out,
                                     V* below) {
    const __m512i at = _mm512_setr_epi64(0, 16, 32, 48, 64, 80, 96, 112);
    const __mmask8 in = static_cast<__mmask8>(there);
    const V never = all(kNever<double>);
    const V sum =
        _mm512_add_pd(_mm512_mask_i64gather_pd(never, in, at, x, 8), _mm512_mask_i64gather_pd(never, in, at, other, 8));
    const __mmask8 hit = _mm512_mask_cmp_pd_mask(in, sum, least, _CMP_GE_OQ);
    *below = _mm512_mask_max_pd(*below, static_cast<__mmask8>(in & ~hit), *below, sum);
    _mm512_store_pd(out, sum);
    return hit;
  }
  CERTUS_AVX512 static double most(V x) { return _mm512_reduce_max_pd(x); }
};

struct Floats {
  using V = __m512;
  CERTUS_AVX512 static V all(float x) { return _mm512_set1_ps(x); }
  CERTUS_AVX512 static unsigned marks(const float* group, V least, V* below) {
    const V a = _mm512_loadu_ps(group);
    const __mmask16 in = _mm512_cmp_ps_mask(a, least, _CMP_GE_OQ);
    *below = _mm512_mask_max_ps(*below, static_cast<__mmask16>(~in), *below, a);
    return in;
  }
  CERTUS_AVX512 static unsigned sums(const float* x, const float* other, unsigned there, V least, float* out,
                                     V* below) {
    const __m512i at = _mm512_setr_epi32(0, 16, 32, 48, 64, 80, 96, 112, 0, 0, 0, 0, 0, 0, 0, 0);
    const __mmask16 in = static_cast<__mmask16>(there);
    const V never = all(kNever<float>);
    const V sum =
        _mm512_add_ps(_mm512_mask_i32gather_ps(never, in, at, x, 4), _mm512_mask_i32gather_ps(never, in, at, other, 4));
    const __mmask16 hit = _mm512_mask_cmp_ps_mask(in, sum, least, _CMP_GE_OQ);
    *below = _mm512_mask_max_ps(*below, static_cast<__mmask16>(in & ~hit), *below, sum);
    _mm512_store_ps(out, sum);
    return hit;
  }
  CERTUS_AVX512 static float most(V x) { return _mm512_reduce_max_ps(x); }
};

static_assert(kChunk == 8 * kLanes && kBlock<float> % kLanes == 0 && kBlock<double> % kLanes == 0 && kLanes == 16);

template <class K, class S>
CERTUS_AVX512 Index mark_wide(const Maxima<S>& maxima, Index chunks, S least, unsigned* marked, S* below) {
  Index groups = 0;
  S skipped = kNever<S>;
  auto most = K::all(kNever<S>);
  const auto bar = K::all(least);
  for (Index c = 0; c < chunks; ++c) {
    marked[c] = 0;
    if (maxima.chunk[c] < least) {
      skipped = larger(maxima.chunk[c], skipped);
      continue;
    }
    marked[c] = K::marks(maxima.group + c * kLanes, bar, &most);
    groups += std::popcount(marked[c]);
  }
  *below = larger(K::most(most), skipped);
  return groups;
}

template <class K, class S>
CERTUS_AVX512 Index collect_wide(const S* x, const S* other, Index n, const unsigned* marked, S least, Found<S>* found,
                                 S* below) {
  alignas(64) S sums[64 / sizeof(S)];
  Index count = 0;
  auto most = K::all(*below);
  const auto bar = K::all(least);
  for (Index c = 0; c < chunk_count(n); ++c) {
    const Index end = std::min(n, (c + 1) * kChunk);
    for (unsigned lanes = marked[c]; lanes; lanes &= lanes - 1) {
      const Index y = c * kChunk + std::countr_zero(lanes);
      const unsigned there = (1u << ((end - y + kLanes - 1) / kLanes)) - 1;
      for (unsigned hits = K::sums(x + y, other + y, there, bar, sums, &most); hits; hits &= hits - 1) {
        const int i = std::countr_zero(hits);
        found[count++] = {sums[i], static_cast<Label>(y + i * kLanes)};
      }
    }
  }
  *below = K::most(most);
  return count;
}

template <class K, class S>
CERTUS_AVX512 Index collect_blocks_wide(const S* x, const Blocks<S>& blocks, S least, Found<S>* found, S* below) {
  Index count = 0;
  S skipped = kNever<S>;
  auto most = K::all(blocks.left_out);
  const auto bar = K::all(least);
  for (Index i = 0; i < blocks.count; ++i) {
    const Index c = blocks.taken[i], y = c * kBlock<S>;
    if (blocks.most[c] < least) {
      skipped = larger(blocks.most[c], skipped);
      continue;
    }
    for (Index begin = y; begin < y + kBlock<S>; begin += kLanes)
      for (unsigned hits = K::marks(x + begin, bar, &most); hits; hits &= hits - 1) {
        const Index z = begin + std::countr_zero(hits);
        found[count++] = {x[z], static_cast<Label>(z)};
      }
  }
  *below = larger(K::most(most), skipped);
  return count;
}

#define CERTUS_CHOOSE(K, name, ...) vector_bytes() == 64 ? name##_wide<K>(__VA_ARGS__) : name##_plainly(__VA_ARGS__)
#else
#define CERTUS_CHOOSE(K, name, ...) name##_plainly(__VA_ARGS__)
#endif

}  // namespace

#define CERTUS_BOTH(S, K)                                                                                          \
  Index mark(const Maxima<S>& maxima, Index chunks, S least, unsigned* marked, S* below) {                         \
    return CERTUS_CHOOSE(K, mark, maxima, chunks, least, marked, below);                                           \
  }                                                                                                                \
  Index collect(const S* x, const S* other, Index n, const unsigned* marked, S least, Found<S>* found, S* below) { \
    return CERTUS_CHOOSE(K, collect, x, other, n, marked, least, found, below);                                    \
  }                                                                                                                \
  Index collect(const S* x, const Blocks<S>& blocks, S least, Found<S>* found, S* below) {                         \
    return CERTUS_CHOOSE(K, collect_blocks, x, blocks, least, found, below);                                       \
  }
CERTUS_BOTH(float, Floats)
CERTUS_BOTH(double, Doubles)
#undef CERTUS_BOTH

}  // namespace certus
