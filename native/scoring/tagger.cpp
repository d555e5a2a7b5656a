#include "scoring/tagger.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>

#include "base/log_sums.hpp"
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
constexpr Index kMostTriples = Index{1} << 16;

constexpr Index kMostTurns = 12;
constexpr double kScoreRounding = 1e-6;  // of scores, which are sums in single precision
constexpr float kLess = 0.3f;            // by how much less is pruned in the next round,
constexpr float kMuchLess = 0.1f;        // and where there is no path, or too few
// By how much less is pruned for probabilities, of labels, by the order; and at which part of the thresholds of states
// edges are, instead of states: most pairs of labels that are possible each are not together.
constexpr float kWideLabels[] = {0.12f, 0.18f, 0.2f, 0.2f, 0.2f}, kWideEdges = 0.01f;
// By how much more is pruned in the first where one answer is proven, of labels, by the order, and of states: what is
// dropped is bounded, and smaller lattices cost less. Bounds are closer where n-grams are short.
constexpr float kMoreLabels[] = {4, 2.5f, 2, 2, 2}, kMoreStates = 3;
// Coarse tags are not dropped at a higher probability than this because of it: all their labels go with them, and where
// a model has learned little, one of them may be needed in almost every sentence.
constexpr float kMostTags = 0.03f;
static_assert(std::size(kMoreLabels) == kMostOrder && std::size(kWideLabels) == kMostOrder);

// How much further below the best sequence of a lattice those outside are looked for, first and then.
constexpr double kFurther[] = {6, 9};
// How far they are below it with the usual thresholds, about. Where that is not as far as wanted, thresholds are
// multiplied by a factor, and divided by this again and again, down to a least factor.
constexpr double kUsualMargin = 4, kMore = 10, kLeastFactor = 1e-12;

// Where lattices have no path, or fewer than are wanted, less is pruned again and again, down to this, and then
// nothing.
constexpr float kLeastPruning = 1e-6f;
// Where so many sequences are wanted, or fewer, as much is pruned at first as where one is.
constexpr float kFewAnswers = 10;
// Of lists, at which part of the thresholds of states edges are dropped.
constexpr float kListEdges = 0.3f;
// How much further below the best than what a lattice is likely to have its last answer may be.
constexpr double kFurtherDown = 2;

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
  coarse_triples_.clear();
  if (order > 1 && G * G * G <= kMostTriples)
    for (Index before = 0; before < G; ++before)
      for (Index after = 0; after < G; ++after)
        for (Index first = 0; first < G; ++first) {
          const Key pair = mix(mix(2, static_cast<Key>(first)), static_cast<Key>(before));
          coarse_triples_.push_back(ngrams.at(mix(pair, static_cast<Key>(after))));
        }
  ngrams_.coarse_triples = coarse_triples_.empty() ? nullptr : coarse_triples_.data();
  bounds_.emplace(tagset_, order, ngrams_);
  group_bounds_.emplace(tagset_, *bounds_);
}

const NgramTable& Tagger::filter_ngrams() const {
  const auto make = [&] {
    auto made = std::make_unique<FilteredNgrams>(FilteredNgrams{make_filter(ngrams_), ngrams_});
    made->ngrams.filter = made->filter.data();
    return made;
  };
  return filtered_.get(make).ngrams;
}

const RestTables& Tagger::prepare_rests() const {
  return rests_.get([&] { return std::make_unique<RestTables>(*bounds_, order_); });
}

