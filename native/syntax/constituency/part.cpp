#include "syntax/constituency/part.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace certus::syntax {

template <class Work>
auto ParsePart::check_memory(const Work& work) const {
  try {
    return work();
  } catch (const TooLarge& error) {
    char size[32];
    std::snprintf(size, sizeof(size), "%.1f", error.bytes / 0x1p30);
    throw relax::PartError(this, -1,
                           "the sentence has " + std::to_string(words()) + " words, and its chart could take " + size +
                               " GiB, of which no sentence gets more than 4; split it");
  }
}

double ParsePart::decode(const double* adjust, Label* tags) {
  return write_found(check_memory([&] { return parses_.maximize(adjust); }), tags);
}

// Trees that are in no forest are far below the best.
double ParsePart::decode_given(const double* adjust, Label* tags) {
  return write_found(parses_.maximize_kept(adjust), tags);
}

double ParsePart::write_found(double best, Label* tags) {
  if (best == kNever<double>) return best;
  found_ = std::make_shared<WrittenTree>(parses_.write_best());
  std::copy(found_->tags.begin(), found_->tags.end(), tags);
  return found_->score;
}

void ParsePart::bound(const double* adjust, double* best) {
  check_memory([&] { parses_.max_marginals(adjust, false, best); });
}

}  // namespace certus::syntax
