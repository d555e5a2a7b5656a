#include "scoring/arcs.hpp"

#include <algorithm>

#include "base/vector.hpp"

namespace certus::scoring {
namespace {

constexpr Index kBlock = 16;  // relations at a time

// One block of sums stays in a register while all rows go by. The last block ends with the row, so that it may overlap
// the one before.
template <class W, class Sum>
CERTUS_INLINE void add_blocks(const W* weights, const features::Place* places, Index size, Index count, Sum* sums) {
  using Row = typename Simd<W, kBlock * sizeof(W)>::unaligned;
  using Total = typename Simd<Sum, kBlock * sizeof(Sum)>::vector;
  for (Index r = 0; r < count; r += kBlock) {
    const Index first = std::min(r, count - kBlock);
    Total total{};
    for (Index p = 0; p < size; ++p)
      total += __builtin_convertvector(*reinterpret_cast<const Row*>(weights + places[p] + first), Total);
    __builtin_memcpy(sums + first, &total, sizeof total);
  }
}

template <class W, class Sum>
CERTUS_INLINE void add_few(const W* weights, const features::Place* places, Index size, Index count, Sum* sums) {
  std::fill_n(sums, count, Sum{0});
  for (Index p = 0; p < size; ++p)
    for (Index r = 0; r < count; ++r) sums[r] += weights[places[p] + r];
}

// Work is counted in siblings or grandparents that are scored; an arc with its relations takes as much as so many.
// Small are sentences of up to 10 words in models of the third order, of up to 15 where only arcs are scored.
constexpr Index kArcWork = 20, kLittleWork = 6'700, kLittlePlainWork = 5'000;

}  // namespace

bool is_plain(const ArcPlan& plan) {
  return !plan.has(ArcPart::sibling) && !plan.has(ArcPart::grandparent) && !plan.has(ArcPart::grand_sibling);
}

bool is_small(const ArcPlan& plan, Index words) {
  const auto count = [&](ArcPart part, Index size) { return plan.has(part) ? size : 0; };
  const Index n = std::min<Index>(words, 1000), arcs = n * n;
  return kArcWork * arcs + count(ArcPart::sibling, arcs * n / 3) + count(ArcPart::grandparent, arcs * n) +
             count(ArcPart::grand_sibling, arcs * arcs / 3) <=
         (is_plain(plan) ? kLittlePlainWork : kLittleWork);
}

void PartTables::refine(const ArcPlan& plan, const Arcs& over, const double* coarse, const double* costs, double cap) {
  const bool parents = plan.has(ArcPart::grandparent) || plan.has(ArcPart::grand_sibling);
  if (parents) grandsiblings.resize(static_cast<std::size_t>(over.grandsiblings()), 0.0);
  for (Index side = 0; !is_plain(plan) && side < over.sides(); ++side)
    for (Index k = over.candidates(side), p = 0; p < (parents ? over.parents(side / 2) : 1); ++p)
      for (Index previous = 0; previous <= k; ++previous)
        for (Index next = previous; next <= k; ++next) {
          double sum = siblings.empty() ? 0 : siblings[over.sibling(side, previous, next)];
          if (next < k && !grandparents.empty()) sum += grandparents[over.grandparent(p, over.candidate(side, next))];
          if (parents) {
            double& part = grandsiblings[over.grandsibling(side, p, previous, next)];
            part = std::min(part, -sum);
          } else if (sum > 0) {
            siblings[over.sibling(side, previous, next)] = 0;
          }
        }
  for (Index a = 0; a < over.size(); ++a) arcs[a] = refine_arc(arcs[a], coarse[a], costs ? costs[a] : 0, cap);
}

CERTUS_CLONES void add_rows(const float* weights, const features::Place* places, Index size, Index count, float* sums) {
  if (count < kBlock) add_few(weights, places, size, count, sums);
  else add_blocks(weights, places, size, count, sums);
}

CERTUS_CLONES void add_rows(const std::int16_t* weights, const features::Place* places, Index size, Index count,
                            std::int32_t* sums) {
  if (count < kBlock) add_few(weights, places, size, count, sums);
  else add_blocks(weights, places, size, count, sums);
}

}  // namespace certus::scoring
