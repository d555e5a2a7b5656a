#include "learn/tagger.hpp"

#include "marginals.hpp"
#include "vector.hpp"

namespace certus::learn {
namespace {

CERTUS_CLONES void scale(const std::int32_t* __restrict sums, float step, float* __restrict out, Index n) {
  for (Index u = 0; u < n; ++u) out[u] = step * static_cast<float>(sums[u]);
}

}  // namespace

std::unique_ptr<Tagger::Workspace> Tagger::workspace() const {
  auto w = std::make_unique<Workspace>();
  w->sums.resize(tagset_->units);
  w->units.assign(tagset_->units + 1, 0.0f);
  w->nodes.resize(expansion_.nodes());
  if (order_) {
    w->cascade.emplace(*tagset_, order_);
    w->cascade->thresholds = thresholds_;
  }
  return w;
}

// Looks up the rows of all features of a sentence; memory is asked for well before it is needed.
void Tagger::find_rows(const features::Sentence& sentence, Workspace& w) const {
  w.keys.clear();
  extractor_->extract(sentence, w.keys, w.ends, w.scratch);
  for (const Key key : w.keys) table_.prefetch(key);
  w.rows.resize(w.keys.size());
  for (std::size_t i = 0; i < w.keys.size(); ++i) {
    w.rows[i] = table_.find(w.keys[i]);
    __builtin_prefetch(table_.rows + w.rows[i]);
  }
}

void Tagger::score_token(Index t, Workspace& w) const {
  std::fill(w.sums.begin(), w.sums.end(), 0);
  for (std::uint32_t i = t ? w.ends[t - 1] : 0; i < w.ends[t]; ++i)
    if (w.rows[i]) table_.add(w.rows[i], w.sums.data());
  scale(w.sums.data(), step_, w.units.data(), tagset_->units);
}

void Tagger::emissions(const features::Sentence& sentence, float* out, Workspace& w) const {
  find_rows(sentence, w);
  for (Index t = 0; t < sentence.length; ++t) {
    score_token(t, w);
    expansion_.expand(w.units.data(), w.nodes.data(), out + t * tagset_->labels);
  }
}

void Tagger::tag(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  if (chain_) tag_chain(sentence, request, answer, w);
  else tag_cascade(sentence, request, answer, w);
}

void Tagger::tag_chain(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer,
                       Workspace& w) const {
  const Index T = sentence.length, L = tagset_->labels;
  w.scores.resize(T * L);
  emissions(sentence, w.scores.data(), w);
  if (request.allowed)
    for (Index i = 0; i < T * L; ++i)
      if (!request.allowed[i]) w.scores[i] = kNever<float>;
  const certus::Sentence<float> scores{w.scores.data(), T, L};
  w.labels.resize(request.k * T);
  Request wanted;
  wanted.k = request.k;
  const Result result = run(*chain_, kAuto, scores, wanted, w.labels.data(), answer.scores);
  answer.found = result.found;
  answer.optimal = result.status == Status::optimal;
  *answer.bound = result.bound;
  std::copy_n(w.labels.begin(), result.found * T, answer.labels);
  if (!request.confidence || !result.found) return;
  w.marginals.resize(T * L);
  const Summary summary = marginals(*chain_, scores, w.marginals.data());
  *answer.log_partition = summary.log_partition;
  for (Index t = 0; t < T; ++t) answer.confidence[t] = static_cast<float>(w.marginals[t * L + w.labels[t]]);
}

void Tagger::tag_cascade(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer,
                         Workspace& w) const {
  Cascade& cascade = *w.cascade;
  const Index T = sentence.length;
  find_rows(sentence, w);
  cascade.begin(T);
  for (Index t = 0; t < T; ++t) {
    score_token(t, w);
    cascade.token(w.units.data());
  }
  cascade.close();
  for (Index n = 1;; ++n) {
    Level& level = cascade.build(n, ngrams_);
    if (n < order_) {
      cascade.sum(level, false);
      cascade.prune(n, thresholds_.states[n]);
      continue;
    }
    answer.scores[0] = cascade.maximize(level);
    cascade.trace(level, answer.labels);
    answer.found = 1;
    *answer.bound = std::numeric_limits<double>::infinity();
    if (!request.confidence) return;
    cascade.sum(level, false);
    *answer.log_partition = level.log_partition;
    for (Index t = 0; t < T; ++t) {
      double p = 0;
      for (std::uint32_t s = level.begin[t + 1]; s < level.begin[t + 2]; ++s)
        if (level.label[s] == answer.labels[t]) p += level.probability[s];
      answer.confidence[t] = static_cast<float>(p);
    }
    return;
  }
}

}  // namespace certus::learn
