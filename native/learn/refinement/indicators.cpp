#include "learn/refinement/indicators.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "base/vector.hpp"

namespace certus::learn::refinement {

CERTUS_CLONES void indicator_times(const Indicators& features, const double* table, Index k, double* to) {
  Heed heed;
  for (Index r = 0; r < features.rows; ++r) {
    heed(features.width * k);
    double* sum = to + r * k;
    std::fill_n(sum, k, 0.0);
    for (Index w = 0; w < features.width; ++w) {
      const Index c = features.ids[r * features.width + w];
      if (c < 0) continue;
      const double* row = table + c * k;
      for (Index j = 0; j < k; ++j) sum[j] += row[j];
    }
  }
}

CERTUS_CLONES void indicator_transposed_times(const Indicators& features, const double* weight, const double* from,
                                              Index k, double* to, Index columns) {
  std::fill_n(to, columns * k, 0.0);
  Heed heed;
  for (Index r = 0; r < features.rows; ++r) {
    heed(features.width * k);
    const double* row = from + r * k;
    for (Index w = 0; w < features.width; ++w) {
      const Index c = features.ids[r * features.width + w];
      if (c < 0) continue;
      double* sum = to + c * k;
      for (Index j = 0; j < k; ++j) sum[j] += weight[r] * row[j];
    }
  }
}

}  // namespace certus::learn::refinement
