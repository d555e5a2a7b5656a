// N-grams with their probabilities, order by order, as they are estimated or read; an automaton is made of them.
#pragma once

#include <vector>

#include "translate/vocabulary.hpp"

namespace certus::translate {

using Node = std::uint32_t;  // an n-gram among those of its order
inline constexpr Node kNone = ~Node{0};

// All n-grams of one order. Of order 1 they are the words, in their order.
struct Level {
  std::vector<Node> parent;     // [n-gram] without its last word; empty for order 1
  std::vector<Word> word;       // [n-gram] its last word
  std::vector<Node> suffix;     // [n-gram] without its first word; empty for order 1
  std::vector<double> score;    // [n-gram] log probability of the last word after the others
  std::vector<double> backoff;  // [n-gram] what is added where a word was never seen after it

  Index size() const { return static_cast<Index>(word.size()); }
};

// A model: whatever n-gram is there, so are its parent and its suffix.
struct Ngrams {
  WordTable words;
  std::vector<Level> levels;  // [order - 1]
};

// From pairs (n-gram, next word) to the n-grams one longer; counts how often each was asked for.
class NodeTable {
 public:
  struct Slot {
    std::uint64_t key = 0;
    Node node = kNone;  // of an empty slot
    std::uint32_t count = 0;
  };

  NodeTable() : slots_(1024), shift_(54) {}

  void prefetch(Node parent, Word word) const { __builtin_prefetch(&slots_[place(join(parent, word))], 1); }
  // The entry of a pair. What has no node yet gets `next`, and the caller makes it; entries move when one is added.
  Slot& add(Node parent, Word word, Node next) {
    if (2 * used_ >= slots_.size()) grow();
    Slot& slot = find_entry(join(parent, word));
    if (slot.node == kNone) {
      slot.key = join(parent, word);
      slot.node = next;
      ++used_;
    }
    return slot;
  }
  Node find(Node parent, Word word) const { return const_cast<NodeTable*>(this)->find_entry(join(parent, word)).node; }
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  static std::uint64_t join(Node parent, Word word) { return std::uint64_t{parent} << 32 | word; }
  // The upper bits of a product by an odd number: all bits of the key reach them.
  std::size_t place(std::uint64_t key) const { return ((key ^ key >> 29) * 0x9e3779b97f4a7c15U) >> shift_; }
  Slot& find_entry(std::uint64_t key) {
    std::size_t i = place(key);
    while (slots_[i].node != kNone && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }
  void grow() {
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    --shift_;
    for (const Slot& slot : before)
      if (slot.node != kNone) find_entry(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  int shift_;
  std::size_t used_ = 0;
};

}  // namespace certus::translate
