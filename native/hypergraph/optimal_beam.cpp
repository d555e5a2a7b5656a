#include "hypergraph/optimal_beam.hpp"

#include <algorithm>

#include "hypergraph/derivation.hpp"
#include "hypergraph/kbest.hpp"

namespace certus::hypergraph {
namespace {

constexpr Index kRelaxationRounds = 200;                  // of relaxation
constexpr Index kRoundsBeforeBeam = 8, kMostRounds = 64;  // before the first beam, and between two of them
constexpr Index kFirstStates = 1, kLastStates = 8;  // made best first per edge, at the beginning and after relaxation
constexpr Index kBeamStep = 32;                     // of them in a unit of work
constexpr Index kMostWays = Index{1} << 27;         // to make the states of a beam

}  // namespace

BeamSearch::BeamSearch(const Forest& forest, const double* weights, Rows rows, Plan plan, Index width, Index k)
    : ConstrainedSearch(forest, weights, std::move(rows)), plan_(plan), k_(k), width_(width), above_(forest) {
  descent_.begin(Multipliers(static_cast<std::size_t>(relaxation_.rows().count), 0.0), kRelaxationRounds);
  relaxed_ = plan == Plan::once;
  until_ = plan == Plan::staged ? kRelaxationRounds : kRoundsBeforeBeam;
  to_try_first_ = to_try_last_ = plan == Plan::automatic && !k;
}

void BeamSearch::work() {
  if (to_try_first_) {
    to_try_first_ = false;
    begin_best_first(descent_.at(), kFirstStates * forest().edges);
  }
  if (intersection_) return search_best_first();
  if (!relaxed_ && rounds_ < until_) return relax();
  if (!relaxed_ || !to_try_last_) return look();
  to_try_last_ = false;
  begin_best_first(choose_multipliers(), kLastStates * forest().edges);
}

Signatures& BeamSearch::signatures() {
  if (!signatures_) signatures_ = std::make_unique<Signatures>(relaxation_);
  return *signatures_;
}

// The best so far; or none, where the rounding of multipliers could hide a better answer.
Multipliers BeamSearch::choose_multipliers() const {
  const Multipliers& best = descent_.best();
  const double off = relaxation_.slack(best);
  const bool hides = relaxation_.is_whole() ? off >= 0.25 : found() && !is_rounding(off);
  return hides ? Multipliers(best.size(), 0.0) : best;
}

// Takes a value below which, but for rounding, everything lies that is not known yet.
void BeamSearch::lower(double value, double off) {
  open_ = std::min(open_, relaxation_.tight(value + off));
  if (is_beaten(open_) || is_beaten(value, off)) close();
}

void BeamSearch::relax() {
  ++rounds_;
  const Multipliers& at = descent_.at();
  const double value = relaxation_.maximize(at);
  descent_.observe(value);
  lower(value, relaxation_.slack(at));
  if (over_) return;
  if (!relaxation_.derive(edges_)) {
    too_large_ = true;
    return;
  }
  if (relaxation_.is_satisfied(edges_)) {
    if (!k_) offer(edges_);
    lower(value, relaxation_.slack(at));  // now there is something to beat
    relaxed_ = true;                      // this is the lowest value that there is
    return;
  }
  relaxed_ = !descent_.step(value, relaxation_.violation(), std::max(relaxation_.floor(), score_), score_);
}

// -- best first ---------------------------------------------------------------------------------------------------

void BeamSearch::begin_best_first(const Multipliers& at, Index most) {
  guide_ = at;
  most_made_ = most;
  relaxation_.adjust(guide_);
  intersection_ = std::make_unique<Intersection>(relaxation_, above_, signatures());
}

void BeamSearch::search_best_first() {
  const double more = relaxation_.offset(guide_), off = relaxation_.slack(guide_);
  for (Index n = 0; n < kBeamStep && !is_late(); ++n) {
    double value = kNever<double>;
    const Intersection::Found what = intersection_->next(least(guide_, mark_), &value);
    if (what == Intersection::Found::nothing) return close();
    ++states;
    if (what == Intersection::Found::goal) {
      too_large_ = !intersection_->derivation(edges_);
      if (too_large_) return;
      offer(edges_);
    }
    lower(value + more, off);
    if (over_) return;
  }
  if (intersection_->made() > most_made_) intersection_.reset();
}

// -- beams --------------------------------------------------------------------------------------------------------

void BeamSearch::look() {
  const Multipliers at = choose_multipliers();
  const double more = relaxation_.offset(at), off = relaxation_.slack(at);
  relaxation_.adjust(at);
  Beam beam(relaxation_, signatures());
  const double least = !k_ ? this->least(at, mark_) : mark_ - more - off;
  if (!beam.run({width_, least, k_ > 0, kMostWays}, [this] { return is_late(); })) return;
  states += beam.states();
  if (beam.found() && !k_) {
    if (!beam.derivation(edges_)) {
      too_large_ = true;
      return;
    }
    offer(edges_);
  } else if (beam.found()) {
    list_best(beam);
  }
  const bool all = beam.dropped() == kNever<double>;
  if (all && k_ > 0) return close();  // what is not listed is not among the k best
  const double value = std::max(beam.dropped(), !k_ ? beam.value() : kNever<double>) + more;
  lower(value, off);
  over_ |= plan_ == Plan::once || beam.is_full();
  width_ *= 4;
  rounds_ = 0;
  until_ = std::min(2 * until_, kMostRounds);
}

// The k best derivations that a beam has kept.
void BeamSearch::list_best(const Beam& beam) {
  const Beam::Product product = beam.make_product();
  std::vector<double> weights;
  weights.reserve(product.edge.size());
  for (const Edge e : product.edge) weights.push_back(e == Beam::kCrown ? 0.0 : relaxation_.weights()[e]);
  KBest best(*product.forest, weights.data());
  list_.clear();
  double value = 0;
  while (static_cast<Index>(list_.size()) < k_ && best.next(edges_, &value)) {
    std::vector<Edge> edges;
    for (const Edge e : edges_)
      if (product.edge[e] != Beam::kCrown) edges.push_back(product.edge[e]);
    list_.push_back({relaxation_.score(edges), std::move(edges)});
  }
  too_large_ |= best.too_large();
  std::stable_sort(list_.begin(), list_.end(), [](const Listed& a, const Listed& b) { return a.score > b.score; });
  if (list_.empty()) return;
  offer(list_.front().edges);
  mark_ = static_cast<Index>(list_.size()) == k_ ? list_.back().score : kNever<double>;
}

}  // namespace certus::hypergraph
