#include "learn/crf_objective.hpp"

#include <barrier>
#include <system_error>
#include <thread>

#include "arena.hpp"

namespace certus {
namespace {

inline constexpr Index kBlockBytes = Index{3} << 19;  // of a, b and r together: they stay in the second-level cache
inline constexpr Index kBlockTokens = 256;            // or at least this many tokens
inline constexpr Index kUnit = 512;                   // rows that one thread collects at a time

template <int N>
CERTUS_INLINE void collect_tile(const double* r, Index width, const std::uint32_t* at, const double* value, Index count,
                                double* gradient) {
  Vec sum[N] = {};
  for (Index n = 0; n < count; ++n) {
    const double* from = r + static_cast<Index>(at[n]) * width;
    if (value)
      for (int k = 0; k < N; ++k) sum[k] += value[n] * load(from + k * kLanes);
    else
      for (int k = 0; k < N; ++k) sum[k] += load(from + k * kLanes);
  }
  for (int k = 0; k < N; ++k) store(gradient + k * kLanes, load(gradient + k * kLanes) + sum[k]);
}

// gradient[width] += sum over the places of value r[token].
CERTUS_CLONES void collect_dense(const double* r, Index width, const std::uint32_t* at, const double* value, Index count,
                                 double* gradient) {
  Index j = 0;
  for (; j + 4 * kLanes <= width; j += 4 * kLanes) collect_tile<4>(r + j, width, at, value, count, gradient + j);
  const Index left = (width - j) / kLanes;
  if (left == 3) collect_tile<3>(r + j, width, at, value, count, gradient + j);
  else if (left == 2) collect_tile<2>(r + j, width, at, value, count, gradient + j);
  else if (left == 1) collect_tile<1>(r + j, width, at, value, count, gradient + j);
}

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

}  // namespace

CrfObjective::CrfObjective(const CrfData& data, double c2, Index threads)
    : data_(data),
      c2_(c2),
      threads_(threads),
      links_(data.layout),
      gold_pairs_(links_.labels * links_.width, 0.0),
      loss_(data.input.sentences()),
      ranged_(data.input.sentences()),
      gold_ranged_(data.input.sentences(), 1) {
  for (Index s = 0; data.latent == 1 && s < data.input.sentences(); ++s)
    for (Index t = 1; t < data.input.length(s); ++t)
      gold_pairs_[data.labels(s)[t - 1] * links_.width + data.labels(s)[t]] += 1;
  cut();
}

void CrfObjective::cut() {
  const Index W = links_.width, sentences = data_.input.sentences();
  const Index most = std::max(kBlockTokens, kBlockBytes / (3 * 8 * W));
  std::vector<std::uint32_t> count(data_.layout.features() * 2, 0);
  Index largest = 0;
  for (Index s = 0; s < sentences;) {
    auto block = std::make_unique<Block>();
    block->first = s;
    block->token = data_.input.sentence_begin[s];
    do ++s;
    while (s < sentences && data_.input.sentence_begin[s + 1] - block->token <= most);
    block->last = s;
    largest = std::max(largest, data_.input.sentence_begin[s] - block->token);
    index(*block, count);
    blocks_.push_back(std::move(block));
  }
  for (Doubles* x : {&a_, &b_, &r_}) x->resize(largest * W);
  if (data_.latent > 1)
    for (Doubles* x : {&gold_a_, &gold_b_, &gold_p_}) x->resize(largest * data_.latent);
}

// Sorts the places of a block by row. `count`, all zeros before and after, has room for every row.
void CrfObjective::index(Block& block, std::vector<std::uint32_t>& count) {
  const CrfInput& input = data_.input;
  const Index tokens = input.sentence_begin[block.last] - block.token, offset = data_.layout.features();
  const auto each = [&](const auto& use) {
    for (Index t = 0; t < tokens; ++t)
      for (Index n = input.begin[block.token + t]; n < input.begin[block.token + t + 1]; ++n)
        use(t, n, input.index[n] + (n < input.middle[block.token + t] ? 0 : offset));
  };
  each([&](Index, Index, Index row) {
    if (count[row]++ == 0) block.row.push_back(row);
  });
  std::sort(block.row.begin(), block.row.end());
  block.begin.push_back(0);
  for (const Index row : block.row) {
    block.begin.push_back(block.begin.back() + count[row]);
    count[row] = static_cast<std::uint32_t>(block.begin[block.begin.size() - 2]);
  }
  block.at.resize(block.begin.back());
  if (!input.value.empty()) block.value.resize(block.begin.back());
  each([&](Index t, Index n, Index row) {
    if (!input.value.empty()) block.value[count[row]] = input.value[n];
    block.at[count[row]++] = static_cast<std::uint32_t>(t);
  });
  for (const Index row : block.row) count[row] = 0;
}

void CrfObjective::sum_sentences(Block& block, const double* w) {
  const Index W = links_.width;
  for (Index s; (s = block.first + block.next_sentence.fetch_add(1)) < block.last;) {
    const Index at = (data_.input.sentence_begin[s] - block.token) * W;
    data_.score(w, s, r_.data() + at);
    if (data_.latent > 1) {
      loss_[s] = sum_latent(s, data_.input.sentence_begin[s] - block.token);
      continue;
    }
    bool ranged = true;
    loss_[s] = crf_sum(links_, data_.input.length(s), data_.labels(s), a_.data() + at, b_.data() + at, r_.data() + at,
                       &ranged);
    ranged_[s] = ranged;
  }
}

// The loss of a sentence whose first token is the given one of its block, and whose scores are in r.
double CrfObjective::sum_latent(Index s, Index token) {
  const Index W = links_.width, m = data_.latent, T = data_.input.length(s);
  const Label* gold = data_.labels(s);
  double *r = r_.data() + token * W, *p = gold_p_.data() + token * m;
  bool ranged = true, gold_ranged = true;
  const double given = crf_gold_sum(links_, m, T, gold, r, gold_a_.data() + token * m, gold_b_.data() + token * m, p,
                                    &gold_ranged);
  const double all = crf_sum(links_, T, nullptr, a_.data() + token * W, b_.data() + token * W, r, &ranged);
  for (Index t = 0; t < T; ++t)
    for (Index k = 0; k < m; ++k) r[t * W + gold[t] * m + k] -= p[t * m + k];
  ranged_[s] = ranged, gold_ranged_[s] = gold_ranged;
  return all - given;
}

void CrfObjective::collect_listed(const Block& block, Index n, double* gradient) const {
  const CrfLayout::Row& row = data_.layout.row(block.row[n] - data_.layout.features());
  const Label* label = data_.layout.listed(row);
  double* into = gradient + row.begin;
  for (Index p = block.begin[n]; p < block.begin[n + 1]; ++p) {
    const double* from = r_.data() + static_cast<Index>(block.at[p]) * links_.width;
    const double x = block.value.empty() ? 1.0 : block.value[p];
    for (Label k = 0; k < row.count; ++k) into[k] += x * from[label[k]];
  }
}

void CrfObjective::collect_rows(const Block& block, Index first, Index last, double* gradient) const {
  const Index W = links_.width, features = data_.layout.features();
  for (Index n = first; n < last; ++n) {
    const Index begin = block.begin[n], count = block.begin[n + 1] - begin;
    const double* value = block.value.empty() ? nullptr : block.value.data() + begin;
    if (block.row[n] >= features) collect_listed(block, n, gradient);
    else collect_dense(r_.data(), W, block.at.data() + begin, value, count, gradient + block.row[n] * W);
  }
}

// Units are rows of the gradient, then rows of the expected pairs, then all pairs given the gold labels, which are few.
void CrfObjective::collect(Block& block, double* gradient) {
  const Index rows = static_cast<Index>(block.row.size()), units = (rows + kUnit - 1) / kUnit;
  const Index L = links_.labels, tokens = data_.input.sentence_begin[block.last] - block.token;
  const Index share = std::max<Index>(8, (L / 16 + 3) / 4 * 4);  // rows of pairs in a unit: whole tiles of four
  const Index all = units + (L + share - 1) / share;
  for (Index n; (n = block.next_unit.fetch_add(1)) < all + (data_.latent > 1);) {
    const Index i = (n - units) * share;
    if (n == all)
      crf_gold_pairs(gold_a_.data(), gold_b_.data(), data_.gold.data() + block.token, tokens, data_.latent, links_.width,
                     latent_pairs_.data());
    else if (n < units) collect_rows(block, n * kUnit, std::min(rows, (n + 1) * kUnit), gradient);
    else crf_pairs(a_.data(), b_.data(), tokens, links_.width, i, std::min(L, i + share), pairs_.data());
  }
}

// The pairs of sentences that span too much.
void CrfObjective::redo(const Block& block, const double* w) {
  for (Index s = block.first; s < block.last; ++s) {
    if (ranged_[s] && gold_ranged_[s]) continue;
    Arena& arena = Arena::local();
    const Arena::Scope scope(arena);
    double* scores = arena.get<double>(data_.input.length(s) * links_.width);
    data_.score(w, s, scores);
    if (!gold_ranged_[s])
      crf_gold_log_space(links_, data_.latent, data_.input.length(s), data_.labels(s), scores, nullptr,
                         whole_pairs_.data());
    if (!ranged_[s]) crf_log_space(links_, data_.input.length(s), nullptr, scores, whole_pairs_.data());
  }
}

template <class Wait>
void CrfObjective::work(const double* w, double* gradient, const Wait& wait) {
  for (const auto& block : blocks_) {
    sum_sentences(*block, w);
    wait();
    collect(*block, gradient);
    wait();
  }
}

double CrfObjective::operator()(const double* w, double* gradient) {
  const CrfLayout& layout = data_.layout;
  std::fill_n(gradient, layout.size(), 0.0);
  pairs_.assign(links_.labels * links_.width, 0.0);
  whole_pairs_.assign(links_.labels * links_.width, 0.0);
  latent_pairs_.assign(links_.labels * links_.width, 0.0);
  links_.set(w + layout.transitions());
  for (const auto& block : blocks_) block->next_sentence = 0, block->next_unit = 0;
  if (threads_ == 1) {
    work(w, gradient, [] {});
  } else {
    std::barrier<> gate(threads_);
    std::vector<std::thread> others;
    const auto run = [&] { work(w, gradient, [&] { gate.arrive_and_wait(); }); };
    for (Index n = 1; n < threads_; ++n) {
      try {
        others.emplace_back(run);
      } catch (const std::system_error&) {  // the machine has no more threads to give: the others do the work
        for (; n < threads_; ++n) gate.arrive_and_drop();
      }
    }
    run();
    for (std::thread& other : others) other.join();
  }
  for (const auto& block : blocks_) redo(*block, w);
  for (std::size_t n = 0; n < pairs_.size(); ++n)
    gradient[layout.transitions() + static_cast<Index>(n)] =
        (links_.range <= kRange ? (pairs_[n] - latent_pairs_[n]) * links_.link[n] : 0.0) + whole_pairs_[n] -
        gold_pairs_[n];
  layout.clear_holes(gradient);
  double loss = 0;
  for (const double x : loss_) loss += x;
  return loss + regularise(w, c2_, layout.size(), gradient);
}

}  // namespace certus
