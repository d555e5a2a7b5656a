#include "learn/crf/objective.hpp"

#include <barrier>

#include "base/arena.hpp"
#include "base/exponential.hpp"
#include "base/parallel.hpp"

namespace certus::learn {
namespace {

inline constexpr Index kBlockBytes = Index{3}
                                     << 19;  // of what is held of each token: they stay in the second-level cache
inline constexpr Index kBlockTokens = 256;   // or at least this many tokens

// gradient += 2 c2 w; returns c2 |w|^2.
CERTUS_CLONES double regularise(const double* w, double c2, Index n, double* gradient) {
  Vec sum = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec x = load(w + i);
    store(gradient + i, load(gradient + i) + 2 * c2 * x);
    sum += x * x;
  }
  double total = add_lanes(sum);
  for (; i < n; ++i) gradient[i] += 2 * c2 * w[i], total += w[i] * w[i];
  return c2 * total;
}

// r[t][state] -= p[t][k] for the states of the gold labels.
void subtract_gold(Index T, const Label* gold, Index latent, const double* p, Index width, double* r) {
  for (Index t = 0; t < T; ++t)
    for (Index k = 0; k < latent; ++k) r[t * width + gold[t] * latent + k] -= p[t * latent + k];
}

// sum[n] += sum over the tokens of q[token][n], for n in [first, last).
CERTUS_CLONES void sum_steps(const double* q, Index tokens, Index size, Index first, Index last, double* sum) {
  for (Index t = 0; t < tokens; ++t)
    for (Index n = first; n < last; n += kLanes) store(sum + n, load(sum + n) + load(q + t * size + n));
}

}  // namespace

CrfObjective::CrfObjective(const CrfData& data, double c2, Index threads) : data_(data), c2_(c2), threads_(threads) {
  gold_pairs_.assign(links_.labels * links_.width, 0.0);
  gold_ranged_.assign(loss_.size(), 1);
  const bool known = data.latent == 1 && !data.pairs;
  for (Index s = 0; known && s < data.input.sentences(); ++s)
    for (Index t = 1; t < data.input.length(s); ++t)
      gold_pairs_[data.labels(s)[t - 1] * links_.width + data.labels(s)[t]] += 1;
  cut();
}

void CrfObjective::cut() {
  const Index W = links_.width, sentences = data_.input.sentences();
  const Index step = !data_.pairs ? 0 : shared() ? data_.pairs->count * (W + data_.pairs->width) : links_.labels * W;
  const Index most = std::max(kBlockTokens, kBlockBytes / (8 * (3 * W + step)));
  std::vector<std::uint32_t> count(data_.layout.features() * 2, 0);
  std::vector<std::uint32_t> count_pairs(data_.pairs ? data_.pairs->layout.features() * 2 : 0, 0);
  Index largest = 0;
  for (Index s = 0; s < sentences;) {
    auto block = std::make_unique<Block>();
    block->first = s;
    block->token = data_.input.sentence_begin[s];
    do ++s;
    while (s < sentences && data_.input.sentence_begin[s + 1] - block->token <= most);
    block->last = s;
    const Index end = data_.input.sentence_begin[s];
    largest = std::max(largest, end - block->token);
    block->places.emplace(data_.layout, data_.input, block->token, end, count);
    if (data_.pairs)
      block->pair_places.emplace(data_.pairs->layout, data_.pairs->input, block->token, end, count_pairs);
    blocks_.push_back(std::move(block));
  }
  for (Doubles* x : {&a_, &b_, &r_}) x->resize(largest * W);
  if (shared()) {
    z_.resize(largest * data_.pairs->count * W);
    step_pairs_.resize(largest * data_.pairs->layout.width());
  } else {
    step_pairs_.resize(largest * step);
  }
  if (data_.latent > 1 || data_.pairs)
    for (Doubles* x : {&gold_a_, &gold_b_, &gold_p_}) x->resize(largest * data_.latent);
}

