#include "align/cooccurrences.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "base/interrupt.hpp"

namespace certus::align {
namespace {

// The target words that occur with one source word: as a list while they are few, else a bit for each word.
class Partners {
 public:
  void begin(Index occurrences, Index vocabulary) {
    list_.clear();
    if (occurrences > vocabulary / 32) bits_.assign(vocabulary, false);
    else list_.reserve(occurrences);
  }
  void add(const Word* words, Index count) {
    if (bits_.empty()) list_.insert(list_.end(), words, words + count);
    else
      for (Index k = 0; k < count; ++k) bits_[words[k]] = true;
  }
  // Appends each of them once, in order.
  void append_to(std::vector<Word>& all) {
    if (bits_.empty()) {
      std::sort(list_.begin(), list_.end());
      all.insert(all.end(), list_.begin(), std::unique(list_.begin(), list_.end()));
    }
    for (std::size_t word = 0; word < bits_.size(); ++word)
      if (bits_[word]) all.push_back(static_cast<Word>(word));
  }

 private:
  std::vector<Word> list_;
  std::vector<bool> bits_;
};

}  // namespace

Cooccurrences::Cooccurrences(const Bitext& bitext, const Storage& storage) : begin_(bitext.vocabulary[0] + 1) {
  first_cell_.reserve(bitext.pairs() + 1);
  first_cell_.push_back(0);
  for (Index n = 0; n < bitext.pairs(); ++n)
    first_cell_.push_back(first_cell_.back() + bitext.length(0, n) * bitext.length(1, n));
  collect(bitext, storage.work);
  if (size() > Index{UINT32_MAX}) throw std::length_error("more than 4,294,967,295 pairs of words occur together");
  if (first_cell_.back() > storage.cells) open_file(storage.folder);
  else cells_.resize(first_cell_.back());
  Heed heed;
  std::vector<std::uint32_t> scratch;
  for (Index n = 0; n < bitext.pairs(); ++n) {
    const Index count = first_cell_[n + 1] - first_cell_[n];
    heed(32 * count);
    if (!file_) {
      number(bitext, n, cells_.data() + first_cell_[n]);
      continue;
    }
    scratch.resize(count);
    number(bitext, n, scratch.data());
    if (std::fwrite(scratch.data(), sizeof scratch[0], scratch.size(), file_.get()) != scratch.size())
      throw std::runtime_error("the disk of " + storage.folder + " is full, or fails");
  }
  if (file_ && std::fflush(file_.get()) != 0)
    throw std::runtime_error("the disk of " + storage.folder + " is full, or fails");
}

void Cooccurrences::open_file(const std::string& folder) {
  std::string path = folder + "/certus-cells-XXXXXX";
  const int made = mkstemp(path.data());
  if (made >= 0) unlink(path.c_str());  // it is gone when nobody has it open
  file_.reset(made >= 0 ? fdopen(made, "w+b") : nullptr);
  if (!file_) throw std::runtime_error("no file can be made in " + folder);
}

// Source words are taken in ranges, so that no more than about `work` occurrences are in memory at once.
void Cooccurrences::collect(const Bitext& bitext, Index work) {
  std::vector<Index> occurrences(bitext.vocabulary[0]);
  for (Index n = 0; n < bitext.pairs(); ++n)
    for (Index i = 0; i < bitext.length(0, n); ++i) occurrences[bitext.sentence(0, n)[i]] += bitext.length(1, n);
  const auto measure = [&](Index source) { return std::min(occurrences[source], bitext.vocabulary[1] / 32 + 1); };
  for (Index from = 0, to = 0; from < bitext.vocabulary[0]; from = to) {
    Index sum = measure(to++);
    while (to < bitext.vocabulary[0] && sum + measure(to) <= work) sum += measure(to++);
    collect_range(bitext, from, to, occurrences);
  }
}

void Cooccurrences::collect_range(const Bitext& bitext, Index from, Index to, const std::vector<Index>& occurrences) {
  std::vector<Partners> partners(to - from);
  for (Index source = from; source < to; ++source)
    partners[source - from].begin(occurrences[source], bitext.vocabulary[1]);
  Heed heed;
  for (Index n = 0; n < bitext.pairs(); ++n) {
    heed(bitext.length(0, n));
    for (Index i = 0; i < bitext.length(0, n); ++i)
      if (const Index source = bitext.sentence(0, n)[i]; source >= from && source < to)
        partners[source - from].add(bitext.sentence(1, n), bitext.length(1, n));
  }
  for (Index source = from; source < to; ++source) {
    heed(16 * std::min(occurrences[source], bitext.vocabulary[1]));
    partners[source - from].append_to(target_);
    partners[source - from] = {};
    begin_[source + 1] = static_cast<Index>(target_.size());
  }
}

void Cooccurrences::number(const Bitext& bitext, Index n, std::uint32_t* cell) const {
  for (Index i = 0; i < bitext.length(0, n); ++i) {
    const Word source = bitext.sentence(0, n)[i];
    const auto from = target_.begin() + begin_[source], to = target_.begin() + begin_[source + 1];
    for (Index j = 0; j < bitext.length(1, n); ++j)
      *cell++ = static_cast<std::uint32_t>(std::lower_bound(from, to, bitext.sentence(1, n)[j]) - target_.begin());
  }
}

const std::uint32_t* Cooccurrences::cells(Index n, std::vector<std::uint32_t>& scratch) const {
  if (!file_) return cells_.data() + first_cell_[n];
  scratch.resize(first_cell_[n + 1] - first_cell_[n]);
  auto* to = reinterpret_cast<char*>(scratch.data());
  auto left = static_cast<Index>(scratch.size() * sizeof scratch[0]);
  for (Index at = first_cell_[n] * static_cast<Index>(sizeof scratch[0]); left > 0;) {
    const Index got = pread(fileno(file_.get()), to, left, at);
    if (got <= 0) throw std::runtime_error("the file of pairs of words cannot be read any more");
    to += got;
    at += got;
    left -= got;
  }
  return scratch.data();
}

}  // namespace certus::align
