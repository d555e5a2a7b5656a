#include <charconv>
#include <cmath>
#include <stdexcept>

#include "base/interrupt.hpp"
#include "translate/arpa.hpp"

namespace certus::translate {
namespace {

constexpr double kLog10 = 2.302585092994045684;  // the natural logarithm of 10
constexpr double kLargest = 1e30;

[[noreturn]] void refuse_line(const std::string& reason) { throw std::invalid_argument(reason); }

std::string_view strip(std::string_view line) {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  return line;
}

std::string quote(std::string_view text) { return "'" + std::string(text.substr(0, 80)) + "'"; }

}  // namespace

void ArpaReader::add_text(std::string_view text) {
  Heed heed;
  split_lines(text, [&](std::string_view line) {
    ++lines_;
    heed(200);
    const std::string_view stripped = strip(line);
    if (!stripped.empty()) read_line(stripped);
  });
}

void ArpaReader::read_line(std::string_view line) {
  if (part_ == Part::done) return;
  if (line == "\\data\\") {
    if (part_ != Part::before) refuse_line("a second \\data\\ line");
    part_ = Part::counts;
  } else if (part_ == Part::before) {
    return;  // a preamble
  } else if (line == "\\end\\") {
    close_section();
    if (order_ < static_cast<Index>(expected_.size()) || order_ == 0)
      refuse_line("the file ends before its " + std::to_string(order_ + 1) + "-grams");
    part_ = Part::done;
  } else if (line.front() == '\\') {
    open_section(line);
  } else if (part_ == Part::counts) {
    read_count(line);
  } else {
    fields_.clear();
    split_words(line, [&](std::string_view field) { fields_.push_back(field); });
    const auto count = static_cast<Index>(fields_.size());
    const bool top = order_ == static_cast<Index>(expected_.size());
    if (count != order_ + 1 && (count != order_ + 2 || top))
      refuse_line("a line of " + std::to_string(order_) + "-grams has a log probability, " + std::to_string(order_) +
                  " words" + (top ? "" : ", and perhaps a back-off weight") + ", but this one has " +
                  std::to_string(count) + " fields");
    ++seen_;
    if (order_ == 1) read_word();
    else read_ngram();
  }
}

// ngram 2=1234
void ArpaReader::read_count(std::string_view line) {
  const std::size_t equals = line.find('=');
  Index order = 0, count = -1;
  if (line.starts_with("ngram ") && equals != std::string_view::npos) {
    const std::string_view left = strip(line.substr(6, equals - 6)), right = strip(line.substr(equals + 1));
    std::from_chars(left.data(), left.data() + left.size(), order);
    std::from_chars(right.data(), right.data() + right.size(), count);
  }
  if (order != static_cast<Index>(expected_.size()) + 1 || count < 0 || order > 64)
    refuse_line(quote(line) + " is no count such as ngram " + std::to_string(expected_.size() + 1) + "=1000");
  expected_.push_back(count);
}

void ArpaReader::open_section(std::string_view line) {
  close_section();
  part_ = Part::section;
  ++order_;
  if (line != "\\" + std::to_string(order_) + "-grams:")
    refuse_line(quote(line) + " is no header that can stand here; \\" + std::to_string(order_) + "-grams: is next");
  if (order_ > static_cast<Index>(expected_.size()))
    refuse_line("the header does not say how many " + std::to_string(order_) + "-grams there are");
  ngrams_.levels.emplace_back();
  if (order_ > 1) tables_.emplace_back();
  seen_ = 0;
}

void ArpaReader::close_section() {
  if (order_ == 0) return;
  if (seen_ != expected_[order_ - 1])
    refuse_line("the header promised " + std::to_string(expected_[order_ - 1]) + " " + std::to_string(order_) +
                "-grams, but there are " + std::to_string(seen_));
  if (order_ > 1) return;
  Level& words = ngrams_.levels[0];
  words_seen_.resize(kSpecial.size());
  for (const Word word : {kBegin, kEnd})
    if (!words_seen_[word]) refuse_line("the file has no word " + std::string(kSpecial[word]));
  words.score.resize(ngrams_.words.size());
  words.backoff.resize(ngrams_.words.size());
  if (!words_seen_[kUnknown]) words.score[kUnknown] = unknown_;
  for (Word word = 0; word < static_cast<Word>(ngrams_.words.size()); ++word) words.word.push_back(word);
}

double ArpaReader::read_number(std::string_view text, const char* what) const {
  double value = NAN;
  const char *first = text.data() + text.starts_with('+'), *const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last) value = NAN;
  if (std::isnan(value) || value > kLargest || (value < -kLargest && !std::isinf(value)))
    refuse_line(quote(text) + " is no " + what);
  return value * kLog10;
}

