#include "relax/rounding.hpp"

namespace certus::relax {

void Rounding::offer(double score) {
  if (!(score > best_)) return;
  best_ = score;
  best_on_ = on_;
}

void Rounding::take() {
  on_.resize(problem_.variables());
  for (Index v = 0; v < problem_.variables(); ++v) on_[v] = dual_.on(v) > 0;
  double score = 0;
  for (Index p = 0; p < problem_.parts(); ++p) score += dual_.score(p);
  offer(score);
}

// Sets the cells of a part to what is chosen already, lets it choose the rest, and puts its adjustments back.
bool Rounding::choose(Index p) {
  Part& part = dual_.part(p);
  const Index begin = problem_.begin(p);
  for (Index c = 0; c < part.cells(); ++c) {
    const std::int8_t known = on_[problem_.variable(begin + c)];
    if (known == 0) part.adjust(c, kNever<double>);
    if (known != 1) continue;
    part.require(c, true);
    const CellGroup& group = part.group(c);
    for (Index other = group.begin; group.exactly_one && other < group.end; ++other)
      if (other != c) part.adjust(other, kNever<double>);
  }
  const double score = part.maximize(used_);
  dual_.adjust_part(p);
  if (score == kNever<double>) return false;
  auto next = used_.begin();
  for (Index c = 0; c < part.cells(); ++c) {
    const bool used = next != used_.end() && *next == c;
    if (used) ++next;
    std::int8_t& known = on_[problem_.variable(begin + c)];
    if (known != Dual::kFree && known != used) return false;
    known = used;
  }
  score_ += score;
  return true;
}

void Rounding::round(bool forward) {
  on_ = dual_.fixed();
  score_ = 0;
  for (Index i = 0; i < problem_.parts(); ++i) {
    const Index p = forward ? i : problem_.parts() - 1 - i;
    if (!dual_.is_open(p)) score_ += dual_.score(p);
    else if (!choose(p)) return;
  }
  offer(score_);
}

}  // namespace certus::relax