void CrfObjective::sum_sentences(Block& block, const double* w, Heed& heed) {
  const Index W = links_.width;
  for (Index s; (s = block.first + block.next_sentence.fetch_add(1)) < block.last;) {
    heed((data_.input.length(s) + 1) * links_.labels * W);
    const Index token = data_.input.sentence_begin[s] - block.token;
    data_.score(w, s, r_.data() + token * W);
    loss_[s] = shared()           ? sum_factored(s, token, w)
               : data_.pairs      ? sum_pairs(s, token, w)
               : data_.latent > 1 ? sum_latent(s, token)
                                  : sum_plain(s, token);
  }
}

// The loss of a sentence whose first token is the given one of its block, and whose scores are in r.
double CrfObjective::sum_plain(Index s, Index token) {
  const Index at = token * links_.width;
  bool ranged = true;
  const double loss = crf_sum(links_.steps(), data_.input.length(s), data_.labels(s), a_.data() + at, b_.data() + at,
                              r_.data() + at, &ranged);
  ranged_[s] = ranged;
  return loss;
}

// The same where labels have latent states.
double CrfObjective::sum_latent(Index s, Index token) {
  const Index W = links_.width, m = data_.latent, T = data_.input.length(s);
  const Label* gold = data_.labels(s);
  double *r = r_.data() + token * W, *p = gold_p_.data() + token * m;
  bool ranged = true, gold_ranged = true;
  const double given = crf_gold_sum(links_.steps(), m, T, gold, r, gold_a_.data() + token * m,
                                    gold_b_.data() + token * m, p, &gold_ranged);
  const double all = crf_sum(links_.steps(), T, nullptr, a_.data() + token * W, b_.data() + token * W, r, &ranged);
  subtract_gold(T, gold, m, p, W, r);
  ranged_[s] = ranged, gold_ranged_[s] = gold_ranged;
  return all - given;
}

// The same where features of pairs make every step another; the pairs of each step are kept.
double CrfObjective::sum_pairs(Index s, Index token, const double* w) {
  const Index W = links_.width, m = data_.latent, T = data_.input.length(s), size = links_.labels * W;
  if (T == 0) return 0;
  const Label* gold = data_.labels(s);
  double *r = r_.data() + token * W, *p = gold_p_.data() + token * m, *q = step_pairs_.data() + token * size;
  double *a = a_.data() + token * W, *b = b_.data() + token * W;
  double *gold_a = gold_a_.data() + token * m, *gold_b = gold_b_.data() + token * m;
  const LocalArena arena;
  double* scores = arena.get<double>((T - 1) * size);
  data_.score_steps(w, s, scores);
  const CrfSteps steps = crf_steps(scores, r, T, links_.labels, W);
  if (!(steps.range <= kRange)) return sum_steps_in_log_space(s, steps, r, q);
  bool ranged = true;  // crf_steps has seen to it
  const double given = crf_gold_sum(steps, m, T, gold, r, gold_a, gold_b, p, &ranged);
  const double all = crf_sum(steps, T, nullptr, a, b, r, &ranged);
  crf_step_pairs(steps, T, a, b, q);
  crf_take_gold_pairs(steps, m, T, gold, gold_a, gold_b, q);
  subtract_gold(T, gold, m, p, W, r);
  return all - given;
}

