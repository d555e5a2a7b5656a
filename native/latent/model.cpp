#include "latent/model.hpp"

#include <cmath>

namespace certus::latent {
namespace {

std::vector<Label> owners(const std::vector<Index>& begin) {
  std::vector<Label> out;
  for (std::size_t y = 0; y + 1 < begin.size(); ++y) out.resize(begin[y + 1], static_cast<Label>(y));
  return out;
}

}  // namespace

LatentModel::LatentModel(const double* transitions, std::vector<Index> begin, const double* start, const double* end)
    : begin_(std::move(begin)),
      owner_(owners(begin_)),
      width_(whole_vectors(states())),
      chain_(transitions, states(), 1, true, start, end),
      score_(states() * width_, kNever<double>),
      score_across_(score_),
      link_(states() * width_ + kLanes, 0.0),
      across_(link_) {
  const Index H = states();
  for (Index y = 0; y < labels(); ++y) most_ = std::max(most_, count(y));
  double most = kNever<double>, least = -kNever<double>;
  for (Index n = 0; n < H * H; ++n) {
    const double x = transitions[n];
    score_[n / H * width_ + n % H] = score_across_[n % H * width_ + n / H] = x;
    if (x == kNever<double>) forbids_ = true;
    else most = std::max(most, x), least = std::min(least, x);
  }
  if (most == kNever<double>) return;  // no transition at all
  largest_ = most;
  span_ = most - least;
  for (Index n = 0; n < H * H; ++n)
    link_[n / H * width_ + n % H] = across_[n % H * width_ + n / H] = std::exp(transitions[n] - most);
}

}  // namespace certus::latent
