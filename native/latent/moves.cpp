#include "latent/moves.hpp"

namespace certus::latent {

Moves::Moves(std::vector<double> scores, Index states, bool shared, const double* start, const double* end)
    : scores_(std::move(scores)),
      stride_(shared ? 0 : states * states),
      chain_(scores_.data(), states, static_cast<Index>(scores_.size()) / (states * states), shared, start, end) {
  const Index size = states * states;
  for (Index begin = 0; begin < static_cast<Index>(scores_.size()); begin += size) {
    double most = kNever<double>, least = -kNever<double>;
    for (Index n = begin; n < begin + size; ++n) {
      const double x = scores_[n], finite = x == kNever<double> ? -kNever<double> : x;
      most = most < x ? x : most;
      least = finite < least ? finite : least;
      forbids_ |= x == kNever<double>;
    }
    extents_.push_back(most == kNever<double> ? Extent{} : Extent{most, most - least});
  }
}

}  // namespace certus::latent
