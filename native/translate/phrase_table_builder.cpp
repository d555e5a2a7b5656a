#include "translate/phrase_table_builder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/interrupt.hpp"

namespace certus::translate {
namespace {

constexpr double kLowest = -100;  // of a logarithm, as in Moses; probabilities of 0 get it
constexpr std::string_view kBars = "|||";

std::string quote_field(std::string_view text) { return "'" + std::string(text.substr(0, 60)) + "'"; }

}  // namespace

void PhraseTableReader::add_text(std::string_view text) {
  Heed heed;
  split_lines(text, [&](std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    add_line(line);
    ++lines_;
    heed(64);
  });
}

void PhraseTableReader::add_line(std::string_view line) {
  std::string_view fields[3];
  int count = 0;
  while (count < 3) {
    const std::size_t end = std::min(line.find(kBars), line.size());
    fields[count++] = line.substr(0, end);
    if (end == line.size()) break;
    line.remove_prefix(end + kBars.size());
  }
  if (count < 3)
    throw std::invalid_argument("a line of a phrase table is 'source ||| target ||| scores', and here are " +
                                std::to_string(count) + " fields");
  const std::size_t before = words_.size();
  try {
    Entry entry{static_cast<Index>(before), 0, 0, 0};
    entry.source_count = add_words(fields[0], source_, "source");
    entry.target = static_cast<Index>(words_.size());
    entry.target_count = add_words(fields[1], target_, "target");
    add_scores(fields[2]);
    entries_.push_back(entry);
  } catch (...) {
    words_.resize(before);
    scores_.resize(entries_.size() * static_cast<std::size_t>(features()));
    throw;
  }
}

std::int32_t PhraseTableReader::add_words(std::string_view text, WordTable& table, const char* side) {
  std::int32_t count = 0;
  split_words(text, [&](std::string_view word) {
    if (std::find(kSpecial.begin(), kSpecial.end(), word) != kSpecial.end())
      throw std::invalid_argument("the word " + quote_field(word) +
                                  " has a meaning of its own and cannot be in a phrase");
    words_.push_back(table.add(word));
    ++count;
  });
  if (count == 0) throw std::invalid_argument(std::string("the ") + side + " phrase has no words");
  return count;
}

void PhraseTableReader::add_scores(std::string_view text) {
  Index count = 0;
  split_words(text, [&](std::string_view field) {
    double score = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), score);
    if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(score))
      throw std::invalid_argument("the score " + quote_field(field) + " is no number");
    if (score < 0 && kind_ == ScoreKind::probability)
      throw std::invalid_argument("the score " + quote_field(field) + " is no probability");
    scores_.push_back(score);
    negative_ |= score < 0;
    ++count;
  });
  if (count == 0) throw std::invalid_argument("there are no scores");
  if (features_ >= 0 && count != features_)
    throw std::invalid_argument("here are " + std::to_string(count) + " scores, and on the lines before " +
                                std::to_string(features_));
  features_ = count;
}

// A natural logarithm. Where nobody says what the numbers are, one that is negative shows that they are logarithms.
float PhraseTableReader::convert(double score) const {
  const bool is_log = kind_ == ScoreKind::guessed ? negative_ : kind_ != ScoreKind::probability;
  if (is_log) return static_cast<float>(kind_ == ScoreKind::natural ? score : score * std::log(10.0));
  return static_cast<float>(score > 0 ? std::max(std::log(score), kLowest) : kLowest);
}

PhraseTableArrays PhraseTableReader::finish() {
  const auto list = [&](Index first, std::int32_t count) {
    return std::span<const Word>(words_.data() + first, static_cast<std::size_t>(count));
  };
  std::vector<std::uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    const Entry &one = entries_[a], &other = entries_[b];
    const auto x = list(one.source, one.source_count), y = list(other.source, other.source_count);
    const auto by_source = std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
    if (by_source != 0) return by_source < 0;
    const auto v = list(one.target, one.target_count), w = list(other.target, other.target_count);
    return std::lexicographical_compare(v.begin(), v.end(), w.begin(), w.end());
  };
  std::stable_sort(order.begin(), order.end(), compare);
  PhraseTableArrays made;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const Entry& entry = entries_[order[n]];
    if (n > 0 && !compare(order[n - 1], order[n])) continue;
    const auto source = list(entry.source, entry.source_count), target = list(entry.target, entry.target_count);
    const Index phrases = static_cast<Index>(made.phrase_first.size()) - 1;
    const Index last = phrases > 0 ? made.phrase_first[phrases - 1] : 0;
    if (phrases == 0 ||
        !std::equal(made.phrase_words.begin() + last, made.phrase_words.end(), source.begin(), source.end())) {
      if (phrases > 0) made.entry_first.push_back(static_cast<Index>(made.translation_first.size()) - 1);
      made.phrase_words.insert(made.phrase_words.end(), source.begin(), source.end());
      made.phrase_first.push_back(static_cast<Index>(made.phrase_words.size()));
    }
    made.translation_words.insert(made.translation_words.end(), target.begin(), target.end());
    made.translation_first.push_back(static_cast<Index>(made.translation_words.size()));
    for (Index f = 0; f < features_; ++f) made.scores.push_back(convert(scores_[order[n] * features_ + f]));
  }
  if (!order.empty()) made.entry_first.push_back(static_cast<Index>(made.translation_first.size()) - 1);
  made.source = std::move(source_);
  made.target = std::move(target_);
  return made;
}

}  // namespace certus::translate
