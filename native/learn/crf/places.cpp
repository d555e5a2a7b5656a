#include "learn/crf/places.hpp"

#include <algorithm>

namespace certus::learn {
namespace {

inline constexpr Index kUnit = 512;  // rows that one thread collects at a time

}  // namespace

CrfPlaces::CrfPlaces(const CrfLayout& layout, const CrfInput& input, Index first, Index last,
                     std::vector<std::uint32_t>& count) {
  const Index offset = layout.features();
  const auto each = [&](const auto& use) {
    for (Index t = first; t < last; ++t)
      for (Index n = input.begin[t]; n < input.begin[t + 1]; ++n)
        use(t - first, n, input.index[n] + (n < input.middle[t] ? 0 : offset));
  };
  each([&](Index, Index, Index row) {
    if (count[row]++ == 0) row_.push_back(row);
  });
  std::sort(row_.begin(), row_.end());
  begin_.push_back(0);
  for (const Index row : row_) {
    begin_.push_back(begin_.back() + count[row]);
    count[row] = static_cast<std::uint32_t>(begin_[begin_.size() - 2]);
  }
  at_.resize(begin_.back());
  if (!input.value.empty()) value_.resize(begin_.back());
  each([&](Index t, Index n, Index row) {
    if (!input.value.empty()) value_[count[row]] = input.value[n];
    at_[count[row]++] = static_cast<std::uint32_t>(t);
  });
  for (const Index row : row_) count[row] = 0;
}

Index CrfPlaces::units() const { return (static_cast<Index>(row_.size()) + kUnit - 1) / kUnit; }

void CrfPlaces::collect(Index unit, const CrfLayout& layout, const double* r, double* gradient) const {
  const Index last = std::min(static_cast<Index>(row_.size()), (unit + 1) * kUnit);
  for (Index n = unit * kUnit; n < last; ++n) {
    const Index begin = begin_[n], count = begin_[n + 1] - begin;
    const double* value = value_.empty() ? nullptr : value_.data() + begin;
    if (row_[n] >= layout.features()) collect_listed(n, layout, r, gradient);
    else crf_add_rows(r, layout.width(), at_.data() + begin, value, count, gradient + row_[n] * layout.width());
  }
}

void CrfPlaces::collect_listed(Index n, const CrfLayout& layout, const double* r, double* gradient) const {
  const CrfLayout::Row& row = layout.row(row_[n] - layout.features());
  const Label* label = layout.listed(row);
  double* into = gradient + row.begin;
  for (Index p = begin_[n]; p < begin_[n + 1]; ++p) {
    const double* from = r + static_cast<Index>(at_[p]) * layout.width();
    const double x = value_.empty() ? 1.0 : value_[p];
    for (Label k = 0; k < row.count; ++k) into[k] += x * from[label[k]];
  }
}

}  // namespace certus::learn
