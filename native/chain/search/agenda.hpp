// The agenda of best-first search: a binary heap that knows where everything is, so that an entry whose score
// improves moves up instead of being pushed again. It never holds more entries than there are ids.
#pragma once

#include <algorithm>
#include <vector>

#include "base/arena.hpp"
#include "base/interrupt.hpp"

namespace certus {

// Calls fill(begin, end) for blocks of a large array, whose memory is had only when it is written to, and looks between
// them whether to stop.
template <class Fill>
void fill_blocks(Index count, const Fill& fill) {
  constexpr Index kBlock = Index{1} << 20;
  Heed heed;
  for (Index begin = 0; begin < count; begin += kBlock, heed(2 * kBlock)) fill(begin, std::min(count, begin + kBlock));
}
template <class X>
X* get_filled(Index count, X value, Arena& arena) {
  X* out = arena.get<X>(count);
  fill_blocks(count, [&](Index begin, Index end) { std::fill(out + begin, out + end, value); });
  return out;
}

// Two of its functions stay calls: inlined, they take the registers of the loops around them.
class Agenda {
 public:
  explicit Agenda(Index ids) {
    place_.reserve(ids);
    fill_blocks(ids, [&](Index, Index end) { place_.resize(end, kNew); });
  }

  bool empty() const { return heap_.empty(); }
  bool taken(Index id) const { return place_[id] == kTaken; }
  Index add_id() {
    place_.push_back(kNew);
    return static_cast<Index>(place_.size()) - 1;
  }

  // Enters `id`, anew if it was taken, or gives it a score that is not below the one it has.
  [[gnu::noinline]] void raise(Index id, double score, Index depth) {
    if (place_[id] < 0) {
      place_[id] = static_cast<Index>(heap_.size());
      heap_.emplace_back();
    }
    rise(place_[id], {score, depth, id});
  }

  // Takes the id with the best score: among equals the deepest, so that ties are not explored in breadth.
  [[gnu::noinline]] Index take() {
    const Index best = heap_[0].id;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    place_[best] = kTaken;
    return best;
  }

 private:
  static constexpr Index kNew = -1, kTaken = -2;

  struct Entry {
    double score;
    Index depth, id;
    bool before(const Entry& other) const {
      if (score != other.score) return score > other.score;
      return depth != other.depth ? depth > other.depth : id < other.id;
    }
  };

  void put(Index at, const Entry& entry) {
    heap_[at] = entry;
    place_[entry.id] = at;
  }
  void rise(Index at, const Entry& entry) {
    for (; at > 0 && entry.before(heap_[(at - 1) / 2]); at = (at - 1) / 2) put(at, heap_[(at - 1) / 2]);
    put(at, entry);
  }
  void sink(const Entry& entry) {
    const Index size = static_cast<Index>(heap_.size());
    Index at = 0;
    for (Index child; (child = 2 * at + 1) < size; at = child) {
      if (child + 1 < size && heap_[child + 1].before(heap_[child])) ++child;
      if (!heap_[child].before(entry)) break;
      put(at, heap_[child]);
    }
    put(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<Index> place_;  // [ids]: where in the heap, or one of the two above
};

}  // namespace certus