std::unique_ptr<Tagger::Workspace> Tagger::workspace() const {
  auto w = std::make_unique<Workspace>();
  w->sums.resize(tagset_.units);
  w->stride = static_cast<std::size_t>(tagset_.units) + 1;
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

// The scores of units at a token, which are kept for all tokens while what is dropped is bounded.
const float* Tagger::score_token(Index t, Workspace& w) const {
  const bool keep = w.cascade && w.cascade->bounds;
  const std::size_t row = keep ? static_cast<std::size_t>(t) * w.stride : 0;
  const std::size_t end = row + w.stride + NgramBounds::kBlock;  // a block more may be read, and does not count
  if (w.units.size() < end) w.units.resize(end);
  float* const units = w.units.data() + row;
  std::fill(w.sums.begin(), w.sums.end(), 0);
  for (std::uint32_t i = t ? w.ends[t - 1] : 0; i < w.ends[t]; ++i)
    if (w.rows[i]) table_.add(w.rows[i], w.sums.data());
  scale(w.sums.data(), step_, units, tagset_.units);
  units[tagset_.units] = 0;
  return units;
}

// The largest sum of the magnitudes of the units of a label.
double Tagger::find_magnitude(const float* units, Workspace& w) const {
  const std::size_t count = w.stride, nodes = static_cast<std::size_t>(expansion_.nodes());
  w.magnitudes.resize(count + nodes + static_cast<std::size_t>(tagset_.labels));
  float* const own = w.magnitudes.data();
  float* const labels = own + count + nodes;
  for (std::size_t u = 0; u < count; ++u) own[u] = std::abs(units[u]);
  expansion_.expand(own, own + count, labels);
  return 1.0001 * static_cast<double>(lattice::find_largest(labels, tagset_.labels));
}

// For the sentence whose rows were found last.
Rounding Tagger::bound_rounding(Index length, Workspace& w) const {
  const bool has_units = w.cascade && w.cascade->bounds;
  const double ngrams = chain_ ? 0 : bounds_->heaviest();  // transitions of chains are single numbers
  Rounding rounding;
  for (Index t = 0; t < length; ++t)
    rounding.add(parts_, order_, find_magnitude(has_units ? w.kept_units(t) : score_token(t, w), w), ngrams);
  rounding.add(parts_, order_, 0, ngrams);  // where the sentence ends
  return rounding;
}

void Tagger::emissions(const features::Sentence& sentence, float* out, Workspace& w) const {
  find_rows(sentence, w);
  if (w.cascade) w.cascade->bounds = nullptr;
  Heed heed;
  for (Index t = 0; t < sentence.length; ++t) {
    heed(16 * tagset_.labels);
    float* const row = out + t * tagset_.labels;
    if (chain_) expansion_.expand(score_token(t, w), w.nodes.data(), row);
    else expand_groups(score_token(t, w), w, row);
  }
}

// All labels, with the same sums as those of the cascade.
void Tagger::expand_groups(const float* units, Workspace& w, float* labels) const {
  w.nodes.resize(tagset_.labels);
  for (Index g = 0; g < tagset_.groups; ++g) {
    expand_group(tagset_, g, units, w.nodes.data());
    for (std::uint32_t i = tagset_.member_begin[g]; i < tagset_.member_begin[g + 1]; ++i)
      labels[tagset_.members[i]] = w.nodes[i - tagset_.member_begin[g]];
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
  answer.log_partition = answer.log_partition_bound = marginals(*chain_, scores, w.marginals.data()).log_partition;
  for (Index t = 0; t < T; ++t) answer.confidence[t] = static_cast<float>(w.marginals[t * L + w.labels[t]]);
  answer.rounding = bound_rounding(T, w);
}

// Multiplies the thresholds of single tokens, and those of lattices; edges have those of states, multiplied likewise.
void Tagger::prune_by(float first, float later, Workspace& w, float edges) const {
  Thresholds& t = w.cascade->thresholds;
  t.groups = std::min(first * thresholds_.groups, std::max(kMostTags, thresholds_.groups));
  t.states[0] = first * thresholds_.states[0];
  for (Index n = 1; n < kMostOrder; ++n)
    t.states[n] = later * thresholds_.states[n], t.edges[n] = edges * thresholds_.states[n];
}

const lattice::Lattice& Tagger::search_lattice(const features::Sentence& sentence, const LatticeRequest& request,
                                               double& outside, Workspace& w) const {
  find_rows(sentence, w);
  w.cascade->legal = nullptr, w.cascade->several = false;
  w.cascade->bounds = request.bounded ? &*bounds_ : nullptr;
  w.cascade->group_bounds = request.bounded ? &*group_bounds_ : nullptr;
  // What has a posterior below a threshold scores less than the best by about its logarithm.
  double factor = request.bounded ? std::exp(std::clamp(kUsualMargin - request.margin, -12.0, 0.0)) : 1;
  for (bool is_last = !request.bounded;;) {
    const float pruning = request.pruning * static_cast<float>(factor);
    prune_by(pruning, pruning, w);
    Index position = -1;
    const Level* const level = search(sentence.length, {}, w, position);
    if (!level) throw std::invalid_argument("a score is infinite or not a number");
    if (w.cascade->limited && factor < 1) {  // a lattice that has all that is likely has better bounds
      is_last = true;
      factor = std::min(1.0, factor * kMore);
      continue;
    }
    const double most = w.cascade->best.score - request.margin;
    outside = !w.cascade->pruned ? kNever<double> : request.bounded ? bound_outside(request, w) : -kNever<double>;
    if (is_last || outside <= most + kScoreRounding * (1 + std::abs(most)) || factor < kLeastFactor) return *level;
    factor /= kMore;
  }
}

// A bound of all that the cascade has dropped: the score of the best, where that is found within a margin below the
// best path of the last lattice.
double Tagger::bound_outside(const LatticeRequest& request, Workspace& w) const {
  const double best = w.cascade->best.score;
  double bound = -kNever<double>;
  for (const double further : kFurther) {
    const double limit = best - request.margin - (request.further ? further : 0);
    bound = std::min(bound, w.detours.find(*w.cascade, ngrams_, order_, limit, 1, nullptr, {w.units.data(), w.stride}));
    if (!w.detours.found.empty()) bound = std::max(bound, w.detours.found[0].score);
    if (bound > limit || !request.further) break;
  }
  return bound;
}

// Builds the cascade; its last lattice, in which best paths are known, or null if there is no path.
const Level* Tagger::search(Index length, const TagRequest& request, Workspace& w, Index& position) const {
  Cascade& cascade = *w.cascade;
  cascade.begin(length);
  for (Index t = 0; t < length; ++t) {
    if (cascade.token(score_token(t, w), request.allowed ? request.allowed[t] : Allowed{})) continue;
    cascade.pruned = false;  // nothing to be had by pruning less
    position = t;
    return nullptr;
  }
  cascade.close();
  return climb(request.k > 1 ? filter_ngrams() : ngrams_, w, position);
}

// Builds the levels of the cascade, once it has candidates.
const Level* Tagger::climb(const NgramTable& ngrams, Workspace& w, Index& position) const {
  Cascade& cascade = *w.cascade;
  for (Index n = 1;; ++n) {
    const Level& level = cascade.build(n, ngrams);
    const lattice::BestPath& best = cascade.find_best(level);
    if (best.score == kNever<double>) {
      position = std::min(best.reached, cascade.length()) - 1;
      return nullptr;
    }
    if (n == order_) return &level;
    const float states = cascade.thresholds.states[n], edges = cascade.thresholds.edges[n];
    if (states > 0 || edges > 0) cascade.sums.find(level, edges > 0);
    cascade.prune(n, states, edges);
  }
}

void Tagger::write_paths(const Level& level, const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  const Cascade& cascade = *w.cascade;
  if (request.k > 1) {
    answer.found = find_best_paths(level, cascade.paths, request.k, answer.labels, answer.scores);
    return;
  }
  answer.found = 1;
  answer.scores[0] = cascade.best.score;
  trace_labels(level, cascade.paths, cascade.best, answer.labels);
}

// Whether the lattice has most of what is better than the last answer: otherwise too much would have to be followed.
bool Tagger::is_wide_enough(const TagAnswer& answer, Workspace& w) const {
  const Thresholds& thresholds = w.cascade->thresholds;
  const float most = *std::max_element(thresholds.states, thresholds.states + order_);
  return answer.scores[0] - answer.scores[answer.found - 1] <= kFurtherDown - std::log(static_cast<double>(most));
}

// Bounds what the cascade has dropped, and searches where that may be better than what was found. Answers are then the
// best of all sequences; where there would be too much to look at, the cascade is built again and drops less.
void Tagger::prove(const TagRequest& request, float pruning, const Stopwatch& watch, TagAnswer& answer,
                   Workspace& w) const {
  Cascade& cascade = *w.cascade;
  answer.bound = -kNever<double>;
  for (Index turn = 0;; ++turn) {
    double limit = kNever<double>;
    if (answer.found == request.k) {
      const double last = answer.scores[answer.found - 1];
      limit = last + kScoreRounding * (1 + std::abs(last));
    }
    const double outside =
        w.detours.find(cascade, ngrams_, order_, limit, request.k, request.allowed, {w.units.data(), w.stride});
    if (!w.detours.found.empty()) merge(w.detours.found, cascade.length(), request, answer);
    answer.bound = std::min(answer.bound, std::max(outside, answer.scores[0]));
    answer.optimal = outside <= (request.k == 1 ? std::max(limit, answer.scores[0]) : limit);
    if (w.detours.has_searched()) ++answer.rounds;
    const bool is_last = request.k > 1 && cascade.limited;  // to prune less would not give more states
    if (answer.optimal || pruning == 0 || turn == kMostTurns || is_last) return;
    if (watch.elapsed() >= request.seconds) answer.stopped = Limit::seconds;
    else if (answer.rounds >= request.max_rounds) answer.stopped = Limit::rounds;
    if (answer.stopped != Limit::none) return;
    ++answer.rounds;
    pruning *= kLess;
    if (request.k > 1) prune_by(std::sqrt(pruning), pruning, w, kListEdges * pruning);
    else prune_by(pruning, pruning, w);
    Index position = -1;
    const Level* const level = search(cascade.length(), request, w, position);
    if (!level) return;
    if (request.k == 1 && !(cascade.best.score > answer.scores[0])) continue;
    std::fill_n(answer.labels, request.k * cascade.length(), Label{-1});
    write_paths(*level, request, answer, w);
  }
}

// Puts better sequences among the answers, the best first.
void Tagger::merge(const std::vector<Detours::Found>& better, Index length, const TagRequest& request,
                   TagAnswer& answer) const {
  std::vector<Detours::Found> all(better);
  for (Index n = 0; n < answer.found; ++n)
    all.push_back({answer.scores[n], {answer.labels + n * length, answer.labels + (n + 1) * length}});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  answer.found = std::min(request.k, static_cast<Index>(all.size()));
  for (Index n = 0; n < answer.found; ++n) {
    answer.scores[n] = all[n].score;
    std::copy(all[n].labels.begin(), all[n].labels.end(), answer.labels + n * length);
  }
}

// Replaces the scores of answers by sums in double precision, and the bound by one of those.
void Tagger::add_up_scores(const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  const Index T = w.cascade->length();
  for (Index n = 0; n < answer.found; ++n)
    answer.scores[n] = w.sequence_scores.add_up(*w.cascade, ngrams_, order_, answer.labels + n * T,
                                                [&](Index t) { return w.kept_units(t - 1); });
  if (!std::is_sorted(answer.scores, answer.scores + answer.found, std::greater<>())) merge({}, T, request, answer);
  if (answer.optimal) answer.bound = answer.scores[0];
  else answer.bound = std::max(answer.bound + kScoreRounding * (1 + std::abs(answer.bound)), answer.scores[0]);
}

void Tagger::tag_cascade(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer,
                         Workspace& w) const {
  const Stopwatch watch;
  Cascade& cascade = *w.cascade;
  const Index T = sentence.length;
  find_rows(sentence, w);
  cascade.legal = request.legal, cascade.several = request.k > 1;
  cascade.bounds = request.prove ? &*bounds_ : nullptr;
  cascade.group_bounds = request.prove ? &*group_bounds_ : nullptr;
  const Level* level = nullptr;
  float pruning = request.prove && request.k > 1 ? std::min(1.0f, kFewAnswers / static_cast<float>(request.k)) : 1;
  for (;;) {
    const bool more = request.prove && request.k == 1;
    // Several sequences need more states sooner than more labels.
    const float labels = more ? pruning * kMoreLabels[order_ - 1] : request.k > 1 ? std::sqrt(pruning) : pruning;
    const float edges = request.prove && request.k > 1 ? kListEdges * pruning : 0;
    prune_by(labels, request.prove ? pruning * (more ? kMoreStates : 1) : 1, w, edges);
    level = search(T, request, w, answer.position);
    if (level) write_paths(*level, request, answer, w), ++answer.rounds;
    if ((level && !request.prove) || !cascade.pruned) break;
    // A lattice with more labels may have no legal path where one with fewer has.
    if (level && answer.found == request.k && (request.k == 1 || is_wide_enough(answer, w))) break;
    if (pruning == 0 || (level && cascade.limited)) break;  // to prune less would not help
    pruning *= answer.found == request.k ? kLess : kMuchLess;
    if (pruning < kLeastPruning && answer.found == request.k) break;  // to prune nothing may take very long
    if (pruning < kLeastPruning) pruning = 0;
    if (level && pruning == 0 && cascade.is_too_much(T * tagset_.labels * tagset_.labels)) break;
  }
  if (!level) return;
  answer.position = -1;
  answer.optimal = !cascade.pruned;
  answer.bound = -kNever<double>;
  const Index searches = answer.rounds;
  if (request.prove && cascade.pruned) prove(request, pruning, watch, answer, w);
  add_up_scores(request, answer, w);
  if (!request.confidence) return;
  if (answer.rounds > searches || (request.prove && cascade.pruned)) level = search_with(answer, request, w);
  find_confidence(*level, request, answer, w);
}

void Tagger::find_confidence(const Level& level, const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  lattice::Sums& sums = w.cascade->sums;
  sums.find(level, false, true);
  answer.log_partition = sums.log_partition;
  answer.rounding = bound_rounding(w.cascade->length(), w);
  for (Index t = 0; t < w.cascade->length(); ++t) {
    double p = 0;
    for (std::uint32_t s = level.begin[t + 1]; s < level.begin[t + 2]; ++s)
      if (level.label[s] == answer.labels[t]) p += sums.probability[s];
    answer.confidence[t] = static_cast<float>(p);
  }
  if (!w.cascade->pruned) answer.log_partition_bound = answer.log_partition;
  else if (request.prove)  // above log_partition also where what was dropped is lost in rounding
    answer.log_partition_bound = std::max((Logarithm{answer.log_partition} + Logarithm{bound_mass(request, w)}).log,
                                          std::nextafter(answer.log_partition, -kNever<double>));
}

// The logarithm of what all dropped sequences sum up to, at most.
double Tagger::bound_mass(const TagRequest& request, Workspace& w) const {
  w.rests.find(*w.cascade, prepare_rests(), request.allowed, {w.units.data(), w.stride});
  return w.onward.find_mass(*w.cascade, ngrams_, order_, w.rests);
}

// Builds the cascade such that it has all answers, and more of what it would drop.
const Level* Tagger::search_with(const TagAnswer& answer, const TagRequest& request, Workspace& w) const {
  Cascade& cascade = *w.cascade;
  const Index T = cascade.length();
  Index position = -1;
  prune_by(kWideLabels[order_ - 1], 0, w, kWideEdges);
  cascade.begin(T);
  cascade.bounds_rest = false;
  for (Index t = 0; t < T; ++t) cascade.token(w.kept_units(t), request.allowed ? request.allowed[t] : Allowed{});
  cascade.bounds_rest = true;
  cascade.close();
  w.taken.clear();
  for (Index t = 0; t < T; ++t) {
    std::vector<Label> missing;
    missing.reserve(answer.found);
    for (Index n = 0; n < answer.found; ++n) missing.push_back(answer.labels[n * T + t]);
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    std::erase_if(missing, [&](Label y) { return cascade.has_candidate(t + 1, y); });
    for (const Label y : missing) w.taken.push_back({t + 1, y, tagset_.score(y, w.kept_units(t))});
  }
  cascade.add_candidates(w.taken);
  cascade.paths_to_keep = {answer.labels, static_cast<std::size_t>(answer.found * T)};
  const Level* const level = climb(filter_ngrams(), w, position);
  cascade.paths_to_keep = {};
  return level;
}

}  // namespace certus::scoring
