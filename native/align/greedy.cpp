#include "align/greedy.hpp"

namespace certus::align {
namespace {

Choices intersect(const Choices& paths) {
  Choices both = paths;
  for (int s = 0; s < 2; ++s)
    for (std::size_t word = 0; word < paths.of[s].size(); ++word) {
      const Index value = paths.of[s][word];
      if (value > 0 && paths.of[1 - s][value - 1] != static_cast<Index>(word) + 1) both.of[s][word] = 0;
    }
  return both;
}

// A change of one or of both choices, which can be taken back.
class Change {
 public:
  Change(Choices& choices, int side, Index word, Index value, bool both)
      : own_(choices.of[side][word]), before_(own_), other_(both ? &choices.of[1 - side][value - 1] : nullptr) {
    own_ = value;
    if (!other_) return;
    other_before_ = *other_;
    *other_ = word + 1;
  }
  void take_back() const {
    if (other_) *other_ = other_before_;
    own_ = before_;
  }

 private:
  Index &own_, before_, *other_, other_before_ = 0;
};

}  // namespace

bool Greedy::improve_once(Choices& choices, double& score, const Dual& dual) const {
  struct {
    int side;
    Index word, value;
    bool both;
  } best{-1, 0, 0, false};
  for (int s = 0; s < 2; ++s)
    for (Index word = 0; word < problem_.side[s].words; ++word)
      for (Index value = 0; value < problem_.side[s].values; ++value) {
        if (!dual.is_allowed(s, word, value)) continue;
        for (const bool both : {false, true}) {
          if (both && (value == 0 || s == 1)) continue;
          const Change change(choices, s, word, value, both);
          const double changed = score_choices(problem_, choices);
          change.take_back();
          if (changed <= score) continue;
          score = changed;
          best = {s, word, value, both};
        }
      }
  if (best.side < 0) return false;
  Change(choices, best.side, best.word, best.value, best.both);
  return true;
}

Choices Greedy::improve(const Choices& paths, const Dual& dual) const {
  Choices choices = intersect(paths);
  double score = score_choices(problem_, choices);
  while (improve_once(choices, score, dual)) continue;
  return choices;
}

}  // namespace certus::align
