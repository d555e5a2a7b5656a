#include "lattice/best_path.hpp"

#include "base/widths.hpp"

namespace certus::lattice {
namespace {

// N numbers of consecutive doubles, and of consecutive floats, as doubles.
template <int N>
using Doubles = typename Simd<double, 8 * N>::vector;
template <int N>
CERTUS_INLINE Doubles<N> load_lanes(const double* x) {
  return *reinterpret_cast<const typename Simd<double, 8 * N>::unaligned*>(x);
}
template <int N>
CERTUS_INLINE Doubles<N> load_lanes(const float* x) {
  typename Simd<float, 4 * N>::vector values;
  __builtin_memcpy(&values, x, sizeof(values));
  return __builtin_convertvector(values, Doubles<N>);
}

// States have few edges, so what is left after whole vectors counts: the last vector ends with the last edge and covers
// some that another did, which does not change a maximum. Fewer edges than a vector has go to shorter vectors.

// max_i x[i] + y[i]
template <int N>
CERTUS_INLINE double find_largest_sum(const double* x, const float* y, std::size_t n) {
  if constexpr (N == 1) {
    return n ? x[0] + static_cast<double>(y[0]) : kNever<double>;
  } else {
    if (n < N) return find_largest_sum<N / 2>(x, y, n);
    Doubles<N> most = load_lanes<N>(x + n - N) + load_lanes<N>(y + n - N);
    for (std::size_t i = 0; i + N < n; i += N) most = larger(most, load_lanes<N>(x + i) + load_lanes<N>(y + i));
    return fold_largest<double, 8 * N>(most);
  }
}

// x[i] = max(x[i], y[i] + z)
template <int N>
CERTUS_INLINE void raise(double* x, const float* y, double z, std::size_t n) {
  if constexpr (N == 1) {
    if (n) x[0] = larger(x[0], z + static_cast<double>(y[0]));
  } else {
    if (n < N) return raise<N / 2>(x, y, z, n);
    const auto raise_at = [&](std::size_t i) __attribute__((always_inline)) {
      *reinterpret_cast<typename Simd<double, 8 * N>::unaligned*>(x + i) =
          larger(load_lanes<N>(x + i), z + load_lanes<N>(y + i));
    };
    for (std::size_t i = 0; i + N < n; i += N) raise_at(i);
    raise_at(n - N);
  }
}

template <class S, int bytes>
CERTUS_INLINE void step_forward_by(const Lattice& lattice, Index t, const double* before, double* best) {
  const std::uint32_t first = lattice.begin[t - 1], last = lattice.begin[t + 1];
  for (std::uint32_t s = lattice.begin[t]; s < last; ++s)
    *best++ = find_largest_sum<bytes / 8>(before + (lattice.from[s] - first),
                                          lattice.edge.data() + lattice.edge_begin[s], lattice.edges(s));
}

template <class S, int bytes>
CERTUS_INLINE void step_backward_by(const Lattice& lattice, Index t, const double* onward, double* before) {
  const std::uint32_t first = lattice.begin[t - 1], last = lattice.begin[t + 1];
  for (std::uint32_t s = lattice.begin[t]; s < last; ++s)
    raise<bytes / 8>(before + (lattice.from[s] - first), lattice.edge.data() + lattice.edge_begin[s], *onward++,
                     lattice.edges(s));
}

}  // namespace

CERTUS_BY_WIDTH(void, step_forward, double, step_forward_by,
                (const Lattice& lattice, Index t, const double* before, double* best), (lattice, t, before, best))
CERTUS_BY_WIDTH(void, step_backward, double, step_backward_by,
                (const Lattice& lattice, Index t, const double* onward, double* before), (lattice, t, onward, before))

BestPath find_best_end(const Lattice& lattice, const PathMemory& memory) {
  const Index P = lattice.positions();
  const auto found = std::max_element(memory.best.begin() + lattice.begin[P - 1], memory.best.end());
  return {*found, static_cast<std::uint32_t>(found - memory.best.begin()), P};
}

std::uint32_t find_source(const Lattice& lattice, const PathMemory& memory, std::uint32_t state) {
  const double* const before = memory.best.data() + lattice.from[state];
  const float* const edge = lattice.edge.data() + lattice.edge_begin[state];
  std::uint32_t source = 0;
  double most = kNever<double>;
  for (std::uint32_t e = 0; e < lattice.edges(state); ++e)
    if (const double sum = before[e] + static_cast<double>(edge[e]); sum > most) most = sum, source = e;
  return lattice.from[state] + source;
}

BestPath find_best_path(const Lattice& lattice, PathMemory& memory, const Additions& additions) {
  BestSteps steps(lattice, additions, memory);
  const Index reached = run_forward(steps, lattice.positions());
  return reached < lattice.positions() ? BestPath{kNever<double>, 0, reached} : find_best_end(lattice, memory);
}

double find_best_through(const Lattice& lattice, PathMemory& memory, const Additions& additions) {
  BestSteps steps(lattice, additions, memory);
  const Index P = lattice.positions();
  if (run_forward(steps, P) < P) return kNever<double>;
  run_backward(steps, P);
  return find_best_end(lattice, memory).score;
}

void trace_labels(const Lattice& lattice, const PathMemory& memory, const BestPath& path, Label* labels) {
  const Index T = lattice.positions() - 2;
  trace_back(lattice, memory, path, [&](Index t, std::uint32_t s) {
    if (t > 0 && t <= T) labels[t - 1] = lattice.label[s];
  });
}

}  // namespace certus::lattice
