#include "align/trainer.hpp"

#include <atomic>
#include <cmath>

#include "base/interrupt.hpp"
#include "base/parallel.hpp"

namespace certus::align {
namespace {

constexpr Index kBlock = 256;          // sentence pairs that a thread takes at once
constexpr double kNullPrior = 0.01;    // pseudo-count of each word that may come from nothing
constexpr double kJumpPrior = 0.5;     // of each distance
constexpr double kFertilityPrior = 1;  // of the fertility of all words together, for each word

void add(std::int64_t& count, double value) {
  const auto whole = static_cast<std::int64_t>(value * Trainer::kUnit);
  if (whole) std::atomic_ref(count).fetch_add(whole, std::memory_order_relaxed);
}

std::vector<Letters> decode_all(const std::vector<std::string>& words) {
  std::vector<Letters> decoded;
  decoded.reserve(words.size());
  for (const std::string& word : words) decoded.push_back(decode_letters(word));
  return decoded;
}

}  // namespace

double exp_digamma(double x) {
  // psi(x) = psi(x + 4) - 1/x - 1/(x + 1) - 1/(x + 2) - 1/(x + 3), and its asymptotic series from there.
  const double two = x * (x + 1), four = (x + 2) * (x + 3);
  const double shift = x < 16 ? ((2 * x + 1) * four + (2 * x + 5) * two) / (two * four) : 0;
  const double y = x < 16 ? x + 4 : x, inverse = 1 / y, square = inverse * inverse;
  const double series = square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)));
  return y * std::exp(-0.5 * inverse - series - shift);
}

Trainer::Trainer(const Bitext& bitext, const std::vector<std::string>& source_words,
                 const std::vector<std::string>& target_words, const Priors& priors, const Storage& storage)
    : bitext_(bitext),
      cooccurrences_(bitext_, storage),
      priors_(priors),
      stems_{Stems(decode_all(source_words)), Stems(decode_all(target_words))},
      stem_pairs_(cooccurrences_, stems_[0], stems_[1]) {
  measure_likeness(source_words, target_words);
  state.lexical.assign(2 * cooccurrences_.size(), 1);
  for (int d = 0; d < 2; ++d) {
    state.fertility[d].assign(bitext_.vocabulary[1 - d] * kFertilities, 1);
    std::vector<double> frequency(bitext_.vocabulary[d], 1);
    double tokens = 0;
    for (Index n = 0; n < bitext_.pairs(); ++n)
      for (Index g = 0; g < bitext_.length(d, n); ++g) {
        frequency[bitext_.sentence(d, n)[g]] += bitext_.times[n];
        tokens += bitext_.times[n];
      }
    for (const double f : frequency) state.nothing[d].push_back(static_cast<float>(f / tokens));
    for (Index k = 0; k < kJumps; ++k)
      state.jumps[d][k] = std::exp(-0.5 * std::abs(static_cast<double>(k - kFarthest - 1))) + 0.01;
    knowledge_.stem_probability[d].resize(stem_pairs_.size());
    knowledge_.share[d].resize(bitext_.vocabulary[d]);
    knowledge_.norm[d].resize(bitext_.vocabulary[1 - d]);
  }
}

void Trainer::measure_likeness(const std::vector<std::string>& source_words,
                               const std::vector<std::string>& target_words) {
  const std::vector<Letters> source = decode_all(source_words), target = decode_all(target_words);
  knowledge_.likeness.resize(cooccurrences_.size());
  Heed heed;
  for (Index word = 0; word < cooccurrences_.sources(); ++word)
    for (Index pair = cooccurrences_.begin(word); pair < cooccurrences_.begin(word + 1); ++pair) {
      heed(256);
      knowledge_.likeness[pair] = measure_similarity(source[word], target[cooccurrences_.target(pair)]);
    }
}

void Trainer::fill(Index n, const std::uint32_t* cell, Pair& pair) const {
  const Index source = bitext_.length(0, n), target = bitext_.length(1, n);
  pair.length[0] = source;
  pair.length[1] = target;
  for (int d = 0; d < 2; ++d) {
    pair.word[d].resize(source * target);
    pair.nothing[d].resize(pair.length[d]);
    pair.fertility[d].resize(pair.length[1 - d]);
    for (Index g = 0; g < pair.length[d]; ++g) pair.nothing[d][g] = state.nothing[d][bitext_.sentence(d, n)[g]];
    for (Index s = 0; s < pair.length[1 - d]; ++s)
      pair.fertility[d][s] = state.fertility[d].data() + bitext_.sentence(1 - d, n)[s] * kFertilities;
  }
  for (Index i = 0; i < source; ++i)
    for (Index j = 0; j < target; ++j, ++cell) {
      pair.word[0][i * target + j] = state.lexical[2 * std::size_t{*cell}];
      pair.word[1][j * source + i] = state.lexical[2 * std::size_t{*cell} + 1];
    }
}

