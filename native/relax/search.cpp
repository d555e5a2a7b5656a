#include "relax/search.hpp"

#include <algorithm>
#include <cmath>

#include "relax/descent.hpp"
#include "relax/optimizers.hpp"

namespace certus::relax {
namespace {

constexpr Index kFewParts = 3;                   // parts that are never swept
constexpr Index kGroups = 64;                    // of a part that is asked anew at each separator
constexpr Index kSweepsPerAttempt = 4;           // sweeps between two attempts at an answer
constexpr Index kRounds = 3;                     // at the root: of descent, relaxation and fixing
constexpr Index kRootSweeps = 20, kSweeps = 6;   // of descent, at the root and below
constexpr Index kRootPasses = 60, kPasses = 12;  // of the relaxation
constexpr Index kRootSteps = 200, kSteps = 40;   // of an optimiser, where no limit is set
constexpr Index kNarrow = 12;                    // steps between two looks at what bounds fix
constexpr double kCloser = 0.1;                  // or the share of the gap that is left by then
constexpr Index kPatience = 15;  // steps that did not gain so much of the gap before something else is tried
constexpr double kGain = 0.05;
constexpr double kChange = 0.25;  // the share of the gap from which on steps take the place of sweeps
constexpr double kLook = 0.01;    // seconds between two looks at whether to stop
constexpr double kSure = 0.9;     // the mean from which on a dive takes a variable to be on
constexpr Index kDive = 50;       // nodes of a dive
constexpr double kSlack = 1e-9;   // of the magnitudes: more than rounding, less than a lie
constexpr double kSizes = 8;      // of an answer: the largest magnitude of the dual that counts
constexpr double kLoose = 1e-3;   // from where on the copies of a reserve differ
constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

// Many parts that tell what their cells are worth are swept one after the other, each at the multipliers that those
// before it left.
bool prefers_sweeps(const Problem& problem, const OptimizerOptions& options) {
  if (options.method != Method::automatic || problem.parts() <= kFewParts || !has_cheap_max_marginals(problem))
    return false;
  for (Index v = 0; v < problem.variables(); ++v)
    if (problem.is_reserve(v)) return false;
  return true;
}

}  // namespace

Search::Search(Problem& problem, const SearchLimits& limits, const OptimizerOptions& options)
    : problem_(problem),
      limits_(limits),
      watch_(limits.seconds),
      dual_(problem, limits.whole),
      proximal_(dual_),
      rounding_(dual_),
      depth_first_(dual_, rounding_),
      bound_(-kNever<double>),
      here_(-kNever<double>),
      mean_(problem.variables(), 0.0),
      doubt_(problem.variables(), 0.0) {
  narrows_ = limits.tighten && has_cheap_max_marginals(problem);
  depth_first_.improved = [this] { note(kNoScore, 0); };
  if (!prefers_sweeps(problem, options)) optimizer_ = make_optimizer(dual_, options);
  else separators_ = find_separators(problem, kGroups);
}

void Search::carry_on(EarlierSearch earlier) {
  trace_ = std::move(earlier.trace);
  bound_ = earlier.bound;
  earlier_ = std::move(earlier);
}

SearchEnd Search::run() {
  SearchEnd end = SearchEnd::searched;
  const TimeLimit limit(limits_.seconds - watch_.elapsed());
  try {
    if (optimizer_ && optimizer_->spreads()) dual_.spread();
    if (dual_.start()) {
      if (!optimizer_) dual_.worth();  // before anything moves
      if (!earlier_.on.empty()) rounding_.complete(earlier_.on);
      explore(limits_.nodes);
    }
    bound_ = std::max({score(), closed_, depth_first_.closed()});
  } catch (const TimeIsUp&) {
    end = SearchEnd::seconds;
  } catch (const OutOfNodes&) {
    end = SearchEnd::nodes;
  } catch (const OutOfIterations&) {
    end = SearchEnd::iterations;
  }
  if (end != SearchEnd::searched && count_ > 0) fill_average(count_);
  return end;
}

// In shares of the numbers that are added up; multipliers of another scale than the answer do not count.
double Search::allowance() const { return limits_.tolerance * kSizes * std::max(rounding_.size(), dual_.scale()); }

bool Search::closes(double bound) {
  if (!(bound <= score() + find_slack())) return false;
  closed_ = std::max(closed_, bound);
  return true;
}

double Search::read_bound() const {
  const double bound = dual_.bound() + dual_.rounding(rounding_.size());
  return limits_.whole ? std::floor(bound + kSlack * dual_.magnitude()) : bound;
}

bool Search::take_agreement() {
  if (!dual_.agree()) return false;
  rounding_.take();
  check_reserves();
  if (dual_.rounding(rounding_.size()) == 0) return true;
  if (find_doubtful() >= 0) return false;
  if (dual_.bonus_rounding(rounding_.size()) > 0) closed_ = std::max(closed_, std::min(here_, read_bound()));
  return true;
}

void Search::note(double primal, double step) {
  const double others = open_.empty() ? kNever<double> : open_.front().bound;
  double dual = bound_;
  if (!diving_) {
    const double bound = read_bound();
    here_ = std::min(here_, bound);
    const bool narrowed = nodes_ > 1 || fixed_ > 0;
    dual = limits_.whole ? dual_.bound() + dual_.rounding(rounding_.size()) : bound;
    dual = std::max(narrowed ? std::max(dual, score()) : dual, others);
    const double size = dual_.magnitude() + std::abs(score());
    if (score() != kNever<double> && score() > dual + kSlack * size) throw Contradiction(score(), dual);
    bound_ = std::min(bound_, std::max({here_, others, score()}));
  }
  trace_.seconds.push_back(earlier_.seconds + watch_.elapsed());
  trace_.dual.push_back(std::max(dual, score()));
  trace_.bound.push_back(bound_);
  trace_.primal.push_back(primal);
  trace_.score.push_back(score());
  trace_.step.push_back(step);
  trace_.nodes.push_back(earlier_.nodes + nodes_);
  if (progress)
    progress({static_cast<Index>(trace_.dual.size()), dual, bound_, score(), nodes_, static_cast<Index>(open_.size()),
              trace_.seconds.back()});
}

void Search::check_limits() {
  if (limits_.iterations >= 0 && static_cast<Index>(trace_.dual.size()) >= limits_.iterations) throw OutOfIterations();
  const double now = watch_.elapsed();
  if (now >= limits_.seconds) throw TimeIsUp();
  if (now < looked_ + kLook) return;
  looked_ = now;
  interrupt::look();
}

bool Search::descend_state(Index sweeps) {
  for (Index sweep = 0; sweep < sweeps; ++sweep) {
    if (separators_.empty()) descend(dual_, sweep % 2 == 0, watch_);
    else descend(dual_, separators_, sweep % 2 == 0, watch_);
    if (sweep % 2 == 0) continue;
    if (!dual_.evaluate()) return false;
    note(kNoScore, 0);
    if (closes(read_bound())) return false;
    check_limits();
    if (sweep % kSweepsPerAttempt != 1) continue;
    rounding_.round(true);
    rounding_.round(false);
    if (nodes_ == 1 && (sweep == kSweepsPerAttempt + 1 || sweep + kSweepsPerAttempt > sweeps)) rounding_.decide();
    if (closes(read_bound())) return false;
  }
  return true;
}

bool Search::relax_state(Index passes) {
  proximal_.minimize(passes, score(), watch_);
  note(kNoScore, 0);
  if (closes(read_bound())) return false;
  check_limits();
  rounding_.round(true);
  rounding_.round(false);
  return !closes(read_bound());
}

bool Search::narrow_state(Index* count) {
  *count = 0;
  if (score() == kNever<double> || !limits_.tighten) return true;
  if (!dual_.fix_by_bounds(score(), rounding_.size(), count)) return false;
  fixed_ += *count;
  if (*count == 0) return true;
  dual_.find_open();
  if (!dual_.evaluate()) return false;
  const bool settled = take_agreement();
  note(kNoScore, 0);
  if (settled || closes(read_bound())) return false;
  check_limits();
  return true;
}

// Searches the present state at its multipliers, if that takes about as much work as they did. False: there is nothing
// left in it.
bool Search::search_state() {
  if (limits_.nodes == 1 || !limits_.tighten) return true;
  const Index now = dual_.work();
  const bool dives = diving_;
  diving_ = true;  // bounds below the present state are not those of the whole
  const bool over = depth_first_.search(find_slack(), now - begun_, watch_);
  diving_ = dives;
  begun_ += dual_.work() - now;
  if (over) return false;
  note(kNoScore, 0);
  check_limits();
  return !closes(read_bound());
}

bool Search::bound_state() {
  if (!dual_.propagate()) return false;
  dual_.find_open();
  return optimizer_ ? step_state() : sweep_state();
}

bool Search::sweep_state() {
  begun_ = dual_.work();
  if (!dual_.evaluate()) return false;
  const bool root = nodes_ == 1;
  double primal = kNoScore;
  if (dual_.agree()) rounding_.take();
  else if (root) primal = rounding_.propose();
  note(primal, 0);
  if (closes(read_bound())) return false;
  check_limits();
  Index count = 1;
  for (Index round = 0; round < (root ? kRounds : 1) && (count > 0 || round < 2); ++round)
    if (!descend_state(root ? kRootSweeps : kSweeps) || !narrow_state(&count) || !search_state() ||
        !relax_state(root ? kRootPasses : kPasses) || !narrow_state(&count) || !search_state())
      return false;
  if (take_agreement()) return false;
  if (root && !try_steps()) return false;
  if (!optimizer_) fill_means();
  return true;
}

// Sweeps get stuck where a part of many cells, such as a count of all, gives each of them only a share. Steps do not:
// they are tried from there, and go on below the root if they gained much.
bool Search::try_steps() {
  const double bound = dual_.bound();
  optimizer_ = make_optimizer(dual_, OptimizerOptions{});
  if (!step_state()) return false;
  if (dual_.bound() > bound - kChange * (bound - score())) optimizer_.reset();
  return true;
}

void Search::fill_means() {
  average_ = proximal_.mixtures();
  for (Index v = 0; v < problem_.variables(); ++v) {
    mean_[v] = proximal_.mean(v);
    doubt_[v] = std::min(mean_[v], 1 - mean_[v]) + (dual_.split(v) ? 1e-3 : 0);
  }
}

bool Search::step_state() {
  while (true) {
    if (!iterate_state()) return false;
    Index count;
    if (!narrow_state(&count)) return false;
    if (count == 0 && !tighten_state()) break;
  }
  fill_doubts();
  return true;
}

// Minimises the dual by steps, and leaves it at the best multipliers. False: the state is settled.
bool Search::iterate_state() {
  optimizer_->start();
  total_.assign(problem_.copies(), 0.0);
  double least = -kNever<double>;
  double apart = 0;  // the gap when bounds were asked for last
  Index since = 0, narrow = kNarrow;
  for (Index count = 1;; ++count) {
    count_ = 0;
    if (!dual_.evaluate()) return false;
    count_ = count;
    for (Index p = 0; p < problem_.parts(); ++p)
      for (const Index c : dual_.used(p)) total_[problem_.begin(p) + c] += 1;
    const double dual = dual_.bound();
    if (dual < least - kGain * std::max(least - score(), 0.0)) since = 0;
    ++since;
    if (dual < least) least = dual, dual_.copy_multipliers(best_);
    double primal;
    const bool settled = settle(&primal);
    note(primal, optimizer_->step());
    if (settled || closes(here_)) return false;
    if (count == 1) apart = dual - score();
    check_limits();
    if (narrows_ && dual == least && (count >= narrow || dual - score() < kCloser * apart)) {
      narrow = count + kNarrow;
      apart = dual - score();
      Index fixed;
      if (!narrow_state(&fixed)) return false;
    }
    const bool more = optimizer_->next(rounding_.best());
    if (more && !is_enough(count, since)) continue;
    fill_average(count);
    count_ = 0;
    dual_.set_multipliers(best_);
    return dual_.evaluate();
  }
}

// Notes what an evaluation shows. True: the parts agree, so nothing better is in this state.
bool Search::settle(double* primal) {
  *primal = kNoScore;
  const double before = score();
  if (dual_.agree()) {
    const bool settled = take_agreement();
    *primal = 0;
    for (Index p = 0; p < problem_.parts(); ++p) *primal += dual_.score(p);
    if (settled) here_ = std::min(here_, *primal);
    return settled;
  }
  if (!closes(std::min(here_, read_bound()))) *primal = rounding_.propose();
  if (score() > before) check_reserves();
  return false;
}

// Whether it is time to try something else than more steps.
bool Search::is_enough(Index count, Index since) const {
  if (limits_.iterations < 0) {
    if (count >= (nodes_ == 1 ? kRootSteps : kSteps)) return true;
  } else if (limits_.nodes == 1) {
    return false;
  }
  return since > kPatience;
}

// The mixture that the optimiser knows if it leaves anything open, else the mean of all choices.
void Search::fill_average(Index count) {
  bool open = optimizer_->fill_average(average_);
  if (open) open = std::any_of(average_.begin(), average_.end(), [](double x) { return x > 0.01 && x < 0.99; });
  if (open) return;
  average_ = total_;
  for (double& x : average_) x /= static_cast<double>(count);
}

bool Search::tighten_state() {
  if (!limits_.tighten) return false;
  bool any = false;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!problem_.is_reserve(v) || dual_.is_active(v)) continue;
    double mean = 0;
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy) mean += average_[*copy];
    mean /= static_cast<double>(problem_.count(v));
    bool apart = false;
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy)
      apart = apart || std::abs(average_[*copy] - mean) > kLoose;
    if (!apart) continue;
    dual_.activate(v);
    ++tightened_;
    any = true;
  }
  return any;
}

