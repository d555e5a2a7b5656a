// Numbers for the names of features, in the order in which they were first met.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "learn/crf/layout.hpp"

namespace certus::learn {

class CrfVocabulary {
 public:
  static constexpr Feature kUnknown = ~Feature{0};

  CrfVocabulary() : slots_(1024) {}

  Index size() const { return static_cast<Index>(begin_.size()) - 1; }
  std::string_view name(Index n) const {
    return {text_.data() + begin_[n], static_cast<std::size_t>(begin_[n + 1] - begin_[n])};
  }
  const std::vector<char>& text() const { return text_; }     // all names, one after the other
  const std::vector<Index>& begin() const { return begin_; }  // [size + 1]

  // Names are looked up in bulk: the memory that the last step of each needs is on its way while others are worked on.
  static std::uint64_t hash(std::string_view name);
  void expect(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }
  void expect_text(std::uint64_t hash) const { __builtin_prefetch(text_.data() + slots_[hash & mask()].begin); }
  Feature find(std::string_view name, std::uint64_t hash) const;
  Feature add(std::string_view name, std::uint64_t hash);  // finds it, or makes it the next one

 private:
  struct Slot {
    std::uint64_t hash = 0;
    Index begin = 0;  // of the name, in the text
    Feature length = 0, number = kUnknown;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t place(std::string_view name, std::uint64_t hash) const;  // its slot, or the empty one where it belongs
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<char> text_;
  std::vector<Index> begin_{0};
};

}  // namespace certus::learn
