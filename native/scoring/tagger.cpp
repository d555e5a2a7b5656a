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

constexpr Index kMostRounds = 6;
// Edges of lattices of what may be better, of order 1 and of higher ones.
constexpr Index kFewPairs = 1024, kPairsPerToken = 64;
constexpr std::size_t kFewEdges = std::size_t{1} << 14, kEdgesPerToken = 128;
constexpr double kRounding = 1e-6;  // of scores, which are sums in single precision
constexpr Index kTakenBack = 8;     // labels per position that become candidates where many may be better
// Where the first bound is seldom enough: orders, and numbers of coarse tags. There, labels are named that come this
// close to what may be better.
constexpr Index kHighOrder = 3, kManyGroups = 32;
constexpr double kMargin = 1;
constexpr int kPasses = 3;       // in which bounds get closer
constexpr double kLittle = 0.1;  // of what a bound is too high: not worth another pass
constexpr float kLess = 0.1f;    // by how much less is pruned in the next round

// Edges of the lattice of order 1 that has all sequences of these labels.
Index count_pairs(const Cascade& cascade, const std::vector<std::uint8_t>& states,
                  const std::vector<Cascade::Taken>& labels) {
  const Level& one = cascade.level(1);
  std::vector<Index> count(cascade.length() + 2);
  for (Index t = 0; t < cascade.length() + 2; ++t)
    for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s) count[t] += states[s];
  for (const Cascade::Taken& label : labels) ++count[label.position];
  Index pairs = 0;
  for (Index t = 1; t < cascade.length() + 2; ++t) pairs += count[t - 1] * count[t];
  return pairs;
}

double add_logs(double x, double y) {
  const double most = std::max(x, y);
  return most == kNever<double> ? most : most + std::log1p(std::exp(std::min(x, y) - most));
}

// Of labels of a coarse tag, by place, the logarithms of sums, rounded up.
RestScore add_up_labels(const float* scores, const NgramBounds& bounds, Index t, Index group) {
  double own = kNever<double>, ending = own, around = own;
  for (Index i = bounds.begin(group); i < bounds.begin(group + 1); ++i) {
    if (bounds.at(i) < 0 || scores[i] == kNever<float>) continue;
    const double score = static_cast<double>(scores[i]);
    own = add_logs(own, score);
    ending = add_logs(ending, score + static_cast<double>(bounds.ending(t)[i]));
    around = add_logs(around, score + static_cast<double>(bounds.around(t)[i]));
  }
  const auto round_up = [](double x) {
    return x == kNever<double> ? kNever<float> : static_cast<float>(x + kRounding * (1 + std::abs(x)));
  };
  return {round_up(own), round_up(ending), round_up(around)};
}

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
  group_bounds_.emplace(tagset_, *bounds_);
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
  answer.log_partition = answer.log_partition_bound = marginals(*chain_, scores, w.marginals.data()).log_partition;
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
    if (cascade.thresholds.states[n] > 0) cascade.sums.find(level, false);
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

// Bounds what the cascade has dropped; where that may be better than what was found, searches among what may be better
// alone. Answers are then the best of all sequences, unless there would be too many of those.
void Tagger::prove(const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  answer.bound = -kNever<double>;
  for (float less = 1; answer.rounds <= kMostRounds; less *= kLess) {
    const double last = answer.found < request.k ? kNever<double> : answer.scores[answer.found - 1];
    const double rounding = last == kNever<double> ? 0 : kRounding * (1 + std::abs(last));
    const double outside = bound_outside(last + rounding, request, w);
    answer.bound = std::min(answer.bound, std::max(outside, answer.scores[0]));
    answer.optimal = outside == kNever<double> || outside <= last + rounding;
    if (!answer.optimal && last != kNever<double>) {
      w.outside.find_backward(last + rounding);
      list_alive(answer, w);
      ++answer.rounds;
      answer.optimal = search_alive(last - rounding, less, request, answer, w);
    }
    if (answer.optimal) answer.bound = answer.scores[0];
    if (answer.optimal || last == kNever<double>) return;
  }
}