// The same where all states of a label share what the features of pairs score: a factor for each two labels.
double CrfObjective::sum_factored(Index s, Index token, const double* w) {
  const CrfPairs& pairs = *data_.pairs;
  const Index W = links_.width, m = data_.latent, T = data_.input.length(s), L = pairs.count,
              size = pairs.layout.width();
  if (T == 0) return 0;
  const Label* gold = data_.labels(s);
  double *r = r_.data() + token * W, *p = gold_p_.data() + token * m, *q = step_pairs_.data() + token * size;
  double *a = a_.data() + token * W, *z = z_.data() + token * L * W;
  double *gold_a = gold_a_.data() + token * m, *gold_b = gold_b_.data() + token * m;
  const LocalArena arena;
  double* factor = arena.get<double>((T - 1) * L * W);
  double gold_score = 0;
  const CrfFactors factors = data_.factors(w, s, factor, &gold_score);
  bool gold_ranged = true;  // where the others are
  const double given = gold_score + crf_gold_sum(links_.steps(), m, T, gold, r, gold_a, gold_b, p, &gold_ranged);
  double all = 0;
  ranged_[s] = crf_factored_sum(links_.steps(), factors, T, a, z, r, q, pairs.width, &all);
  if (!ranged_[s]) {
    std::fill_n(a, T * W, 0.0);
    std::fill_n(z, T * L * W, 0.0);
    for (double* x : {gold_a, gold_b}) std::fill_n(x, T * m, 0.0);
    return sum_factored_in_log_space(s, w, r, q, nullptr);
  }
  for (Index t = 1; t < T; ++t) q[t * size + gold[t - 1] * pairs.width + gold[t]] -= 1;
  subtract_gold(T, gold, m, p, W, r);
  return all - given;
}

// The same in log space: r [T][width] are scores, and then what the gradient of the states' weights wants; pairs
// [T][states][width] are those of each step.
double CrfObjective::sum_steps_in_log_space(Index s, const CrfSteps& steps, double* r, double* pairs) const {
  const Index m = data_.latent, T = data_.input.length(s);
  const LocalArena arena;
  double* p = arena.get<double>(T * m);
  std::fill_n(pairs, T * steps.stride, 0.0);
  const double given = crf_gold_log_space(steps, m, T, data_.labels(s), r, p, pairs);
  const double all = crf_log_space(steps, T, nullptr, r, pairs);
  subtract_gold(T, data_.labels(s), m, p, steps.width, r);
  return all - given;
}

// The same where states share what pairs score: of_labels, the pairs of labels at each step, and of_states, the sum of
// those of states, may be null.
double CrfObjective::sum_factored_in_log_space(Index s, const double* w, double* r, double* of_labels,
                                               double* of_states) const {
  const Index W = links_.width, T = data_.input.length(s), size = links_.labels * W;
  const LocalArena arena;
  double *scores = arena.get<double>((T - 1) * size), *pairs = arena.get<double>(T * size);
  data_.score_steps(w, s, scores);
  const CrfSteps steps{links_.labels, W, size, scores, nullptr, nullptr, 0, 2 * kRange};
  const double loss = sum_steps_in_log_space(s, steps, r, pairs);
  for (Index t = 0; of_labels && t < T; ++t)
    data_.share_pairs(pairs + t * size, of_labels + t * data_.pairs->layout.width());
  if (of_states) sum_steps(pairs, T, size, 0, size, of_states);
  return loss;
}

// Units are rows of the gradient, then those of features of pairs, then rows of the expected pairs, then all pairs
// given the gold labels, which are few.
void CrfObjective::collect(Block& block, double* gradient) {
  const Index units = block.places->units(), pair_units = data_.pairs ? block.pair_places->units() : 0;
  const Index L = links_.labels, W = links_.width, tokens = data_.input.sentence_begin[block.last] - block.token;
  const Index share = std::max<Index>(8, (L / 16 + 3) / 4 * 4);  // rows of pairs in a unit: whole tiles of four
  const Index shares = (L + share - 1) / share, gold = data_.latent > 1 && (!data_.pairs || shared());
  for (Index n; (n = block.next_unit.fetch_add(1)) < units + pair_units + shares + gold;) {
    const Index i = (n - units - pair_units) * share, end = std::min(L, i + share);
    if (n < units) block.places->collect(n, data_.layout, r_.data(), gradient);
    else if (n < units + pair_units)
      block.pair_places->collect(n - units, data_.pairs->layout, step_pairs_.data(), gradient + data_.layout.size());
    else if (n == units + pair_units + shares)
      crf_gold_pairs(gold_a_.data(), gold_b_.data(), data_.gold.data() + block.token, tokens, data_.latent, W,
                     latent_pairs_.data());
    else if (shared()) collect_factored(i, end, tokens);
    else if (data_.pairs) sum_steps(step_pairs_.data(), tokens, L * W, i * W, end * W, whole_pairs_.data());
    else crf_pairs(a_.data(), b_.data(), tokens, W, W, i, end, pairs_.data());
  }
}

