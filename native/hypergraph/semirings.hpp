// The algebras of a forest. The recursions of passes.hpp are written once; each question swaps the algebra.
//
//   lift(w)        the value of an edge with score w
//   times(a, b)    joining an edge and the derivations of its tails
//   sum(terms, n)  gathering the n edges of a node
//   add, value     the same sum one term at a time, where terms do not lie side by side
#pragma once

#include <cmath>

#include "base/exponential.hpp"

namespace certus::hypergraph {
namespace {

// The best derivation's score.
struct MaxPlus {
  using Value = double;
  using Total = double;
  static constexpr Value zero = kNever<double>, one = 0;
  CERTUS_INLINE_MEMBER Value lift(double w) const { return w; }
  CERTUS_INLINE_MEMBER Value times(Value a, Value b) const { return a + b; }
  CERTUS_INLINE_MEMBER Value sum(const Value* terms, Index n) const {
    Value most = zero;
    for (Index i = 0; i < n; ++i) most = larger(terms[i], most);
    return most;
  }
  CERTUS_INLINE_MEMBER void add(Total& total, Value x) const { total = larger(x, total); }
  CERTUS_INLINE_MEMBER Value value(const Total& total) const { return total; }
  static constexpr Total nothing() { return zero; }
};

// log of the sum of exp(score) over derivations.
struct LogSum {
  using Value = double;
  struct Total {
    double most, sum;  // the largest term, and the sum of the terms' exponentials relative to it
  };
  static constexpr Value zero = kNever<double>, one = 0;
  CERTUS_INLINE_MEMBER Value lift(double w) const { return w; }
  CERTUS_INLINE_MEMBER Value times(Value a, Value b) const { return a + b; }
  // Terms may be read, and must be writable, up to the next multiple of kLanes.
  CERTUS_INLINE_MEMBER Value sum(Value* terms, Index n) const {
    if (n == 1) return terms[0];
    const Value most = MaxPlus{}.sum(terms, n);
    if (most == zero) return zero;
    if (n == 2) return most + std::log1p(std::exp(-std::abs(terms[0] - terms[1])));
    for (Index i = n; i % kLanes; ++i) terms[i] = zero;
    Vec total{};
    // What is 700 below the largest term adds nothing that a double could hold.
    for (Index i = 0; i < n; i += kLanes) total += exp_vector(larger(load(terms + i) - most, -700.0 - Vec{}));
    return most + std::log(add_lanes(total));
  }
  CERTUS_INLINE_MEMBER void add(Total& total, Value x) const {
    if (x == zero) return;
    if (x <= total.most) total.sum += std::exp(x - total.most);
    else total.sum = total.sum * std::exp(total.most - x) + 1, total.most = x;
  }
  CERTUS_INLINE_MEMBER Value value(const Total& total) const {
    return total.sum > 0 ? total.most + std::log(total.sum) : zero;
  }
  static constexpr Total nothing() { return {zero, 0}; }
};

// Whether there is a derivation.
struct Boolean {
  using Value = std::uint8_t;
  using Total = std::uint8_t;
  static constexpr Value zero = 0, one = 1;
  CERTUS_INLINE_MEMBER Value lift(double w) const { return w != kNever<double>; }
  CERTUS_INLINE_MEMBER Value times(Value a, Value b) const { return a & b; }
  CERTUS_INLINE_MEMBER Value sum(const Value* terms, Index n) const {
    Value any = 0;
    for (Index i = 0; i < n; ++i) any |= terms[i];
    return any;
  }
  CERTUS_INLINE_MEMBER void add(Total& total, Value x) const { total |= x; }
  CERTUS_INLINE_MEMBER Value value(const Total& total) const { return total; }
  static constexpr Total nothing() { return 0; }
};

// How many derivations there are, modulo a number below 2^63, or modulo 2^64 where that is 0.
struct Counting {
  using Value = std::uint64_t;
  using Total = std::uint64_t;
  std::uint64_t modulus;
  static constexpr Value zero = 0, one = 1;
  CERTUS_INLINE_MEMBER Value lift(double w) const { return w != kNever<double>; }
  CERTUS_INLINE_MEMBER Value times(Value a, Value b) const {
    if (modulus == 0) return a * b;
    return static_cast<Value>(static_cast<unsigned __int128>(a) * b % modulus);
  }
  CERTUS_INLINE_MEMBER Value sum(const Value* terms, Index n) const {
    Value total = 0;
    for (Index i = 0; i < n; ++i) add(total, terms[i]);
    return total;
  }
  CERTUS_INLINE_MEMBER void add(Total& total, Value x) const {
    total += x;
    if (modulus && total >= modulus) total -= modulus;
  }
  CERTUS_INLINE_MEMBER Value value(const Total& total) const { return total; }
  static constexpr Total nothing() { return 0; }
};

}  // namespace
}  // namespace certus::hypergraph