// Searches among what may be better than the answers: true if that is done, and these are the best.
bool Tagger::search_alive(double least, float less, const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  Cascade& cascade = *w.cascade;
  const bool few = count_pairs(cascade, w.alive, w.taken) <= kFewPairs + kPairsPerToken * cascade.length();
  w.outside.take_back(few ? static_cast<Index>(w.taken.size()) : kTakenBack, w.taken);
  cascade.restrict_candidates(w.alive, w.taken);
  Index position = -1;
  const Level* level = few ? climb_alive(least, w) : nullptr;
  const bool done = level != nullptr;
  if (!done) {
    prune_by(1, less, w);
    level = climb(w, position);
  }
  if (done || (level && request.k == 1 && cascade.best.score > answer.scores[0]))
    write_paths(*level, request, answer, w);
  return done;
}

// Builds the levels of the cascade with all states that may be part of a sequence with at least that score; null if
// they are many.
const Level* Tagger::climb_alive(double least, Workspace& w) const {
  Cascade& cascade = *w.cascade;
  const std::size_t most = kFewEdges + kEdgesPerToken * static_cast<std::size_t>(cascade.length());
  for (Index n = 1;; ++n) {
    const Level& level = cascade.build(n, ngrams_);
    if (n == 1) w.outside.begin(cascade, ngrams_, order_, cascade.paths.best);
    if (n == order_) {
      cascade.find_best(level);
      return &level;
    }
    w.outside.drop_states(n, least, w.alive);
    if (cascade.keep_states(n, w.alive) <= most) continue;
    w.alive.assign(cascade.level(1).size(), 1);
    cascade.restrict_candidates(w.alive, {});
    return nullptr;
  }
}

// The largest score that a dropped sequence may have, looked at as closely as it takes for that not to be above a
// limit.
double Tagger::bound_outside(double limit, const TagRequest& request, Workspace& w) const {
  Outside& outside = w.outside;
  outside.begin(*w.cascade, ngrams_, order_, w.cascade->paths.best);
  const auto score = [&](Index t) {
    score_token(t - 1, w);
    return w.units.data();
  };
  const bool limited = limit != kNever<double>;
  double bound = -kNever<double>;
  if (!limited || (order_ < kHighOrder && bounds_->groups() < kManyGroups)) bound = outside.find_forward();
  if (limited && bound > limit) {
    outside.name_labels(limit, order_ < kHighOrder ? 0 : kMargin, request.allowed, score);
    bound = outside.find_forward();
  }
  for (int pass = 0; pass < kPasses && bound > limit && limited; ++pass) {
    outside.find_backward(limit);
    if (pass > 0) outside.look_closer();
    else outside.score_labels(request.allowed, score);
    const double before = bound;
    bound = outside.find_forward();
    if (pass > 0 && before - bound < kLittle * (before - limit)) break;
  }
  return bound;
}

// What may be better than the answers, and the labels of these.
void Tagger::list_alive(const TagAnswer& answer, Workspace& w) const {
  const Level& one = w.cascade->level(1);
  const Index T = w.cascade->length();
  w.alive.assign(one.size(), 0);
  w.alive.front() = w.alive.back() = 1;
  for (Index t = 1; t <= T; ++t)
    for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s)
      for (Index n = 0; n < answer.found && !w.alive[s]; ++n) w.alive[s] = one.label[s] == answer.labels[n * T + t - 1];
  w.outside.find_alive(w.alive, w.taken);
}

