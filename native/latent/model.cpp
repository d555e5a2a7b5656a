#include "latent/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exponential.hpp"

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
      moves_({transitions, transitions + states() * states()}, states(), true, start, end),
      link_(states() * width_ + kLanes, 0.0),
      across_(link_) {
  const Index H = states();
  for (Index y = 0; y < labels(); ++y) most_ = std::max(most_, count(y));
  for (Index n = 0; n < H * H; ++n)
    link_[n / H * width_ + n % H] = across_[n % H * width_ + n / H] = std::exp(transitions[n] - moves_.largest(1));
}

Moves LatentModel::moves(const Pairs& pairs, Index T) const {
  const Index size = states() * states();
  std::vector<double> scores((T - 1) * size);
  // Sums that leave the range are not forbidden: they stay as large as can be, and are refused for it.
  const auto sum = [](double a, double b) {
    const bool forbids = a == kNever<double> || b == kNever<double>;
    return forbids ? kNever<double> : std::max(a + b, std::numeric_limits<double>::lowest());
  };
  const auto add = [&](const auto* own) {
    const Index H = states(), L = labels();
    for (Index t = 1; t < T; ++t) {
      double* step = scores.data() + (t - 1) * size;
      if (!pairs.of_labels)
        for (Index n = 0; n < size; ++n)
          step[n] = sum(moves_.score(t)[n], static_cast<double>(own[(t - 1) * size + n]));
      else
        for (Index i = 0; i < H; ++i)
          for (Index j = 0; j < H; ++j)
            step[i * H + j] =
                sum(moves_.score(t)[i * H + j], static_cast<double>(own[((t - 1) * L + owner_[i]) * L + owner_[j]]));
    }
  };
  if (pairs.singles) add(pairs.singles);
  else add(pairs.doubles);
  return Moves(std::move(scores), states(), false, start(), end());
}

}  // namespace certus::latent
