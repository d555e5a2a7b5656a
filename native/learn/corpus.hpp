// Annotated sentences as the learners see them: numbered features, and labels.
#pragma once

#include <vector>

#include "base/interrupt.hpp"
#include "base/probing.hpp"
#include "base/types.hpp"
#include "scoring/keys.hpp"

namespace certus::learn {

using Feature = std::uint32_t;
using scoring::Key;

// Numbers keys 0, 1, 2, ... in the order in which they come. Open addressing, at most half full.
class Numbering {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Numbering() : slots_(1 << 10, Slot{0, kNone}) {}

  void prefetch(Key key) const { __builtin_prefetch(&slots_[key & mask()]); }

  // The number of a key, which becomes the next one if it is new.
  std::uint32_t number(Key key) {
    std::size_t i = place(key);
    if (slots_[i].id != kNone) return slots_[i].id;
    if (2 * (keys_.size() + 1) > slots_.size()) {
      grow();
      i = place(key);
    }
    slots_[i] = {key, static_cast<std::uint32_t>(keys_.size())};
    keys_.push_back(key);
    return slots_[i].id;
  }

  const std::vector<Key>& keys() const { return keys_; }

 private:
  struct Slot {
    Key key;
    std::uint32_t id;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t place(Key key) const {
    return find_slot(key, mask(), [&](std::size_t i) { return slots_[i].id == kNone || slots_[i].key == key; });
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size(), Slot{0, kNone});
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.id != kNone) slots_[place(s.key)] = s;
  }

  std::vector<Slot> slots_;
  std::vector<Key> keys_;
};

struct Corpus {
  std::vector<Index> sentence{0};  // [sentences + 1]: first token
  std::vector<Index> token{0};     // [tokens + 1]: first feature
  std::vector<Feature> features;
  std::vector<double> values;     // what each feature is multiplied with; none where all are 1
  std::vector<Label> labels;      // [tokens], or none where sentences are not annotated
  std::vector<Key> feature_keys;  // [feature count], or none where features have names

  Index sentences() const { return static_cast<Index>(sentence.size()) - 1; }
  Index tokens() const { return static_cast<Index>(token.size()) - 1; }
  Index feature_count() const { return static_cast<Index>(feature_keys.size()); }
};

// Numbers the features that occur at least `least` times; the others are left out. `ends` counts keys from the start of
// the corpus, `lengths` are the tokens of each sentence.
inline Corpus number_features(const Key* keys, const std::uint64_t* ends, Index tokens, const Index* lengths,
                              Index sentences, const Label* labels, Index least) {
  Corpus corpus;
  for (Index n = 0; n < sentences; ++n) corpus.sentence.push_back(corpus.sentence.back() + lengths[n]);
  corpus.labels.assign(labels, labels + tokens);
  const std::uint64_t total = tokens ? ends[tokens - 1] : 0;
  std::vector<std::uint32_t> count;
  std::vector<Feature> raw(total);
  Numbering all;
  constexpr std::uint64_t kAhead = 16;
  Heed heed;
  for (std::uint64_t i = 0; i < total; ++i) {
    heed(64);
    if (i + kAhead < total) all.prefetch(keys[i + kAhead]);
    const Feature f = raw[i] = all.number(keys[i]);
    if (f == count.size()) count.push_back(0);
    ++count[f];
  }
  std::vector<Feature> kept(count.size(), Numbering::kNone);
  for (Feature f = 0; f < count.size(); ++f) {
    if (count[f] < least) continue;
    kept[f] = static_cast<Feature>(corpus.feature_keys.size());
    corpus.feature_keys.push_back(all.keys()[f]);
  }
  corpus.features.reserve(total);
  std::uint64_t i = 0;
  for (Index t = 0; t < tokens; ++t) {
    heed(64);
    for (; i < ends[t]; ++i)
      if (kept[raw[i]] != Numbering::kNone) corpus.features.push_back(kept[raw[i]]);
    corpus.token.push_back(static_cast<Index>(corpus.features.size()));
  }
  return corpus;
}

}  // namespace certus::learn
