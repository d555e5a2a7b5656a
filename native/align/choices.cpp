#include "align/choices.hpp"

namespace certus::align {

double score_choices(const Agreed& problem, const Choices& choices) {
  double sum = 0;
  for (int s = 0; s < 2; ++s) {
    const Side& side = problem.side[s];
    Index before = 0;
    for (Index word = 0; word < side.words; ++word) {
      const Index value = choices.of[s][word];
      sum += side.score(word, value, before);
      if (value > 0) sum += problem.price(word + 1, choices.of[1 - s][value - 1]);
      before = value;
    }
  }
  return sum;
}

}  // namespace certus::align
