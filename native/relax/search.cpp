#include "relax/search.hpp"

#include <algorithm>

#include "relax/descent.hpp"

namespace certus::relax {
namespace {

constexpr Index kRounds = 3;                     // at the root: of descent, relaxation and fixing
constexpr Index kRootSweeps = 20, kSweeps = 6;   // of descent, at the root and below
constexpr Index kRootPasses = 60, kPasses = 12;  // of the relaxation
constexpr double kSure = 0.9;                    // the mean from which on a dive takes a variable to be on
constexpr Index kDive = 50;                      // nodes of a dive

}  // namespace

Search::Search(Problem& problem, const SearchLimits& limits)
    : problem_(problem),
      limits_(limits),
      watch_(limits.seconds),
      dual_(problem),
      proximal_(dual_),
      rounding_(dual_),
      bound_(-kNever<double>),
      here_(-kNever<double>) {}

SearchEnd Search::run() {
  SearchEnd end = SearchEnd::proven;
  if (!dual_.start()) {
    bound_ = kNever<double>;
    return end;
  }
  try {
    explore(limits_.nodes);
    bound_ = score();
  } catch (const TimeIsUp&) {
    end = SearchEnd::seconds;
  } catch (const OutOfNodes&) {
    end = SearchEnd::nodes;
  }
  return end;
}

void Search::note(double bound) {
  if (!diving_) {
    here_ = std::min(here_, bound);
    const double others = open_.empty() ? kNever<double> : open_.front().bound;
    bound_ = std::min(bound_, std::max({here_, others, score()}));
  }
  trace_.seconds.push_back(watch_.elapsed());
  trace_.bound.push_back(bound_);
  trace_.score.push_back(score());
  trace_.nodes.push_back(nodes_);
}

bool Search::descend_state(Index sweeps) {
  for (Index sweep = 0; sweep < sweeps; ++sweep) {
    descend(dual_, sweep % 2 == 0, watch_);
    if (sweep % 2 == 0) continue;
    if (!dual_.evaluate()) return false;
    note(dual_.bound());
    if (closes(dual_.bound())) return false;
  }
  rounding_.round(true);
  rounding_.round(false);
  return !closes(dual_.bound());
}

bool Search::relax_state(Index passes) {
  proximal_.minimize(passes, score(), watch_);
  note(dual_.bound());
  if (closes(dual_.bound())) return false;
  rounding_.round(true);
  rounding_.round(false);
  return !closes(dual_.bound());
}

bool Search::narrow_state(Index* count) {
  *count = 0;
  if (score() == kNever<double>) return true;
  if (!dual_.fix_by_bounds(score(), count)) return false;
  fixed_ += *count;
  if (*count == 0) return true;
  dual_.find_open();
  if (!dual_.evaluate()) return false;
  note(dual_.bound());
  return !closes(dual_.bound());
}

bool Search::bound_state() {
  if (!dual_.propagate()) return false;
  dual_.find_open();
  if (!dual_.evaluate()) return false;
  note(dual_.bound());
  if (closes(dual_.bound())) return false;
  const bool root = nodes_ == 1;
  Index count = 1;
  for (Index round = 0; round < (root ? kRounds : 1) && (count > 0 || round < 2); ++round)
    if (!descend_state(root ? kRootSweeps : kSweeps) || !relax_state(root ? kRootPasses : kPasses) ||
        !narrow_state(&count))
      return false;
  if (!dual_.agree()) return true;
  rounding_.take();
  return false;
}

Index Search::choose_variable() const {
  Index chosen = -1;
  double most = kNever<double>;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!dual_.is_free(v)) continue;
    const double mean = proximal_.mean(v), doubt = std::min(mean, 1 - mean) + (dual_.split(v) ? 1e-3 : 0);
    if (doubt > most) most = doubt, chosen = v;
  }
  return chosen;
}

void Search::dive() {
  const std::shared_ptr<const Dual::Snapshot> state = std::make_shared<Dual::Snapshot>(dual_.save());
  std::vector<Node> open;
  open.swap(open_);
  const double here = here_;
  const std::vector<double> means = proximal_.means();
  diving_ = true;
  bool possible = true;
  for (Index v = 0; v < problem_.variables() && possible; ++v)
    if (dual_.is_free(v) && proximal_.mean(v) > kSure) possible = dual_.fix(v, true) && dual_.propagate();
  try {
    if (possible) explore(kDive);
  } catch (const OutOfNodes&) {
  }
  diving_ = false;
  here_ = here;
  proximal_.set_means(means);
  open_.swap(open);
  dual_.restore(*state);
  dual_.evaluate();
}

void Search::explore(Index most) {
  const auto lower = [](const Node& a, const Node& b) { return a.bound < b.bound; };
  const Index last = nodes_ + most;
  here_ = -kNever<double>;
  while (true) {
    if (nodes_ >= last) throw OutOfNodes();
    ++nodes_;
    const bool root = nodes_ == 1;
    bool below = bound_state();
    if (below && root) {
      dive();
      Index count;
      below = narrow_state(&count);
    }
    if (below) {
      const Index v = choose_variable();
      const bool on = proximal_.mean(v) > 0.5;
      open_.push_back({std::make_shared<Dual::Snapshot>(dual_.save()), v, !on, dual_.bound()});
      std::push_heap(open_.begin(), open_.end(), lower);
      if (dual_.fix(v, on)) continue;
    }
    if (open_.empty() || closes(open_.front().bound)) return;
    std::pop_heap(open_.begin(), open_.end(), lower);
    const Node node = std::move(open_.back());
    open_.pop_back();
    dual_.restore(*node.state);
    here_ = node.bound;
    dual_.fix(node.variable, node.on);
  }
}

}  // namespace certus::relax
