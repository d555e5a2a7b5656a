// Sums of numbers that are known by their logarithms.
#pragma once

#include <cmath>

#include "base/types.hpp"

namespace certus {

// A number by its logarithm: products and sums are those of the numbers.
struct Logarithm {
  double log = kNever<double>;
};

inline Logarithm operator*(Logarithm a, Logarithm b) { return {a.log + b.log}; }
inline Logarithm operator+(Logarithm a, Logarithm b) {
  const double most = a.log > b.log ? a.log : b.log, least = a.log > b.log ? b.log : a.log;
  return {least == kNever<double> ? most : most + std::log1p(std::exp(least - most))};
}
inline bool operator<(Logarithm a, Logarithm b) { return a.log < b.log; }

inline double log_of(double x) { return x > 0 ? std::log(x) : kNever<double>; }
inline double log_of(Logarithm x) { return x.log; }

// The sum of many of them, with one exponential each and one logarithm.
class LogSum {
 public:
  void add(double log) {
    if (log <= most_) {
      if (most_ - log < kNoShare) sum_ += std::exp(log - most_);
    } else {
      sum_ = 1 + (log - most_ < kNoShare ? sum_ * std::exp(most_ - log) : 0);
      most_ = log;
    }
  }
  double log() const { return most_ == kNever<double> ? most_ : most_ + std::log(sum_); }

 private:
  static constexpr double kNoShare = 38;  // what is so much smaller, in logarithms, is lost in rounding

  double most_ = kNever<double>, sum_ = 0;
};

}  // namespace certus
