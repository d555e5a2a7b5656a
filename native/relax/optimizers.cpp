#include "relax/optimizers.hpp"

#include <algorithm>
#include <utility>

#include "relax/admm.hpp"
#include "relax/averaging.hpp"
#include "relax/bundle.hpp"
#include "relax/subgradient.hpp"

namespace certus::relax {
namespace {

constexpr Index kPartsOfBundle = 3;     // parts, for which a bundle is best
constexpr double kQuick = 0.55;         // the share of the gap by which a quick step lowers the dual
constexpr double kRelativeGain = 0.05;  // the same by which steps that are worth it lower it
constexpr Index kTurn = 20;             // iterations of each of several optimisers before the next one goes on

// Optimisers in turn, each from the best multipliers that any of them found; one that ends is left out.
class Relay final : public Optimizer {
 public:
  Relay(Dual& dual, std::vector<std::unique_ptr<Optimizer>> runners) : Optimizer(dual), runners_(std::move(runners)) {}

  void start() override {
    for (const auto& runner : runners_) runner->start();
    ended_.assign(runners_.size(), 0);
    left_ = kTurn;
    now_ = 0;
    least_ = -kNever<double>;
  }

  bool next(const Whole& best) override {
    if (dual_.bound() < least_) {
      least_ = dual_.bound();
      dual_.copy_multipliers(best_);
    }
    for (std::size_t tried = 0; tried <= runners_.size(); ++tried) {
      if (left_-- > 0 && !ended_[now_]) {
        const bool more = runners_[now_]->next(best);
        step_ = runners_[now_]->step();
        if (more) return true;
        ended_[now_] = 1;
      }
      now_ = (now_ + 1) % runners_.size();
      left_ = kTurn;
      dual_.set_multipliers(best_);
      dual_.evaluate();
    }
    return false;
  }

 private:
  std::vector<std::unique_ptr<Optimizer>> runners_;
  std::vector<std::uint8_t> ended_;
  std::vector<double> best_;
  double least_ = 0;
  Index left_ = 0;
  std::size_t now_ = 0;
};

// Descent by max-marginals while it lowers the dual quickly, which is soon over; then steps for the gap that is left.
// Where these have not gained for long, longer ones that are halved go on from the best multipliers, and so in turn.
class Approach final : public Optimizer {
 public:
  explicit Approach(Dual& dual)
      : Optimizer(dual),
        descent_(dual, 1.0),
        inverse_(dual, StepRule::inverse, 0.0),
        halving_(dual, StepRule::halving, 0.0) {}

  bool spreads() const override { return true; }

  void start() override {
    descent_.start();
    descends_ = !started_;  // branches start where their parent ended
    halves_ = false;
    if (started_) steps().start();
    started_ = true;
    least_ = -kNever<double>;
    since_ = 0;
  }

  bool next(const Whole& best) override {
    if (descends_ && descend(best)) return true;
    bool more = !is_stuck(best) && steps().next(best);
    if (!more) {
      halves_ = !halves_;
      dual_.set_multipliers(best_);
      dual_.evaluate();
      steps().start();
      since_ = 0;
      more = steps().next(best);
    }
    step_ = steps().step();
    return more;
  }

 private:
  bool descend(const Whole& best) {
    const double dual = dual_.bound();
    const double gap = best.score == kNever<double> ? 0 : least_ - best.score;
    descends_ = least_ == -kNever<double> || dual < least_ - kQuick * gap;
    if (dual < least_) {
      least_ = dual;
      dual_.copy_multipliers(best_);
    }
    if (descends_ && descent_.next(best)) {
      step_ = descent_.step();
      return true;
    }
    descends_ = false;
    dual_.set_multipliers(best_);
    dual_.evaluate();
    steps().start();
    return false;
  }

  Subgradient& steps() { return halves_ ? halving_ : inverse_; }

  bool is_stuck(const Whole& best) {
    const double dual = dual_.bound();
    if (dual < least_ - kRelativeGain * std::max(least_ - best.score, 0.0)) since_ = 0;
    if (dual < least_) {
      least_ = dual;
      dual_.copy_multipliers(best_);
    }
    return ++since_ > kTurn;
  }

  Averaging descent_;
  Subgradient inverse_, halving_;
  std::vector<double> best_;
  double least_ = 0;
  Index since_ = 0;
  bool descends_ = true, started_ = false, halves_ = false;
};

// One evaluation tells a bundle one choice of each part. Two large parts, such as a parser and a tagger, it brings
// together in half the iterations of any subgradient rule; but a step of a bundle costs as much as dozens of the
// quickest parts do, and with dozens of parts its model is poor for long, and its quadratic program large. There
// descent by max-marginals is best, for as long as it falls, where the parts offer them; then which steps do better
// depends on the problem, so they take turns.
std::unique_ptr<Optimizer> choose_optimizer(Dual& dual) {
  const Problem& problem = dual.problem();
  if (problem.parts() <= kPartsOfBundle) {
    bool free = true;
    for (Index p = 0; p < problem.parts(); ++p) free = free && problem.part(p).moves_freely();
    if (has_cheap_max_marginals(problem) && free) return std::make_unique<Approach>(dual);
    return std::make_unique<Bundle>(dual, OptimizerOptions{});
  }
  std::vector<std::unique_ptr<Optimizer>> runners;
  bool marginals = true;
  for (Index p = 0; p < problem.parts(); ++p) marginals = marginals && problem.part(p).offers_max_marginals();
  if (marginals) runners.push_back(std::make_unique<Averaging>(dual, 0.5));
  runners.push_back(std::make_unique<Subgradient>(dual, StepRule::inverse, 0.0));
  runners.push_back(std::make_unique<Subgradient>(dual, StepRule::halving, 0.0));
  return std::make_unique<Relay>(dual, std::move(runners));
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(Dual& dual, const OptimizerOptions& options) {
  switch (options.method) {
    case Method::subgradient: return std::make_unique<Subgradient>(dual, options.rule, options.step);
    case Method::bundle: return std::make_unique<Bundle>(dual, options);
    case Method::descent: return std::make_unique<Averaging>(dual, options.share);
    case Method::admm: return std::make_unique<Admm>(dual, options.step);
    case Method::automatic: break;
  }
  return choose_optimizer(dual);
}

}  // namespace certus::relax
