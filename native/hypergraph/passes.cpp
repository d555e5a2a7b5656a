#include "hypergraph/passes.hpp"

#include "base/clones.hpp"
#include "base/simd.hpp"
#include "hypergraph/recursion.hpp"

namespace certus::hypergraph {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();  // twice the error of one rounding

// [nodes]
template <class Semiring>
typename Semiring::Value* find_inside(const Semiring& s, const Forest& f, const double* weights, Arena& arena) {
  using Value = typename Semiring::Value;
  auto* in = arena.get<Value>(f.nodes);
  inside(s, f, weights, in, arena.get<Value>(f.widest + kLanes));
  return in;
}

template <class Semiring>
void outside_in(const Semiring& s, const Forest& f, const double* weights, const typename Semiring::Value* in,
                typename Semiring::Value* out, Arena& arena) {
  auto* totals = arena.get<typename Semiring::Total>(f.nodes);
  outside(s, f, weights, in, out, totals, arena.get<typename Semiring::Value>(f.longest + 1));
}

}  // namespace

CERTUS_CLONES bool is_huge(const double* scores, Index n) {
  constexpr double kHuge = 0x1p700;
  int huge = 0;
  for (Index i = 0; i < n; ++i) huge |= (scores[i] > kHuge) | ((scores[i] < -kHuge) & (scores[i] > kNever<double>));
  return huge;
}

template <class S>
Weights::Weights(const Forest& forest, const S* scores, Arena& arena) {
  invalid_ = first_invalid(scores, forest.given_edges);
  if (invalid_ >= 0) return;
  if constexpr (std::is_same_v<S, double>) {
    huge_ = hypergraph::is_huge(scores, forest.given_edges);
    if (forest.in_order) {
      data_ = scores;
      return;
    }
  }
  double* own = arena.get<double>(forest.edges);
  for (Index e = 0; e < forest.given_edges; ++e) own[e] = static_cast<double>(scores[forest.edge_id[e]]);
  std::fill(own + forest.given_edges, own + forest.edges, 0.0);
  data_ = own;
}
template Weights::Weights(const Forest&, const float*, Arena&);
template Weights::Weights(const Forest&, const double*, Arena&);

CERTUS_CLONES void max_inside(const Forest& f, const double* weights, double* in) {
  const LocalArena arena;
  inside(MaxPlus{}, f, weights, in, arena.get<double>(f.widest + kLanes));
}
CERTUS_CLONES void log_inside(const Forest& f, const double* weights, double* in) {
  const LocalArena arena;
  inside(LogSum{}, f, weights, in, arena.get<double>(f.widest + kLanes));
}
void max_outside(const Forest& f, const double* weights, const double* in, double* out) {
  const LocalArena arena;
  outside_in(MaxPlus{}, f, weights, in, out, arena);
}
void log_outside(const Forest& f, const double* weights, const double* in, double* out) {
  const LocalArena arena;
  outside_in(LogSum{}, f, weights, in, out, arena);
}

void max_marginals(const Forest& f, const double* weights, const double* in, const double* out, double* edges) {
  for (Index v = 0; v < f.nodes; ++v)
    for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e)
      edges[e] = out[v] == kNever<double> ? kNever<double> : out[v] + term(MaxPlus{}, f, weights, in, e);
}

// A node's uses are shared out over its edges in proportion to their weights. All is below or near one, so nothing
// is taken in logarithms but the differences to inside(v).
CERTUS_CLONES void marginals(const Forest& f, const double* weights, const double* in, double* edges, double* nodes) {
  const LocalArena arena;
  double* terms = arena.get<double>(f.widest + kLanes);
  std::fill(nodes, nodes + f.nodes, 0.0);
  nodes[f.goal()] = 1;
  HeedNodes heed;
  for (Index v = f.nodes - 1; v >= 0; --v) {
    heed(f, v);
    const Index first = f.begin[v], n = f.begin[v + 1] - first;
    const double here = nodes[v], most = in[v];
    if (here == 0 || most == kNever<double>) {
      std::fill(edges + first, edges + first + n, 0.0);
      continue;
    }
    terms_of(LogSum{}, f, weights, in, v, terms);
    for (Index i = n; i % kLanes; ++i) terms[i] = kNever<double>;
    for (Index i = 0; i < n; i += kLanes) {
      const Vec x = load(terms + i) - most;
      store(terms + i, x > -700.0 - Vec{} ? exp_vector(larger(x, -700.0 - Vec{})) : Vec{});
    }
    for (Index i = 0; i < n; ++i) {
      const double share = edges[first + i] = here * terms[i];
      if (share == 0) continue;
      for (Edge t = f.tail_begin[first + i]; t < f.tail_begin[first + i + 1]; ++t) nodes[f.tail[t]] += share;
    }
  }
}