void Trainer::add_links(Index n, const std::uint32_t* cell, bool agree, const Agreement& agreement) {
  const Index source = bitext_.length(0, n), target = bitext_.length(1, n);
  const double times = bitext_.times[n];
  for (Index i = 0; i < source; ++i)
    for (Index j = 0; j < target; ++j, ++cell) {
      const double a = agreement.direction[0].links[i * target + j], b = agreement.direction[1].links[j * source + i];
      if (stride_ == 1) {
        add(counts_[*cell], times * (agree ? a * b : 0.5 * (a + b)));
      } else {
        add(counts_[2 * std::size_t{*cell}], times * a);
        add(counts_[2 * std::size_t{*cell} + 1], times * b);
      }
    }
}

double Trainer::expect(Index n, const Step& step, Scratch& scratch) {
  const double times = bitext_.times[n];
  double* const jumps[2] = {scratch.jumps[0], scratch.jumps[1]};
  Agreement& agreement = scratch.agreement;
  const std::uint32_t* cell = cooccurrences_.cells(n, scratch.cells);
  fill(n, cell, scratch.pair);
  agreement.run(scratch.pair, step.settings, state.jumps, times, jumps);
  add_links(n, cell, step.agreement && begun_, agreement);
  for (int d = 0; d < 2; ++d) {
    for (Index g = 0; g < scratch.pair.length[d]; ++g)
      add(nothing_counts_[d][bitext_.sentence(d, n)[g]], times * agreement.direction[d].nothing[g]);
    if (!step.count_fertility) continue;
    agreement.find_fertilities(d, scratch.pair.length[d], scratch.pair.length[1 - d], scratch.fertilities);
    for (Index s = 0; s < scratch.pair.length[1 - d]; ++s)
      for (Index k = 0; k < kFertilities; ++k)
        add(fertility_counts_[d][bitext_.sentence(1 - d, n)[s] * kFertilities + k],
            times * scratch.fertilities[s * kFertilities + k]);
  }
  return times * (agreement.direction[0].log_likelihood + agreement.direction[1].log_likelihood);
}

double Trainer::iterate(const Step& step) {
  stride_ = step.agreement ? 1 : 2;
  counts_.assign(stride_ * cooccurrences_.size(), 0);
  for (int d = 0; d < 2; ++d) {
    nothing_counts_[d].assign(bitext_.vocabulary[d], 0);
    fertility_counts_[d].assign(step.count_fertility ? bitext_.vocabulary[1 - d] * kFertilities : 0, 0);
    jump_counts_[d].assign(kJumps, 0);
  }
  const Index blocks = (bitext_.pairs() + kBlock - 1) / kBlock;
  std::vector<double> likelihood(blocks);
  std::vector<Scratch> scratches(std::max<Index>(1, std::min(step.threads, blocks)));
  parallel(blocks, static_cast<Index>(scratches.size()), [&](Index block, Index thread) {
    Scratch& scratch = scratches[thread];
    for (auto& jumps : scratch.jumps) std::fill_n(jumps, kJumps, 0.0);
    for (Index n = block * kBlock; n < std::min(bitext_.pairs(), (block + 1) * kBlock); ++n)
      likelihood[block] += expect(n, step, scratch);
    for (int d = 0; d < 2; ++d)
      for (Index k = 0; k < kJumps; ++k) add(jump_counts_[d][k], scratch.jumps[d][k]);
  });
  begun_ = true;
  for (int d = 0; d < 2; ++d) maximize(d, step);
  double sum = 0;
  for (const double x : likelihood) sum += x;
  return sum;
}

