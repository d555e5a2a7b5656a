// Partial derivations that translate equally many words, those with the same future merged.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "base/probing.hpp"
#include "translate/coverage.hpp"
#include "translate/phrase_graph.hpp"

namespace certus::translate {

template <int W>
struct Hypothesis {
  Coverage<W> covered;
  double score;          // of its phrases
  double used;           // the multipliers of the words that it translates
  double bound;          // of all derivations that it can become
  std::uint64_t text;    // a hash of its target words
  std::uint32_t parent;  // in the layer of its words before the last phrase
  Option option;
  State state;
  Row row;
  std::int32_t end;
  std::int32_t terms;   // the state of forbidden terms
  std::uint32_t bits;   // of hard words
  std::uint32_t chain;  // the next one with the same future, or kNone

  bool has_future_of(const Hypothesis& other) const {
    return state == other.state && end == other.end && terms == other.terms && covered == other.covered;
  }
  hashing::Key hash() const {
    const auto place = static_cast<std::uint64_t>(state) << 32 | static_cast<std::uint32_t>(end);
    return covered.hash(hashing::mix(place, static_cast<std::uint32_t>(terms)));
  }
};

// How many hypotheses a search keeps.
struct BeamSize {
  Index width = 1000;     // of each layer
  Index k = 1;            // of those with one future
  bool distinct = false;  // whether these must differ in their target words
};

template <int W>
class HypothesisLayer {
 public:
  std::vector<Hypothesis<W>> items;

  // Whether one of this bound is not among those that had to go.
  bool has_room(double bound) const { return bound >= cut_; }
  // Adds one, or merges it; returns the bound of what had to go for lack of room, -inf if nothing had.
  double add(const Hypothesis<W>& made, const BeamSize& size) {
    if (made.bound < cut_) return made.bound;
    if (2 * (items.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = find(made);
    if (slot == kNone || size.k > 1) {
      if (slot == kNone || !merge(slot, made, size)) insert(slot, made);
    } else {
      replace(items[slot], made);
    }
    return static_cast<Index>(items.size()) >= 2 * size.width + 64 ? keep_best(size.width) : kNever<double>;
  }
  // Keeps as many as there is room for; returns the best bound among the others.
  double keep_best(Index width) {
    if (static_cast<Index>(items.size()) <= width) return kNever<double>;
    const auto better = [](const Hypothesis<W>& a, const Hypothesis<W>& b) {
      return a.bound != b.bound ? a.bound > b.bound : a.score > b.score;
    };
    std::nth_element(items.begin(), items.begin() + width, items.end(), better);
    double dropped = kNever<double>;
    for (auto item = items.begin() + width; item != items.end(); ++item) dropped = std::max(dropped, item->bound);
    items.resize(width);
    cut_ = kNever<double>;
    for (const Hypothesis<W>& item : items) cut_ = item.bound < cut_ || cut_ == kNever<double> ? item.bound : cut_;
    index(slots_.size());
    return dropped;
  }
  double find_best_bound() const {
    double best = kNever<double>;
    for (const Hypothesis<W>& item : items) best = std::max(best, item.bound);
    return best;
  }
  void forget_slots() { std::vector<std::uint32_t>().swap(slots_); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t& find(const Hypothesis<W>& made) {
    return slots_[find_slot(made.hash(), slots_.size() - 1,
                            [&](std::size_t i) { return slots_[i] == kNone || items[slots_[i]].has_future_of(made); })];
  }
  void insert(std::uint32_t& slot, const Hypothesis<W>& made) {
    items.push_back(made);
    items.back().chain = slot;
    slot = static_cast<std::uint32_t>(items.size() - 1);
  }
  // The better of two with one future; what bounds the future of one bounds that of the other.
  static void replace(Hypothesis<W>& item, const Hypothesis<W>& made) {
    const double future = std::min(item.bound - item.score, made.bound - made.score);
    if (made.score > item.score) {
      const std::uint32_t chain = item.chain;
      item = made;
      item.chain = chain;
    }
    item.bound = item.score + future;
  }
  // Whether k others of its future, or a better one of its text, leave no need to add it.
  bool merge(std::uint32_t first, const Hypothesis<W>& made, const BeamSize& size) {
    Index count = 0;
    std::uint32_t worst = first;
    for (std::uint32_t n = first; n != kNone; n = items[n].chain, ++count) {
      if (size.distinct && items[n].text == made.text) {
        if (made.score > items[n].score) replace(items[n], made);
        return true;
      }
      if (items[n].score < items[worst].score) worst = n;
    }
    if (count < size.k) return false;
    if (made.score > items[worst].score) replace(items[worst], made);
    return true;
  }
  void grow() { index(std::max<std::size_t>(64, 4 * slots_.size())); }
  void index(std::size_t slots) {
    slots_.assign(slots, kNone);
    for (std::size_t n = 0; n < items.size(); ++n) {
      std::uint32_t& slot = find(items[n]);
      items[n].chain = slot;
      slot = static_cast<std::uint32_t>(n);
    }
  }

  std::vector<std::uint32_t> slots_;
  double cut_ = kNever<double>;
};

}  // namespace certus::translate
