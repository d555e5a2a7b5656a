#include "latent/moves.hpp"

namespace certus::latent {
namespace {

// Of a step [H][H]: whether some state that leads on does not lead to one that others lead to.
bool separates_states(const double* step, Index states) {
  std::vector<std::uint8_t> leads(states, 0), reached(states, 0);
  for (Index i = 0; i < states; ++i)
    for (Index j = 0; j < states; ++j)
      if (step[i * states + j] != kNever<double>) leads[i] = reached[j] = 1;
  for (Index i = 0; i < states; ++i)
    for (Index j = 0; j < states; ++j)
      if (leads[i] && reached[j] && step[i * states + j] == kNever<double>) return true;
  return false;
}

}  // namespace

Moves::Moves(std::vector<double> scores, Index states, bool shared, const double* start, const double* end)
    : scores_(std::move(scores)),
      stride_(shared ? 0 : states * states),
      chain_(scores_.data(), states, static_cast<Index>(scores_.size()) / (states * states), shared, start, end) {
  const Index size = states * states;
  for (Index begin = 0; begin < static_cast<Index>(scores_.size()); begin += size) {
    double most = kNever<double>, least = -kNever<double>;
    bool forbids = false;
    for (Index n = begin; n < begin + size; ++n) {
      const double x = scores_[n], finite = x == kNever<double> ? -kNever<double> : x;
      most = most < x ? x : most;
      least = finite < least ? finite : least;
      forbids |= x == kNever<double>;
    }
    separates_ = separates_ || (forbids && separates_states(scores_.data() + begin, states));
    extents_.push_back(most == kNever<double> ? Extent{} : Extent{most, most - least});
  }
}

}  // namespace certus::latent