bool feasible(const Forest& f, const double* weights) {
  const LocalArena arena;
  return find_inside(Boolean{}, f, weights, arena)[f.goal()];
}

std::vector<std::uint8_t> useful(const Forest& f, const double* weights) {
  const LocalArena arena;
  const auto* in = find_inside(Boolean{}, f, weights, arena);
  auto* out = arena.get<std::uint8_t>(f.nodes);
  outside_in(Boolean{}, f, weights, in, out, arena);
  std::vector<std::uint8_t> used(static_cast<std::size_t>(f.edges));
  for (Index v = 0; v < f.nodes; ++v)
    for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e) used[e] = out[v] & term(Boolean{}, f, weights, in, e);
  return used;
}

std::uint64_t count(const Forest& f, const double* weights, std::uint64_t modulus) {
  const LocalArena arena;
  return find_inside(Counting{modulus}, f, weights, arena)[f.goal()];
}

Node missing(const Forest& f, const double* weights) {
  const LocalArena arena;
  const auto* in = find_inside(Boolean{}, f, weights, arena);
  Node v = f.goal();
  for (;;) {
    Node below = -1;  // through the first edge that is not forbidden itself, to its first tail without a derivation
    for (Edge e = f.begin[v]; e < f.begin[v + 1] && below < 0; ++e)
      if (weights[e] != kNever<double>)
        for (Edge i = f.tail_begin[e]; i < f.tail_begin[e + 1] && below < 0; ++i)
          if (!in[f.tail[i]]) below = f.tail[i];
    if (below < 0) return v;
    v = below;
  }
}

namespace {

// The most that derivations of each node have of a size of their edges, which are allowed or not as their weights say.
template <class Size>
const double* find_most(const Forest& f, const double* weights, const Size& size, Arena& arena) {
  double *sizes = arena.get<double>(f.edges), *in = arena.get<double>(f.nodes);
  for (Index e = 0; e < f.edges; ++e) sizes[e] = weights[e] == kNever<double> ? weights[e] : size(weights[e]);
  hide_clones(max_inside)(f, sizes, in);
  return in;
}

double find_magnitude(double x) { return std::abs(x); }

// The sum of the magnitudes of an edge and of its tails that can be derived.
double add_magnitudes(const Forest& f, const double* weights, const double* most, Edge e) {
  double sum = std::abs(weights[e]);
  for (Edge i = f.tail_begin[e]; i < f.tail_begin[e + 1]; ++i)
    if (most[f.tail[i]] != kNever<double>) sum += most[f.tail[i]];
  return sum;
}

}  // namespace

double most_edges(const Forest& f, const double* weights) {
  const LocalArena arena;
  return std::max(find_most(f, weights, [](double) { return 1.0; }, arena)[f.goal()], 0.0);
}

double most_mass(const Forest& f, const double* weights) {
  const LocalArena arena;
  return std::max(find_most(f, weights, find_magnitude, arena)[f.goal()], 0.0);
}

// Edges that can't be part of a derivation count, too: the sum of two of their tails may be infinite before a third,
// which has no derivation, makes it no number at all.
bool overflows(const Forest& f, const double* weights) {
  const LocalArena arena;
  const double* most = find_most(f, weights, find_magnitude, arena);
  for (Edge e = 0; e < f.edges; ++e)
    if (weights[e] != kNever<double> && !std::isfinite(add_magnitudes(f, weights, most, e))) return true;
  return false;
}

bool whole_numbers(const double* weights, Index n) {
  for (Index e = 0; e < n; ++e)
    if (weights[e] != kNever<double> && weights[e] != std::nearbyint(weights[e])) return false;
  return true;
}

double rounding(const Forest& f, const double* weights) {
  const double mass = most_mass(f, weights);
  if (mass < 0x1p52 && whole_numbers(weights, f.edges)) return 0;
  return 2 * kEpsilon * most_edges(f, weights) * mass;
}

}  // namespace certus::hypergraph