void ArpaReader::read_word() {
  const double score = read_number(fields_[0], "log probability");
  if (score > 0) refuse_line("the log probability " + std::string(fields_[0]) + " is above 0");
  const double backoff = fields_.size() > 2 ? read_number(fields_[2], "back-off weight") : 0;
  const Word word = ngrams_.words.add(fields_[1] == "<UNK>" ? kSpecial[kUnknown] : fields_[1]);
  Level& words = ngrams_.levels[0];
  if (words_seen_.size() <= word) {
    words_seen_.resize(ngrams_.words.size());
    words.score.resize(ngrams_.words.size());
    words.backoff.resize(ngrams_.words.size());
  }
  if (words_seen_[word]) refuse_line(quote(fields_[1]) + " is there twice");
  words_seen_[word] = true;
  words.score[word] = score;
  words.backoff[word] = backoff;
}

void ArpaReader::read_ngram() {
  const double score = read_number(fields_[0], "log probability");
  if (score > 0) refuse_line("the log probability " + std::string(fields_[0]) + " is above 0");
  const auto count = static_cast<std::size_t>(order_);
  const double backoff = fields_.size() > count + 1 ? read_number(fields_[count + 1], "back-off weight") : 0;
  numbers_.clear();
  for (std::size_t i = 1; i <= count; ++i) {
    const Word word = ngrams_.words.view().find(fields_[i]);
    if (word == kUnknown && fields_[i] != kSpecial[kUnknown] && fields_[i] != "<UNK>")
      refuse_line("the word " + quote(fields_[i]) + " is not among the 1-grams");
    numbers_.push_back(word);
  }
  const Node parent = ensure(numbers_.data(), order_ - 1), suffix = ensure(numbers_.data() + 1, order_ - 1);
  if (tables_[order_ - 2].find(parent, numbers_.back()) != kNone) refuse_line("this n-gram is there twice");
  add(order_, parent, numbers_.back(), suffix, score, backoff);
}

Node ArpaReader::ensure(const Word* words, Index length) {
  if (length == 1) return words[0];
  const Node parent = ensure(words, length - 1);
  const Node found = tables_[length - 2].find(parent, words[length - 1]);
  if (found != kNone) return found;
  const Node suffix = ensure(words + 1, length - 1);
  const Level& shorter = ngrams_.levels[length - 2];
  ++added_;
  return add(length, parent, words[length - 1], suffix, shorter.backoff[parent] + shorter.score[suffix], 0);
}

Node ArpaReader::add(Index order, Node parent, Word word, Node suffix, double score, double backoff) {
  Level& level = ngrams_.levels[order - 1];
  const auto node = static_cast<Node>(level.size());
  if (node == kNone - 1) refuse_line("more than four thousand million n-grams are too many");
  tables_[order - 2].add(parent, word, node);
  level.parent.push_back(parent);
  level.word.push_back(word);
  level.suffix.push_back(suffix);
  level.score.push_back(score);
  level.backoff.push_back(backoff);
  return node;
}

Ngrams ArpaReader::finish() {
  if (part_ == Part::before) refuse_line("there is no \\data\\ line: this is no ARPA file");
  if (part_ != Part::done) refuse_line("there is no \\end\\ line: the file is cut off");
  return std::move(ngrams_);
}

}  // namespace certus::translate
