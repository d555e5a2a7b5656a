// Inside and outside, over any semiring: the two recursions that everything about forests is made of.
//
// inside(v) sums over the derivations of v; outside(v) over what is left of a derivation of the goal when one
// occurrence of v, and all below it, is cut out. A derivation is a tree: a node that is reached twice in it occurs
// twice, may be derived differently each time, and each occurrence is cut out by itself.
#pragma once

#include "base/interrupt.hpp"
#include "hypergraph/forest.hpp"
#include "hypergraph/semirings.hpp"

namespace certus::hypergraph {
namespace {

// The value of an edge with its tails.
template <class Semiring>
CERTUS_INLINE typename Semiring::Value term(const Semiring& s, const Forest& f, const double* weights,
                                            const typename Semiring::Value* in, Index e) {
  typename Semiring::Value product = s.lift(weights[e]);
  for (Edge i = f.tail_begin[e]; i < f.tail_begin[e + 1]; ++i) product = s.times(product, in[f.tail[i]]);
  return product;
}

// Asks now and then, in a loop over nodes up or down, whether to stop.
class HeedNodes {
 public:
  CERTUS_INLINE_MEMBER void operator()(const Forest& f, Index v) {
    if (v % kNodes) return;
    heed_(kNodes + Index{2} * std::abs(f.begin[v] - edge_));
    edge_ = f.begin[v];
  }

 private:
  static constexpr Index kNodes = 1024;
  Heed heed_;
  Edge edge_ = 0;
};

// The values of all edges of a node. Most forests are binary: pairs of tails that lie side by side need no offsets.
template <class Semiring>
CERTUS_INLINE void terms_of(const Semiring& s, const Forest& f, const double* weights,
                            const typename Semiring::Value* in, Index v, typename Semiring::Value* terms) {
  const Index first = f.begin[v], n = f.begin[v + 1] - first;
  if (f.binary[v]) {
    const Node* tail = f.tail.data() + f.tail_begin[first];
    for (Index i = 0; i < n; ++i)
      terms[i] = s.times(s.times(s.lift(weights[first + i]), in[tail[2 * i]]), in[tail[2 * i + 1]]);
  } else {
    for (Index i = 0; i < n; ++i) terms[i] = term(s, f, weights, in, first + i);
  }
}

// in [nodes]; terms [widest + kLanes] is scratch.
template <class Semiring>
CERTUS_INLINE void inside(const Semiring& s, const Forest& f, const double* weights, typename Semiring::Value* in,
                          typename Semiring::Value* terms) {
  HeedNodes heed;
  for (Index v = 0; v < f.nodes; ++v) {
    heed(f, v);
    const Index n = f.begin[v + 1] - f.begin[v];
    terms_of(s, f, weights, in, v, terms);
    in[v] = n ? s.sum(terms, n) : Semiring::zero;
  }
}

// out [nodes]; totals [nodes] and before [longest] are scratch.
template <class Semiring>
CERTUS_INLINE void outside(const Semiring& s, const Forest& f, const double* weights,
                           const typename Semiring::Value* in, typename Semiring::Value* out,
                           typename Semiring::Total* totals, typename Semiring::Value* before) {
  using Value = typename Semiring::Value;
  for (Index v = 0; v < f.nodes; ++v) totals[v] = Semiring::nothing();
  s.add(totals[f.goal()], Semiring::one);
  HeedNodes heed;
  for (Index v = f.nodes - 1; v >= 0; --v) {
    heed(f, v);
    out[v] = s.value(totals[v]);
    if (out[v] == Semiring::zero) continue;
    for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e) {
      const Value base = s.times(out[v], s.lift(weights[e]));
      const Node* tail = f.tail.data() + f.tail_begin[e];
      const Index n = f.tail_begin[e + 1] - f.tail_begin[e];
      if (base == Semiring::zero || n == 0) continue;
      if (n == 2) {
        s.add(totals[tail[0]], s.times(base, in[tail[1]]));
        s.add(totals[tail[1]], s.times(base, in[tail[0]]));
        continue;
      }
      // The product of the others is taken from both sides: nothing is divided out again.
      before[0] = base;
      for (Index i = 1; i < n; ++i) before[i] = s.times(before[i - 1], in[tail[i - 1]]);
      Value after = Semiring::one;
      for (Index i = n - 1; i >= 0; --i) {
        s.add(totals[tail[i]], s.times(before[i], after));
        after = s.times(in[tail[i]], after);
      }
    }
  }
}

}  // namespace
}  // namespace certus::hypergraph
