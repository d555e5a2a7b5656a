#include "lattice/exponentials.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/vector.hpp"

namespace certus::lattice {
namespace {

// exp to about 1e-7 relative, for x <= 0; from kFar down it stays where it is.
CERTUS_INLINE float exp_of(float x) {
  x = x < kFar ? kFar : x;
  const float n = std::nearbyint(x * 1.44269504f);
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

}  // namespace

CERTUS_CLONES float exponentiate(float* x, Index n, float shift) {
  constexpr Index W = 16;
  float sums[W] = {};
  Index i = 0;
  for (; i + W <= n; i += W)
    for (Index w = 0; w < W; ++w) sums[w] += x[i + w] = exp_of(x[i + w] - shift);
  for (; i < n; ++i) sums[0] += x[i] = exp_of(x[i] - shift);
  float sum = 0;
  for (Index w = 0; w < W; ++w) sum += sums[w];
  return sum;
}

CERTUS_CLONES float find_largest(const float* x, Index n) {
  constexpr Index W = 16;
  float most[W];
  for (Index w = 0; w < W; ++w) most[w] = kNever<float>;
  Index i = 0;
  for (; i + W <= n; i += W)
    for (Index w = 0; w < W; ++w) most[w] = x[i + w] > most[w] ? x[i + w] : most[w];
  for (; i < n; ++i) most[0] = x[i] > most[0] ? x[i] : most[0];
  return *std::max_element(most, most + W);
}

}  // namespace certus::lattice
