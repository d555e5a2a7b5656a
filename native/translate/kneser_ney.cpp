#include "translate/kneser_ney.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/interrupt.hpp"

namespace certus::translate {
namespace {

// Of a corpus too small or too regular to compute them, as lmplz takes them with --discount_fallback.
constexpr std::array<double, 4> kFallback = {0, 0.5, 1, 1.5};
constexpr double kNoProbability = -99 * 2.302585092994045684;  // of <s>, which is given: what ARPA files say

}  // namespace

Discounts compute_discounts(const std::vector<std::uint32_t>& adjusted) {
  Discounts found;
  for (const std::uint32_t count : adjusted)
    if (count >= 1 && count <= 4) ++found.counts[count];
  const auto& n = found.counts;
  found.amount = kFallback;
  if (n[1] == 0 || n[2] == 0 || n[3] == 0) return found;
  const double y = static_cast<double>(n[1]) / static_cast<double>(n[1] + 2 * n[2]);
  std::array<double, 4> amount{};
  for (int j = 1; j <= 3; ++j) {
    amount[j] = j - (j + 1) * y * static_cast<double>(n[j + 1]) / static_cast<double>(n[j]);
    if (!(amount[j] > 0 && amount[j] <= j)) return found;
  }
  found.amount = amount;
  found.computed = true;
  return found;
}

void NgramCounter::start() {
  if (!open_) text_.push_back(kBegin);
  open_ = true;
}

void NgramCounter::add_number(Word word) {
  start();
  text_.push_back(word);
  ++tokens;
}

void NgramCounter::add_word(std::string_view word) {
  const Word number = words_.add(word);
  if (number < kSpecial.size())
    throw std::invalid_argument("the word " + std::string(word) + " stands for something else: take another");
  add_number(number);
}

void NgramCounter::end_sentence() {
  ++lines;
  if (!open_) {
    ++blank;
    return;
  }
  text_.push_back(kEnd);
  ++sentences;
  open_ = false;
  if (text_.size() >= kNone) throw std::invalid_argument("more than four thousand million words are too many");
}

void NgramCounter::add_text(std::string_view text) {
  Heed heed;
  split_lines(text, [&](std::string_view line) {
    split_words(line, [&](std::string_view word) { add_word(word); });
    end_sentence();
    heed(static_cast<Index>(20 * line.size()));
  });
}

void NgramCounter::count_words() {
  Level& level = levels_.emplace_back();
  std::vector<std::uint32_t>& counts = counts_.emplace_back(words_.size());
  for (const Word word : text_) ++counts[word];
  for (Word word = 0; word < static_cast<Word>(words_.size()); ++word) level.word.push_back(word);
  begins_.emplace_back(words_.size(), false)[kBegin] = true;
  window_.assign(text_.begin(), text_.end());
}

void NgramCounter::count_longer() {
  if (levels_.empty()) return count_words();
  const Index k = order();  // windows grow to k + 1 words
  const auto size = static_cast<Index>(text_.size());
  constexpr Index kAhead = 12;  // places whose slots are fetched before they are needed
  Level level;
  NodeTable table;
  Heed heed;
  for (Index i = 0; i < size; ++i) {
    heed(64);
    if (i + kAhead + k < size) table.prefetch(window_[i + kAhead], text_[i + kAhead + k]);
    if (window_[i] == kNone) continue;
    if (text_[i + k - 1] == kEnd) {
      window_[i] = kNone;
      continue;
    }
    const auto next = static_cast<Node>(level.size());
    NodeTable::Slot& slot = table.add(window_[i], text_[i + k], next);
    ++slot.count;
    if (slot.node == next) {
      level.parent.push_back(window_[i]);
      level.word.push_back(text_[i + k]);
      level.suffix.push_back(window_[i + 1]);  // not yet grown: the k words that end where this one ends
    }
    window_[i] = slot.node;
  }
  std::vector<std::uint32_t> counts(level.size());
  for (const NodeTable::Slot& slot : table.slots())
    if (slot.node != kNone) counts[slot.node] = slot.count;
  std::vector<char> begins(level.size());
  for (Index x = 0; x < level.size(); ++x) begins[x] = begins_.back()[level.parent[x]];
  levels_.push_back(std::move(level));
  counts_.push_back(std::move(counts));
  begins_.push_back(std::move(begins));
}

void NgramCounter::adjust_counts() {
  for (Index k = 1; k <= order(); ++k) {
    std::vector<std::uint32_t>& counts = counts_[k - 1];
    if (k < order()) {
      for (Index x = 0; x < levels_[k - 1].size(); ++x)
        if (!begins_[k - 1][x]) counts[x] = 0;
      for (const Node suffix : levels_[k].suffix)
        if (!begins_[k - 1][suffix]) ++counts[suffix];
    }
    if (k == 1) counts[kBegin] = 0;  // it is given, never predicted
    discounts_.push_back(compute_discounts(counts));
  }
}

void NgramCounter::estimate_words() {
  Level& level = levels_[0];
  const Discounts& discount = discounts_[0];
  double total = 0, left = 0;
  for (const std::uint32_t count : counts_[0]) total += count, left += discount(count);
  const double uniform = left / total / static_cast<double>(level.size() - 1);
  for (const std::uint32_t count : counts_[0]) level.score.push_back((count - discount(count)) / total + uniform);
}

// Leaves probabilities in `score` of the level, and weights in `backoff` of the one before.
void NgramCounter::estimate_level(Index k) {
  Level &level = levels_[k - 1], &shorter = levels_[k - 2];
  const std::vector<std::uint32_t>& counts = counts_[k - 1];
  const Discounts& discount = discounts_[k - 1];
  std::vector<double> total(shorter.size());
  shorter.backoff.assign(shorter.size(), 0);
  for (Index x = 0; x < level.size(); ++x) {
    total[level.parent[x]] += counts[x];
    shorter.backoff[level.parent[x]] += discount(counts[x]);
  }
  for (Index h = 0; h < shorter.size(); ++h) shorter.backoff[h] = total[h] > 0 ? shorter.backoff[h] / total[h] : 1;
  level.score.resize(level.size());
  for (Index x = 0; x < level.size(); ++x) {
    const Node h = level.parent[x];
    level.score[x] = (counts[x] - discount(counts[x])) / total[h] + shorter.backoff[h] * shorter.score[level.suffix[x]];
  }
}

Ngrams NgramCounter::estimate() {
  adjust_counts();
  estimate_words();
  Heed heed;
  for (Index k = 2; k <= order(); ++k) {
    estimate_level(k);
    heed(32 * levels_[k - 1].size());
  }
  levels_.back().backoff.assign(levels_.back().size(), 1);
  for (Level& level : levels_) {
    for (double& score : level.score) score = std::min(0.0, std::log(score));
    for (double& backoff : level.backoff) backoff = std::log(backoff);
    heed(32 * level.size());
  }
  levels_[0].score[kBegin] = kNoProbability;
  return {std::move(words_), std::move(levels_)};
}

}  // namespace certus::translate
