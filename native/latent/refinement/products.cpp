#include "latent/refinement/products.hpp"

#include "base/exponential.hpp"

namespace certus::latent::refinement {
namespace {

// G vectors by N columns of vectors stay in registers while the rows of M stream by.
template <int G, int N>
CERTUS_INLINE void forward_tile(double* const* to, const double* const* from, const double* M, Index n, Index j) {
  Vec sum[G][N] = {};
  for (Index i = 0; i < n; ++i) {
    Vec row[N];
    for (int k = 0; k < N; ++k) row[k] = load(M + i * n + j + k * kLanes);
    for (int g = 0; g < G; ++g)
      for (int k = 0; k < N; ++k) sum[g][k] += from[g][i] * row[k];
  }
  for (int g = 0; g < G; ++g)
    for (int k = 0; k < N; ++k) store(to[g] + j + k * kLanes, sum[g][k]);
}

// A panel of columns stays in the cache while all vectors pass by.
template <int N>
CERTUS_INLINE void forward_panel(double* const* to, const double* const* from, Index count, const double* M, Index n,
                                 Index j) {
  Index g = 0;
  for (; g + 4 <= count; g += 4) forward_tile<4, N>(to + g, from + g, M, n, j);
  for (; g < count; ++g) forward_tile<1, N>(to + g, from + g, M, n, j);
}

// G vectors by N rows of M: lanes are added up at the end.
template <int G, int N>
CERTUS_INLINE void backward_tile(double* const* to, const double* const* from, const double* M, Index n, Index i) {
  Vec sum[G][N] = {};
  for (Index j = 0; j < n; j += kLanes) {
    Vec row[N];
    for (int k = 0; k < N; ++k) row[k] = load(M + (i + k) * n + j);
    for (int g = 0; g < G; ++g) {
      const Vec x = load(from[g] + j);
      for (int k = 0; k < N; ++k) sum[g][k] += x * row[k];
    }
  }
  for (int g = 0; g < G; ++g)
    for (int k = 0; k < N; ++k) to[g][i + k] = add_lanes(sum[g][k]);
}

}  // namespace

CERTUS_CLONES void forward_products(double* const* to, const double* const* from, Index count, const double* M,
                                    Index n) {
  Index j = 0;
  for (; j + 4 * kLanes <= n; j += 4 * kLanes) forward_panel<4>(to, from, count, M, n, j);
  for (; j < n; j += kLanes) forward_panel<1>(to, from, count, M, n, j);
}

CERTUS_CLONES void backward_products(double* const* to, const double* const* from, Index count, const double* M,
                                     Index n) {
  for (Index i = 0; i < n; i += 4) {  // four rows stay in the cache while all vectors pass by
    Index g = 0;
    for (; g + 4 <= count; g += 4) backward_tile<4, 4>(to + g, from + g, M, n, i);
    for (; g < count; ++g) backward_tile<1, 4>(to + g, from + g, M, n, i);
  }
}

}  // namespace certus::latent::refinement
