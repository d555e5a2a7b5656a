#include "scoring/tagger.hpp"

#include <cmath>
#include <stdexcept>

#include "base/vector.hpp"
#include "chain/marginals/marginals.hpp"

namespace certus::scoring {
namespace {

CERTUS_CLONES void scale(const std::int32_t* __restrict sums, float step, float* __restrict out, Index n) {
  for (Index u = 0; u < n; ++u) out[u] = step * static_cast<float>(sums[u]);
}

// Leaves the scores of allowed labels, which are in ascending order.
void forbid(const Allowed& allowed, float* scores, Index labels) {
  if (allowed.count < 0) return;
  const Label* next = allowed.labels;
  const Label* const end = next + allowed.count;
  for (Index y = 0; y < labels; ++y) {
    if (next < end && *next == y) ++next;
    else scores[y] = kNever<float>;
  }
}

constexpr Index kMostPairs = Index{1} << 20;  // of coarse tags in a table

constexpr Index kMostRounds = 32;
// Edges of all lattices of a sentence together, above which nothing more is taken back.
constexpr std::size_t kFewEdges = std::size_t{1} << 16, kEdgesPerToken = 512;
constexpr std::size_t kMostAtOnce = 32;  // labels and states that are taken back without looking closer
constexpr double kRounding = 1e-6;       // of scores, which are sums in single precision

// Where constraints leave no path, thresholds are lowered by these factors one after the other.
constexpr float kThresholds[] = {1, 1e-2f, 1e-4f, 0};

}  // namespace

void Tagger::use_cascade(Index order, const NgramTable& ngrams, const Thresholds& thresholds) {
  chain_ = nullptr;
  order_ = order, ngrams_ = ngrams, thresholds_ = thresholds;
  const Index G = tagset_.groups + 1;
  coarse_pairs_.clear();
  if (G * G <= kMostPairs)
    for (Index i = 0; i < G; ++i)
      for (Index j = 0; j < G; ++j)
        coarse_pairs_.push_back(ngrams.at(mix(mix(2, static_cast<Key>(i)), static_cast<Key>(j))));
  ngrams_.coarse_pairs = coarse_pairs_.empty() ? nullptr : coarse_pairs_.data();
  bounds_.emplace(tagset_, order, ngrams_);
}

std::unique_ptr<Tagger::Workspace> Tagger::workspace() const {
  auto w = std::make_unique<Workspace>();
  w->sums.resize(tagset_.units);
  w->units.assign(tagset_.units + 1, 0.0f);
  w->nodes.resize(expansion_.nodes());
  if (order_) w->cascade.emplace(tagset_, order_);
  return w;
}

// Looks up the rows of all features of a sentence; memory is asked for well before it is needed.
void Tagger::find_rows(const features::Sentence& sentence, Workspace& w) const {
  w.keys.clear();
  extractor_.extract(sentence, w.keys, w.ends, w.scratch);
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
  scale(w.sums.data(), step_, w.units.data(), tagset_.units);
}

void Tagger::emissions(const features::Sentence& sentence, float* out, Workspace& w) const {
  find_rows(sentence, w);
  Heed heed;
  for (Index t = 0; t < sentence.length; ++t) {
    heed(16 * tagset_.labels);
    score_token(t, w);
    expansion_.expand(w.units.data(), w.nodes.data(), out + t * tagset_.labels);
  }
}

void Tagger::tag(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  if (chain_) tag_chain(sentence, request, answer, w);
  else tag_cascade(sentence, request, answer, w);
}

void Tagger::tag_chain(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer,
                       Workspace& w) const {
  const Index T = sentence.length, L = tagset_.labels;
  w.scores.resize(T * L);
  emissions(sentence, w.scores.data(), w);
  for (Index t = 0; request.allowed && t < T; ++t) forbid(request.allowed[t], w.scores.data() + t * L, L);
  const certus::Sentence<float> scores{w.scores.data(), T, L};
  w.labels.resize(request.k * T);
  Request wanted;
  wanted.k = request.k;
  const Result result = run(*chain_, auto_method(), scores, wanted, w.labels.data(), answer.scores);
  if (result.status == Status::invalid) throw std::invalid_argument("a score is infinite or not a number");
  answer.found = result.found;
  answer.optimal = result.status == Status::optimal;
  answer.bound = result.bound;
  answer.position = result.position;
  std::copy_n(w.labels.begin(), result.found * T, answer.labels);
  if (!request.confidence || !result.found) return;
  w.marginals.resize(T * L);
  answer.log_partition = marginals(*chain_, scores, w.marginals.data()).log_partition;
  for (Index t = 0; t < T; ++t) answer.confidence[t] = static_cast<float>(w.marginals[t * L + w.labels[t]]);
}

// Multiplies the thresholds of single tokens, and those of lattices.
void Tagger::prune_by(float first, float later, Workspace& w) const {
  Thresholds& t = w.cascade->thresholds;
  t.groups = first * thresholds_.groups;
  t.states[0] = first * thresholds_.states[0];
  for (Index n = 1; n < kMostOrder; ++n) t.states[n] = later * thresholds_.states[n];
}

const lattice::Lattice& Tagger::search_lattice(const features::Sentence& sentence, float pruning, bool& exact,
                                               Workspace& w) const {
  find_rows(sentence, w);
  prune_by(pruning, pruning, w);
  w.cascade->legal = nullptr;
  w.cascade->bounds = nullptr;
  Index position = -1;
  const Level* const level = search(sentence.length, {}, w, position);
  if (!level) throw std::invalid_argument("a score is infinite or not a number");
  exact = !w.cascade->pruned;
  return *level;
}

// Builds the cascade; its last lattice, in which best paths are known, or null if there is no path.
const Level* Tagger::search(Index length, const TagRequest& request, Workspace& w, Index& position) const {
  Cascade& cascade = *w.cascade;
  cascade.begin(length);
  for (Index t = 0; t < length; ++t) {
    score_token(t, w);
    if (cascade.token(w.units.data(), request.allowed ? request.allowed[t] : Allowed{})) continue;
    cascade.pruned = false;  // nothing to be had by pruning less
    position = t;
    return nullptr;
  }
  cascade.close();
  return climb(w, position);
}

// Builds the levels of the cascade, once it has candidates.
const Level* Tagger::climb(Workspace& w, Index& position) const {
  Cascade& cascade = *w.cascade;
  for (Index n = 1;; ++n) {
    const Level& level = cascade.build(n, ngrams_);
    const lattice::BestPath& best = cascade.find_best(level);
    if (best.score == kNever<double>) {
      position = std::min(best.reached, cascade.length()) - 1;
      return nullptr;
    }
    if (n == order_) return &level;
    cascade.sums.find(level, false);
    cascade.prune(n, cascade.thresholds.states[n]);
  }
}

void Tagger::write_paths(const Level& level, const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  const Cascade& cascade = *w.cascade;
  if (request.k > 1) {
    answer.found = find_best_paths(level, request.k, answer.labels, answer.scores);
    return;
  }
  answer.found = 1;
  answer.scores[0] = cascade.best.score;
  trace_labels(level, cascade.paths, cascade.best, answer.labels);
}

// Bounds what the cascade has dropped; where that may be better than what was found, takes it back and looks again.
// Answers are then the best of all sequences, unless there would be too many states.
const Level* Tagger::prove(const Level* level, const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  Cascade& cascade = *w.cascade;
  answer.bound = -kNever<double>;
  if (!request.prove) {
    ++answer.rounds;
    write_paths(*level, request, answer, w);
    answer.optimal = !cascade.pruned;
    if (answer.optimal) answer.bound = answer.scores[0];
    return level;
  }
  std::size_t edges = 0;
  const std::size_t most = kFewEdges + kEdgesPerToken * static_cast<std::size_t>(cascade.length());
  for (;;) {
    ++answer.rounds;
    for (Index n = 1; n <= order_; ++n) edges += cascade.level(n).edge.size();
    write_paths(*level, request, answer, w);
    const double last = answer.found < request.k ? kNever<double> : answer.scores[answer.found - 1];
    const double outside = w.outside.find(cascade, ngrams_, order_, cascade.paths.best);
    answer.bound = std::min(answer.bound, std::max(outside, answer.scores[0]));
    answer.optimal = outside <= last + kRounding * (1 + std::abs(last)) || outside == kNever<double> ||
                     !find_wider(last, outside, w);
    if (answer.optimal) answer.bound = answer.scores[0];
    if (answer.optimal || answer.rounds >= kMostRounds || edges > most || cascade.is_too_wide(w.outside.labels))
      return level;
    cascade.widen(w.outside.labels, w.outside.states);
    Index position = -1;
    level = climb(w, position);
  }
}

// Lists what must be taken back for a proof; false if that is nothing. What leaves the lattice at one place comes
// first: once that is back, most of the rest is seen to be no better.
bool Tagger::find_wider(double limit, double outside, Workspace& w) const {
  const Cascade& cascade = *w.cascade;
  Outside& dropped = w.outside;
  if (limit != kNever<double> && dropped.find(cascade, ngrams_, order_, cascade.paths.best, true) > limit) {
    dropped.find_above(cascade, limit);
    if (dropped.size() > 0) return true;
  }
  dropped.find(cascade, ngrams_, order_, cascade.paths.best);
  dropped.find_above(cascade, limit);
  if (dropped.size() <= kMostAtOnce || limit == kNever<double>) return dropped.size() > 0;
  dropped.find_above(cascade, (limit + outside) / 2);
  if (dropped.size() > 0) return true;
  dropped.find_above(cascade, limit);
  return true;
}

void Tagger::tag_cascade(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer,
                         Workspace& w) const {
  Cascade& cascade = *w.cascade;
  const Index T = sentence.length;
  find_rows(sentence, w);
  cascade.legal = request.legal;
  cascade.bounds = request.prove ? &*bounds_ : nullptr;
  const Level* level = nullptr;
  for (const float factor : kThresholds) {
    prune_by(factor, 1, w);
    level = search(T, request, w, answer.position);
    if (level || !cascade.pruned) break;
  }
  if (!level) return;
  answer.position = -1;
  level = prove(level, request, answer, w);
  if (!request.confidence) return;
  cascade.sums.find(*level, false);
  answer.log_partition = cascade.sums.log_partition;
  for (Index t = 0; t < T; ++t) {
    double p = 0;
    for (std::uint32_t s = level->begin[t + 1]; s < level->begin[t + 2]; ++s)
      if (level->label[s] == answer.labels[t]) p += cascade.sums.probability[s];
    answer.confidence[t] = static_cast<float>(p);
  }
}

}  // namespace certus::scoring
