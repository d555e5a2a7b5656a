#include "align/choices.hpp"

#include <algorithm>
#include <cmath>

#include "base/rounding.hpp"

namespace certus::align {
namespace {

// Calls add(score) for the scores of an answer, in canonical order.
template <class Add>
void for_each_score(const Agreed& problem, const Choices& choices, const Add& add) {
  for (int s = 0; s < 2; ++s) {
    const Side& side = problem.side[s];
    Index before = 0;
    for (Index word = 0; word < side.words; ++word) {
      const Index value = choices.of[s][word];
      add(side.score(word, value, before));
      if (value > 0) add(problem.price(word + 1, choices.of[1 - s][value - 1]));
      before = value;
    }
  }
}

}  // namespace

double score_choices(const Agreed& problem, const Choices& choices) {
  double sum = 0;
  for_each_score(problem, choices, [&](double score) { sum += score; });
  return sum;
}

double sum_magnitudes(const Agreed& problem, const Choices& choices) {
  double sum = 0;
  for_each_score(problem, choices, [&](double score) { sum += std::abs(score); });
  return sum;
}

double measure_scale(const Agreed& problem) {
  const Prices& prices = problem.prices;
  const double price = find_magnitude(std::data({prices.adjacent, prices.apart, prices.alone}), 3);
  double scale = 0;
  for (const Side& side : problem.side) {
    for (Index word = 0; word < side.words; ++word)
      scale += find_magnitude(side.choice + word * side.values, side.values);
    const double step = side.step ? find_magnitude(side.step, side.values * side.values) : 0;
    scale += static_cast<double>(side.words) * (step + price);
  }
  return scale;
}

double find_allowance(const Agreed& problem, double scale) {
  return certus::find_allowance(scale, [&] {
    const Prices& prices = problem.prices;
    return are_whole(std::data({prices.adjacent, prices.apart, prices.alone}), 3) &&
           std::all_of(std::begin(problem.side), std::end(problem.side), [](const Side& side) {
             return are_whole(side.choice, side.words * side.values) &&
                    (!side.step || are_whole(side.step, side.values * side.values));
           });
  });
}

}  // namespace certus::align
