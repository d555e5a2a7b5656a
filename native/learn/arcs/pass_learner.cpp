#include "learn/arcs/pass_learner.hpp"

#include <cmath>

#include "base/interrupt.hpp"

namespace certus::learn {
namespace {

constexpr double kSmallChange = 1e-3;  // changes below this change nothing

bool crosses(const Label* heads, Index n) {
  for (Index m = 1; m <= n; ++m) {
    const Index low = std::min<Index>(heads[m - 1], m), high = std::max<Index>(heads[m - 1], m);
    for (Index k = low + 1; k < high; ++k)
      if (heads[k - 1] < low || heads[k - 1] > high) return true;
  }
  return false;
}

// Calls use(sentence, pass) for one sentence in so many, with the values of its parts.
template <class Use>
void visit_sentences(OpenArcs& open, const features::ArcPlan& plan, const scoring::CascadePass& pass, Index each,
                     const Use& use) {
  scoring::PruningPass runner(pass.options);
  scoring::PassKeys keys;
  const TreeCorpus& corpus = open.corpus();
  const double step = pass.options.posterior ? pass.weights.step : 1;
  Heed heed;
  for (Index s = 0; s < corpus.sentences(); s += each) {
    heed(1024 * corpus.length(s));
    if (corpus.length(s) == 0) continue;
    keys.prepare(plan, corpus.pruning[s], pass.options.kind == scoring::PassKind::second);
    if (scoring::evaluate_pass(runner, keys, pass.weights.weights, step, open.grid(s))) use(s, runner);
  }
}

}  // namespace

PassLearner::PassLearner(OpenArcs& open, const features::ArcPlan& plan, const scoring::PassOptions& options, double at,
                         float rate)
    : weights(std::size_t{1} << plan.bits(), 0.0f),
      squares(std::size_t{1} << plan.bits(), 1.0f),
      open_(open),
      plan_(plan),
      at_(at),
      rate_(rate),
      used_(static_cast<std::size_t>(open.corpus().sentences())),
      pass_(options) {
  for (Index s = 0; s < corpus().sentences(); ++s)
    used_[s] =
        corpus().length(s) > 0 && !(options.needs_projective() && crosses(corpus().heads_of(s), corpus().length(s)));
}

double PassLearner::epoch(const Index* order, Index count) {
  changed_ = 0;
  Heed heed;
  for (Index i = 0; i < count; ++i) {
    heed(4096 * corpus().length(order[i]));
    if (used_[order[i]]) learn(order[i]);
  }
  return count ? static_cast<double>(changed_) / static_cast<double>(count) : 0;
}

void PassLearner::learn(Index sentence) {
  keys_.prepare(plan_, corpus().pruning[sentence], pass_.options().kind == scoring::PassKind::second);
  if (!scoring::evaluate_pass(pass_, keys_, weights.data(), 1.0, open_.grid(sentence))) return;
  pass_.list_tree(corpus().heads_of(sentence), parts_, siblings_);
  if (!pass_.differentiate(at_, parts_, siblings_)) return;
  ++changed_;
  for (Index p = 0; p < pass_.parts(); ++p) {
    const double amount = pass_.part_changes()[p];
    if (std::abs(amount) < kSmallChange) continue;
    places_.clear();
    pass_.find_part(keys_, p, places_);
    change(amount);
  }
  if (pass_.options().kind != scoring::PassKind::second) return;
  const syntax::Arcs& arcs = pass_.arcs();
  for (Index side = 0; side < arcs.sides(); ++side)
    for (Index k = arcs.candidates(side), previous = 0; previous <= k; ++previous)
      for (Index next = previous; next <= k; ++next) {
        const double amount = pass_.sibling_changes()[arcs.sibling(side, previous, next)];
        if (std::abs(amount) < kSmallChange) continue;
        places_.clear();
        pass_.find_siblings(keys_, side, previous, next, places_);
        change(amount);
      }
}

void PassLearner::change(double amount) {
  const auto gradient = static_cast<float>(amount);
  for (const features::Place place : places_.bare) {
    float& square = squares[place];
    square += gradient * gradient;
    weights[place] += rate_ * gradient / std::sqrt(square);
  }
}

HighestThresholds find_highest_thresholds(OpenArcs& open, const features::ArcPlan& plan,
                                          const scoring::CascadePass& pass, Index each) {
  HighestThresholds out;
  visit_sentences(open, plan, pass, each, [&](Index s, const scoring::PruningPass& runner) {
    const Label* heads = open.corpus().heads_of(s);
    constexpr double kAny = -kNever<double>;
    double least = kAny;
    for (Index m = 1; m <= open.corpus().length(s); ++m) {
      const Index h = heads[m - 1];
      out.words.push_back(open.grid(s).is_open(h, m) ? runner.find_highest(h, m) : kAny);
      least = std::min(least, out.words.back());
    }
    out.sentences.push_back(least);
  });
  return out;
}

void close_arcs(OpenArcs& open, const features::ArcPlan& plan, const scoring::CascadePass& pass) {
  visit_sentences(open, plan, pass, 1, [&](Index s, const scoring::PruningPass& runner) {
    runner.close(pass.at, open.grid(s));
    open.open_tree(s);
  });
}

}  // namespace certus::learn