void Search::check_reserves() const {
  const Whole& best = rounding_.best();
  if (best.score == kNever<double>) return;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!problem_.is_reserve(v)) continue;
    Index on = 0;
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy) {
      const Index p = problem_.owner(*copy);
      on += std::binary_search(best.used[p].begin(), best.used[p].end(), *copy - problem_.begin(p));
    }
    if (on > 0 && on < problem_.count(v)) throw LooseReserves();
  }
}

void Search::fill_doubts() {
  for (Index v = 0; v < problem_.variables(); ++v) {
    const double count = static_cast<double>(std::max<Index>(problem_.count(v), 1));
    double mean = 0, spread = 0;
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy) mean += average_[*copy];
    mean /= count;
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy)
      spread += (average_[*copy] - mean) * (average_[*copy] - mean);
    mean_[v] = mean;
    doubt_[v] = mean * (1 - mean) + spread / count + (dual_.split(v) ? 1e-6 : 0);
  }
}

Index Search::find_doubtful() const {
  Index chosen = -1;
  double most = kNever<double>;
  for (Index v = 0; v < problem_.variables(); ++v)
    if (dual_.is_free(v) && problem_.is_shared(v) && doubt_[v] > most) most = doubt_[v], chosen = v;
  return chosen;
}

void Search::dive() {
  const std::shared_ptr<const Dual::Snapshot> state = std::make_shared<Dual::Snapshot>(dual_.save());
  std::vector<Node> open;
  open.swap(open_);
  const double here = here_;
  const std::vector<double> mean = mean_, doubt = doubt_;
  diving_ = true;
  bool possible = true;
  for (Index v = 0; v < problem_.variables() && possible; ++v)
    if (dual_.is_free(v) && mean[v] > kSure) possible = dual_.fix(v, true) && dual_.propagate();
  try {
    if (possible) explore(std::min(kDive, limits_.nodes - nodes_));
  } catch (const OutOfNodes&) {
  }
  diving_ = false;
  here_ = here;
  mean_ = mean;
  doubt_ = doubt;
  open_.swap(open);
  dual_.restore(*state);
  dual_.evaluate();
}

