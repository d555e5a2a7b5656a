#include "syntax/dependency/max_sum.hpp"

#include <algorithm>

#include "base/vector.hpp"

namespace certus::syntax {

CERTUS_CLONES double max_sum(const double* a, const double* b, Index count) {
  using Vector = Simd<double>;
  double best = kNever<double>;
  Index k = 0;
  if (count >= Vector::width) {
    Vector::vector most =
        *reinterpret_cast<const Vector::unaligned*>(a) + *reinterpret_cast<const Vector::unaligned*>(b);
    for (k = Vector::width; k + Vector::width <= count; k += Vector::width)
      most = larger<Vector::vector>(most, *reinterpret_cast<const Vector::unaligned*>(a + k) +
                                              *reinterpret_cast<const Vector::unaligned*>(b + k));
    best = fold_largest<double>(most);
  }
  for (; k < count; ++k) best = std::max(best, a[k] + b[k]);
  return best;
}

}  // namespace certus::syntax