void Tagger::tag_cascade(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer,
                         Workspace& w) const {
  Cascade& cascade = *w.cascade;
  const Index T = sentence.length;
  find_rows(sentence, w);
  cascade.legal = request.legal;
  cascade.bounds = request.prove ? &*bounds_ : nullptr;
  cascade.group_bounds = request.prove ? &*group_bounds_ : nullptr;
  const Level* level = nullptr;
  for (const float factor : kThresholds) {
    if (answer.found && factor == 0 && cascade.is_too_much(T * tagset_.labels * tagset_.labels)) break;
    prune_by(factor, factor == 1 || request.prove ? factor : 1, w);
    level = search(T, request, w, answer.position);
    if (level) write_paths(*level, request, answer, w), ++answer.rounds;
    if (answer.found == request.k || (level && !request.prove) || !cascade.pruned) break;
  }
  if (!level) return;
  answer.position = -1;
  answer.optimal = !cascade.pruned;
  answer.bound = answer.optimal ? answer.scores[0] : -kNever<double>;
  const Index searches = answer.rounds;
  if (request.prove && cascade.pruned) prove(request, answer, w);
  if (!request.confidence) return;
  if (answer.rounds > searches || (request.prove && cascade.pruned)) level = search_with(answer, request, w);
  find_confidence(*level, request, answer, w);
}

void Tagger::find_confidence(const Level& level, const TagRequest& request, TagAnswer& answer, Workspace& w) const {
  lattice::Sums& sums = w.cascade->sums;
  sums.find(level, false);
  answer.log_partition = sums.log_partition;
  for (Index t = 0; t < w.cascade->length(); ++t) {
    double p = 0;
    for (std::uint32_t s = level.begin[t + 1]; s < level.begin[t + 2]; ++s)
      if (level.label[s] == answer.labels[t]) p += sums.probability[s];
    answer.confidence[t] = static_cast<float>(p);
  }
  if (!w.cascade->pruned) answer.log_partition_bound = answer.log_partition;
  else if (request.prove) answer.log_partition_bound = add_logs(answer.log_partition, bound_mass(level, request, w));
}

// The logarithm of what all dropped sequences sum up to, at most.
double Tagger::bound_mass(const Level& level, const TagRequest& request, Workspace& w) const {
  Cascade& cascade = *w.cascade;
  const NgramBounds& bounds = *bounds_;
  w.scores.resize(bounds.places());
  for (Index t = 1; t <= cascade.length(); ++t) {
    score_token(t - 1, w);
    for (Index g = 0; g < bounds.groups(); ++g) {
      cascade.score_dropped(t, g, w.units.data(), request.allowed ? request.allowed[t - 1] : Allowed{},
                            w.scores.data());
      cascade.rest(t)[g] = add_up_labels(w.scores.data(), bounds, t, g);
    }
  }
  std::vector<double> paths(level.size(), kNever<double>);
  paths[0] = 0;
  for (std::uint32_t s = 1; s < level.size(); ++s) {
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
      paths[s] = add_logs(paths[s], paths[r] + static_cast<double>(level.edge[e]));
    paths[s] += level.node[s];
  }
  w.outside.begin(cascade, ngrams_, order_, paths);
  return w.outside.find_mass(paths);
}

// Builds the cascade such that it has all answers, and more of what it would drop.
const Level* Tagger::search_with(const TagAnswer& answer, const TagRequest& request, Workspace& w) const {
  Cascade& cascade = *w.cascade;
  const Index T = cascade.length();
  Index position = -1;
  prune_by(kLess, kLess, w);
  cascade.begin(T);
  for (Index t = 0; t < T; ++t) {
    score_token(t, w);
    cascade.token(w.units.data(), request.allowed ? request.allowed[t] : Allowed{});
  }
  cascade.close();
  w.taken.clear();
  for (Index t = 0; t < T; ++t) {
    std::vector<Label> missing;
    missing.reserve(answer.found);
    for (Index n = 0; n < answer.found; ++n) missing.push_back(answer.labels[n * T + t]);
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    std::erase_if(missing, [&](Label y) { return cascade.has_candidate(t + 1, y); });
    if (!missing.empty()) score_token(t, w);
    for (const Label y : missing) w.taken.push_back({t + 1, y, tagset_.score(y, w.units.data()), 0});
  }
  cascade.add_candidates(w.taken);
  cascade.paths_to_keep = {answer.labels, static_cast<std::size_t>(answer.found * T)};
  const Level* const level = climb(w, position);
  cascade.paths_to_keep = {};
  return level;
}

}  // namespace certus::scoring
