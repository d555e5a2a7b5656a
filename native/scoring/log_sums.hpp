// Sums of numbers that are known by their logarithms.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace certus::scoring {

inline constexpr double kNoShare = 38;  // what is so much smaller, in logarithms, is lost in rounding

inline double add_logs(double x, double y) {
  const double most = std::max(x, y), gap = most - std::min(x, y);
  return gap < kNoShare ? most + std::log1p(std::exp(-gap)) : most;  // of two that are -inf, the gap is no number
}

// Many of them, with one exponential each.
class LogSum {
 public:
  void add(double x) {
    if (x <= most_) {
      if (most_ - x < kNoShare) sum_ += std::exp(x - most_);
    } else {
      sum_ = 1 + sum_ * std::exp(most_ - x);
      most_ = x;
    }
  }
  double get() const { return most_ == kNever<double> ? most_ : most_ + std::log(sum_); }

 private:
  double most_ = kNever<double>, sum_ = 0;
};

}  // namespace certus::scoring
