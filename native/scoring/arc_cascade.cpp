#include "scoring/arc_cascade.hpp"

#include <algorithm>

namespace certus::scoring {

ArcCascade::Worker::Worker(const ArcCascade& cascade) : cascade_(cascade) {
  for (const CascadePass& pass : cascade.passes_) passes_.emplace_back(pass.options);
}

void ArcCascade::Worker::prune(const features::Sentence& sentence, Index passes, syntax::Arcs& arcs) {
  cascade_.plan_.look_up(sentence, words_);
  grid_.open_all(words_.length);
  if (cascade_.view_ != kNoView) close_long_arcs(words_, cascade_.view_, cascade_.lengths_, grid_);
  const Index count = words_.length == 0 ? 0 : std::min(passes, cascade_.size());
  if (count > 0) keys_.prepare(cascade_.plan_, words_, cascade_.plan_.has(features::ArcPart::sibling));
  for (Index p = 0; p < count; ++p) {
    const CascadePass& pass = cascade_.passes_[p];
    // Max-marginals and their threshold have no unit: they stay whole-numbered, and exact.
    const double step = pass.options.posterior ? pass.weights.step : 1;
    if (evaluate_pass(passes_[p], keys_, pass.weights.weights, step, grid_)) passes_[p].close(pass.at, grid_);
  }
  grid_.list(arcs);
}

void ArcCascade::Worker::widen(syntax::Arcs& arcs) {
  grid_.open_neighbours();
  grid_.list(arcs);
}

}  // namespace certus::scoring
