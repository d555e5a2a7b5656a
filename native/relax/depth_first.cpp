#include "relax/depth_first.hpp"

#include <algorithm>

namespace certus::relax {
namespace {

constexpr double kTrial = 0.125;   // of the work: after so much, what is left of the tree is guessed;
constexpr double kShorter = 0.5;   // after so much less, where the last guess was that it would not end,
constexpr double kMostWork = 4;    // and the search ends where all of it would take so many times the work
constexpr Index kEach = 4096;      // operations of a node, roughly
constexpr std::size_t kDeep = 20;  // below, nodes are a millionth of the tree

}  // namespace

DepthFirst::DepthFirst(Dual& dual, Rounding& rounding)
    : dual_(dual),
      rounding_(rounding),
      problem_(dual.problem()),
      rank_(problem_.variables()),
      is_on_(problem_.variables()),
      trial_(kTrial) {}

void DepthFirst::rank_variables() {
  dual_.find_losses();
  order_.clear();
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!dual_.moves(v)) continue;
    const double on = dual_.on_loss(v), off = dual_.off_loss(v);
    rank_[v] = -std::max(on, off);
    is_on_[v] = on > off;
    order_.push_back(v);
  }
  std::stable_sort(order_.begin(), order_.end(), [this](Index a, Index b) { return rank_[a] > rank_[b]; });
}

// The first variable on which the parts differ, those after the last one before the others; where they agree, the first
// that is free.
std::size_t DepthFirst::choose() const {
  std::size_t at = frames_.empty() ? 0 : frames_.back().place + 1;
  std::size_t free = order_.size();
  for (std::size_t tried = 0; tried < order_.size(); ++tried, ++at) {
    if (at >= order_.size()) at = 0;
    if (!dual_.is_free(order_[at])) continue;
    if (dual_.split(order_[at])) return at;
    if (free == order_.size()) free = at;
  }
  return free;
}

// The share of the tree that is behind, as if both sides of every node took the same.
double DepthFirst::measure_progress() const {
  double done = 0, share = 0.5;
  for (std::size_t i = 0; i < frames_.size() && i < kDeep; ++i, share /= 2) done += frames_[i].is_second ? share : 0;
  return done;
}

bool DepthFirst::enter(Index v, bool on, double slack) {
  if (!dual_.fix(v, on) || !dual_.propagate() || !dual_.evaluate()) return false;
  const double bound = dual_.bound();
  if (bound <= rounding_.best().score + slack) {
    const double above = bound + dual_.rounding(rounding_.size(), terms_);
    if (above <= rounding_.best().score + slack) {
      closed_ = std::max(closed_, above);
      return false;
    }
  }
  return !settle();
}

bool DepthFirst::settle() {
  if (!dual_.agree()) return false;
  rounding_.take();
  if (improved) improved();
  return dual_.rounding(rounding_.size(), terms_) == 0 || choose() == order_.size();
}

bool DepthFirst::search(double slack, Index work, Watch& watch) {
  terms_ = dual_.measure_terms();
  frames_.clear();
  rank_variables();
  if (settle()) return true;  // no variable is left to choose: what was fixed by bounds made the parts agree
  const Index begun = dual_.work();
  const std::size_t before = dual_.trail();
  bool open = true;  // whether there is something below the present node
  while (true) {
    const double spent = static_cast<double>(dual_.work() - begun) / static_cast<double>(work);
    if (spent > trial_ && spent > kMostWork * measure_progress()) break;
    if (open) {
      const std::size_t place = choose();
      frames_.push_back({place, is_on_[order_[place]] != 0, false, dual_.trail()});
    } else {
      while (!frames_.empty() && frames_.back().is_second) frames_.pop_back();
      if (frames_.empty()) break;
      dual_.undo(frames_.back().trail);
      frames_.back().is_second = true;
    }
    const Frame& frame = frames_.back();
    open = enter(order_[frame.place], frame.on != frame.is_second, slack);
    watch(kEach);
  }
  dual_.undo(before);
  dual_.evaluate();
  trial_ = frames_.empty() ? kTrial : kShorter * trial_;
  return frames_.empty();
}

}  // namespace certus::relax
