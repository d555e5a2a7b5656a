#include "scoring/log_rows.hpp"

#include "base/exponential.hpp"

namespace certus::scoring {
namespace {

// The next numbers of a row, of which there may be fewer than a vector has.
CERTUS_INLINE Vec load_some(const double* x, Index n) {
  if (n >= kLanes) return load(x);
  Vec v{};
  __builtin_memcpy(&v, x, static_cast<std::size_t>(n) * sizeof(double));
  return v;
}
CERTUS_INLINE void store_some(double* x, Vec v, Index n) {
  if (n >= kLanes) return store(x, v);
  __builtin_memcpy(x, &v, static_cast<std::size_t>(n) * sizeof(double));
}

CERTUS_INLINE Vec exponentiate(Vec x) {
  const Vec low = Vec{} - 700.0;
  const Vec power = exp_lanes<64>(x > low ? x : low);
  return x == Vec{} + kNever<double> ? Vec{} : power;
}

}  // namespace

CERTUS_CLONES void exponentiate_row(const double* x, double shift, Index n, double* out) {
  for (Index i = 0; i < n; i += kLanes) store_some(out + i, exponentiate(load_some(x + i, n - i) - shift), n - i);
}

CERTUS_CLONES void add_logs_of(const double* sums, double shift, Index n, double* x) {
  for (Index i = 0; i < n; i += kLanes) {
    const Vec sum = load_some(sums + i, n - i) + exponentiate(load_some(x + i, n - i) - shift);
    const Vec log = log_lanes<64>(sum > 0 ? sum : Vec{} + 1.0) + shift;
    store_some(x + i, sum > 0 ? log : Vec{} + kNever<double>, n - i);
  }
}

CERTUS_CLONES void add_multiple(const double* __restrict y, double z, Index n, double* __restrict x) {
  for (Index i = 0; i < n; ++i) x[i] += z * y[i];
}

CERTUS_CLONES void add_multiples(const double* __restrict y, double z, double other_z, Index n, double* __restrict x,
                                 double* __restrict other) {
  for (Index i = 0; i < n; ++i) x[i] += z * y[i], other[i] += other_z * y[i];
}

}  // namespace certus::scoring