// The expected pairs of the states [first, last), which may begin and end within those of a label.
void CrfObjective::collect_factored(Index first, Index last, Index tokens) {
  const Index W = links_.width, m = data_.latent, L = data_.pairs->count;
  for (Index y = first / m; y * m < last; ++y)
    crf_pairs(a_.data(), z_.data() + y * W, tokens, W, L * W, std::max(first, y * m), std::min(last, (y + 1) * m),
              pairs_.data());
}

// The pairs of sentences that span too much.
void CrfObjective::redo(const Block& block, const double* w) {
  for (Index s = block.first; s < block.last && (!data_.pairs || shared()); ++s) {
    if (data_.input.length(s) == 0 || (ranged_[s] && gold_ranged_[s])) continue;
    const LocalArena arena;
    double* scores = arena.get<double>(data_.input.length(s) * links_.width);
    data_.score(w, s, scores);
    if (shared()) {
      sum_factored_in_log_space(s, w, scores, nullptr, whole_pairs_.data());
      continue;
    }
    if (!gold_ranged_[s])
      crf_gold_log_space(links_.steps(), data_.latent, data_.input.length(s), data_.labels(s), scores, nullptr,
                         whole_pairs_.data());
    if (!ranged_[s]) crf_log_space(links_.steps(), data_.input.length(s), nullptr, scores, whole_pairs_.data());
  }
}

template <class Wait>
void CrfObjective::work(const double* w, double* gradient, const Wait& wait) {
  Heed heed;
  for (const auto& block : blocks_) {
    sum_sentences(*block, w, heed);
    wait();
    collect(*block, gradient);
    wait();
  }
}

// This thread asks whether to stop, while the others work. One that stops no longer counts where they meet.
void CrfObjective::work_together(const double* w, double* gradient) {
  std::barrier<> gate(threads_);
  Group group;
  const auto run = [&] {
    try {
      work(w, gradient, [&] { gate.arrive_and_wait(); });
    } catch (...) {
      gate.arrive_and_drop();
      throw;
    }
  };
  Index started = 0;
  while (started < threads_ && group.start(run)) ++started;
  for (Index n = std::max<Index>(started, 1); n < threads_; ++n) gate.arrive_and_drop();  // the machine has no more
  if (started == 0) group.attempt(run);
  group.wait();
}

double CrfObjective::operator()(const double* w, double* gradient) {
  const CrfLayout& layout = data_.layout;
  std::fill_n(gradient, data_.size(), 0.0);
  pairs_.assign(links_.labels * links_.width, 0.0);
  whole_pairs_.assign(links_.labels * links_.width, 0.0);
  latent_pairs_.assign(links_.labels * links_.width, 0.0);
  links_.set(w + layout.transitions());
  for (const auto& block : blocks_) block->next_sentence = 0, block->next_unit = 0;
  if (threads_ == 1) {
    work(w, gradient, [] {});
  } else {
    work_together(w, gradient);
  }
  for (const auto& block : blocks_) redo(*block, w);
  for (std::size_t n = 0; n < pairs_.size(); ++n)
    gradient[layout.transitions() + static_cast<Index>(n)] =
        (links_.range <= kRange ? (pairs_[n] - latent_pairs_[n]) * links_.link[n] : 0.0) + whole_pairs_[n] -
        gold_pairs_[n];
  data_.clear_holes(gradient);
  double loss = 0;
  for (const double x : loss_) loss += x;
  return loss + regularise(w, c2_, data_.size(), gradient);
}

}  // namespace certus::learn