void Search::explore(Index most) {
  const auto lower = [](const Node& a, const Node& b) { return a.bound < b.bound; };
  const Index last = most > std::numeric_limits<Index>::max() - nodes_ ? most : nodes_ + most;
  here_ = -kNever<double>;
  bool possible = true;
  while (true) {
    if (nodes_ >= last) throw OutOfNodes();
    ++nodes_;
    const bool root = nodes_ == 1;
    bool below = possible && bound_state();
    if (below && root && !optimizer_ && limits_.nodes > 1) {
      dive();
      Index count;
      below = !closes(read_bound()) && narrow_state(&count);
    }
    const Index v = below ? find_doubtful() : -1;
    if (below && v < 0 && !take_agreement()) throw LooseReserves();
    if (v >= 0) {
      const bool on = mean_[v] > 0.5;
      open_.push_back({std::make_shared<Dual::Snapshot>(dual_.save()), v, !on, std::min(here_, read_bound())});
      std::push_heap(open_.begin(), open_.end(), lower);
      possible = dual_.fix(v, on);
      if (possible) continue;
    }
    if (open_.empty() || closes(open_.front().bound)) return;
    std::pop_heap(open_.begin(), open_.end(), lower);
    const Node node = std::move(open_.back());
    open_.pop_back();
    dual_.restore(*node.state);
    here_ = node.bound;
    possible = dual_.fix(node.variable, node.on);
  }
}

}  // namespace certus::relax