void Trainer::maximize(int d, const Step& step) {
  maximize_lexical(d, step.stems, step.threads);
  double sum = 0;
  for (const std::int64_t c : nothing_counts_[d]) sum += static_cast<double>(c) / kUnit;
  const double all = sum + kNullPrior * static_cast<double>(bitext_.vocabulary[d]);
  for (Index w = 0; w < bitext_.vocabulary[d]; ++w)
    state.nothing[d][w] = static_cast<float>((static_cast<double>(nothing_counts_[d][w]) / kUnit + kNullPrior) / all);
  knowledge_.unknown_nothing[d] = kNullPrior / all;
  if (step.settings.kind == Kind::hmm || step.settings.kind == Kind::fertility) {
    double jumps = 1;
    for (const std::int64_t c : jump_counts_[d]) jumps += static_cast<double>(c) / kUnit;
    for (Index k = 0; k < kJumps; ++k)
      state.jumps[d][k] = (static_cast<double>(jump_counts_[d][k]) / kUnit + kJumpPrior) / jumps;
  }
  if (!step.count_fertility) return;
  std::array<double, kFertilities> general{};
  double tokens = 0;
  for (std::size_t k = 0; k < fertility_counts_[d].size(); ++k) {
    general[k % kFertilities] += static_cast<double>(fertility_counts_[d][k]) / kUnit;
    tokens += static_cast<double>(fertility_counts_[d][k]) / kUnit;
  }
  for (Index w = 0; w < bitext_.vocabulary[1 - d]; ++w) {
    const std::int64_t* count = fertility_counts_[d].data() + w * kFertilities;
    double times = kFertilityPrior;
    for (Index k = 0; k < kFertilities; ++k) times += static_cast<double>(count[k]) / kUnit;
    for (Index k = 0; k < kFertilities; ++k)
      state.fertility[d][w * kFertilities + k] =
          static_cast<float>((static_cast<double>(count[k]) / kUnit + kFertilityPrior * general[k] / tokens) / times);
  }
}

// p(stem of the generated word | stem of the other), and how much of its stem's count each generated word has.
void Trainer::find_stem_probabilities(int d) {
  std::vector<double> joint(stem_pairs_.size()), single(stems_[1 - d].count), word(bitext_.vocabulary[d]),
      stem(stems_[d].count);
  for (Index source = 0; source < cooccurrences_.sources(); ++source)
    for (Index pair = cooccurrences_.begin(source); pair < cooccurrences_.begin(source + 1); ++pair) {
      const double c = static_cast<double>(count(d, pair)) / kUnit;
      joint[stem_pairs_.number(pair)] += c;
      word[d == 1 ? cooccurrences_.target(pair) : source] += c;
    }
  const auto visit = [&](const auto& act) {
    for (Index first = 0; first < stem_pairs_.sources(); ++first)
      for (Index k = stem_pairs_.begin(first); k < stem_pairs_.begin(first + 1); ++k)
        act(k, d == 1 ? first : Index{stem_pairs_.second(k)});
  };
  visit([&](Index k, Index given) { single[given] += joint[k]; });
  visit([&](Index k, Index given) {
    knowledge_.stem_probability[d][k] = static_cast<float>(joint[k] / (single[given] + 1));
  });
  for (std::size_t w = 0; w < word.size(); ++w) stem[stems_[d].stem[w]] += word[w];
  for (std::size_t w = 0; w < word.size(); ++w)
    knowledge_.share[d][w] = static_cast<float>((word[w] + 0.01) / (stem[stems_[d].stem[w]] + 0.01));
}

double Trainer::find_prior(int d, Index pair, Word generated, bool stems) const {
  double prior = priors_.sparse + priors_.spelling * knowledge_.likeness[pair];
  if (stems)
    prior += priors_.stems * knowledge_.stem_probability[d][stem_pairs_.number(pair)] * knowledge_.share[d][generated];
  return prior;
}

void Trainer::maximize_lexical(int d, bool stems, Index threads) {
  const bool is_bayesian = priors_.sparse > 0;
  if (stems && is_bayesian) find_stem_probabilities(d);
  std::vector<double> sum(bitext_.vocabulary[1 - d]);
  const auto walk = [&](Index source, const auto& visit) {
    for (Index pair = cooccurrences_.begin(source); pair < cooccurrences_.begin(source + 1); ++pair) {
      const Word target = cooccurrences_.target(pair), generated = d == 1 ? target : static_cast<Word>(source);
      const double c = static_cast<double>(count(d, pair)) / kUnit;
      visit(pair, d == 1 ? static_cast<Word>(source) : target,
            is_bayesian ? c + find_prior(d, pair, generated, stems) : c);
    }
  };
  for (Index source = 0; source < cooccurrences_.sources(); ++source)
    walk(source, [&](Index, Word given, double c) { sum[given] += c; });
  for (std::size_t w = 0; w < sum.size(); ++w)
    knowledge_.norm[d][w] = static_cast<float>(is_bayesian ? exp_digamma(sum[w]) : sum[w] + 1e-30);
  const Index blocks = (cooccurrences_.sources() + kBlock - 1) / kBlock;
  parallel(blocks, threads, [&](Index block, Index) {
    for (Index source = block * kBlock; source < std::min(cooccurrences_.sources(), (block + 1) * kBlock); ++source)
      walk(source, [&](Index pair, Word given, double c) {
        state.lexical[2 * pair + d] = static_cast<float>(is_bayesian ? exp_digamma(c) : c) / knowledge_.norm[d][given];
      });
  });
}

}  // namespace certus::align
