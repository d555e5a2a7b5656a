#include "scoring/arc_model.hpp"

#include <algorithm>

namespace certus::scoring {

void ArcModel::Worker::parse(const features::Sentence& sentence, const ParsingOptions& options, ParsedTree& out) {
  model_.pruning_.look_up(sentence, words_);
  candidates_.score(heads_, words_, model_.heads_.step);
  candidates_.choose(options.limits, nullptr, arcs_);
  model_.plan_.look_up(sentence, words_);
  parts_.prepare(words_);
  search(options, out);
  if (!out.tree.exists && options.limits.ratio > 0) {  // what was left out may be what trees need
    candidates_.choose({0, 0}, nullptr, arcs_);
    search(options, out);
  }
}

void ArcModel::Worker::score_all(const features::Sentence& sentence, double* scores, Label* relations) {
  const Index n = sentence.length;
  model_.plan_.look_up(sentence, words_);
  parts_.prepare(words_);
  arcs_.assign_all(n);
  score_arcs();
  std::fill_n(scores, n * (n + 1), kNever<double>);
  std::fill_n(relations, n * (n + 1), Label{-1});
  for (Index a = 0; a < arcs_.size(); ++a) {
    const Index cell = (arcs_.modifier(a) - 1) * (n + 1) + arcs_.head(a);
    scores[cell] = scores_[a] * model_.weights_.step;
    relations[cell] = relation_[a];
  }
}

void ArcModel::Worker::score_arcs() {
  scores_.resize(static_cast<std::size_t>(arcs_.size()));
  relation_.resize(static_cast<std::size_t>(arcs_.size()));
  parts_.score_arcs(arcs_, [](Index, Index) { return 0.0; }, scores_.data(), relation_.data());
}

void ArcModel::Worker::search(const ParsingOptions& options, ParsedTree& out) {
  score_arcs();
  out.candidates = arcs_.size();
  search_.find(arcs_, {scores_.data()}, options.kind, out.tree);
  if (!out.tree.exists) return;
  out.heads.clear();
  out.relations.clear();
  for (const Label arc : out.tree.arc_of) {
    out.heads.push_back(arcs_.head(arc));
    out.relations.push_back(relation_[arc]);
  }
}

}  // namespace certus::scoring
