// Sums of doubles without rounding: Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric
// predicates" (1997), §2.4. A sum is kept as parts that do not overlap, the smallest first, so that the last one has
// the sign of the whole. For as long as no part overflows.
#pragma once

#include <numeric>
#include <vector>

namespace certus {

class ExactSum {
 public:
  ExactSum() = default;
  ExactSum(double x) { *this += x; }

  ExactSum& operator+=(double x) {
    std::size_t kept = 0;
    for (const double part : parts_) {
      const double sum = x + part, virtual_part = sum - x;
      const double rest = (x - (sum - virtual_part)) + (part - virtual_part);
      if (rest != 0) parts_[kept++] = rest;
      x = sum;
    }
    parts_.resize(kept);
    if (x != 0) parts_.push_back(x);
    return *this;
  }
  friend ExactSum operator+(ExactSum sum, double x) { return sum += x; }
  bool operator>(const ExactSum& other) const {
    ExactSum difference = *this;
    for (const double part : other.parts_) difference += -part;
    return !difference.parts_.empty() && difference.parts_.back() > 0;
  }
  explicit operator double() const { return std::accumulate(parts_.begin(), parts_.end(), 0.0); }

 private:
  std::vector<double> parts_;
};

}  // namespace certus
