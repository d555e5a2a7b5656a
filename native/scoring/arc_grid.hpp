// Which arcs of a sentence may still be in its tree, while passes close them one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "features/arc_words.hpp"
#include "syntax/dependency/arcs.hpp"

namespace certus::scoring {

class ArcGrid {
 public:
  void open_all(Index words) {
    words_ = words;
    open_.assign(static_cast<std::size_t>((words + 1) * (words + 1)), 1);
    for (Index m = 0; m <= words; ++m) open_[cell(m, m)] = open_[cell(m, 0)] = 0;
  }

  Index words() const { return words_; }
  bool is_open(Index head, Index modifier) const { return open_[cell(head, modifier)] != 0; }
  void open(Index head, Index modifier) { open_[cell(head, modifier)] = 1; }
  void close(Index head, Index modifier) { open_[cell(head, modifier)] = 0; }

  // Opens the arcs of a tree.
  void open_tree(const Label* heads) {
    for (Index m = 1; m <= words_; ++m) open(heads[m - 1], m);
  }
  // Opens the arcs between neighbours and those of the root: with them there is a tree.
  void open_neighbours() {
    for (Index m = 1; m <= words_; ++m) {
      open(0, m);
      if (m < words_) open(m, m + 1), open(m + 1, m);
    }
  }

  // The open arcs of at most `longest` words, and those of the root.
  void list(Index longest, syntax::Arcs& arcs) {
    heads_.clear();
    modifiers_.clear();
    for (Index h = 0; h <= words_; ++h) {
      const Index first = h == 0 ? 1 : std::max<Index>(1, h - longest);
      const Index last = h == 0 ? words_ : std::min(words_, h + longest);
      for (Index m = first; m <= last; ++m) {
        if (!is_open(h, m)) continue;
        heads_.push_back(static_cast<Label>(h));
        modifiers_.push_back(static_cast<Label>(m));
      }
    }
    arcs.assign(words_, heads_.data(), modifiers_.data(), static_cast<Index>(heads_.size()));
  }
  void list(syntax::Arcs& arcs) { list(words_, arcs); }

 private:
  Index cell(Index head, Index modifier) const { return head * (words_ + 1) + modifier; }

  Index words_ = 0;
  std::vector<std::uint8_t> open_;  // [n + 1][n + 1]: by head and modifier
  std::vector<Label> heads_, modifiers_;
};

// How long arcs are at the most between words with two tags: a table of 2^kLengthBits lengths that pairs of tags are
// hashed to. Pairs that share a place share the longer length; 0 stands for pairs that were not seen, which may be of
// any length, as the arcs of the root are.
inline constexpr int kLengthBits = 14;

inline std::size_t find_length(features::Key head, features::Key modifier) {
  return features::mix(head, modifier) >> (64 - kLengthBits);
}

// `view`: of the tags.
inline void close_long_arcs(const features::ArcWords& words, Index view, const std::uint16_t* lengths, ArcGrid& grid) {
  for (Index h = 1; h <= words.length; ++h)
    for (Index m = 1; m <= words.length; ++m) {
      const std::uint16_t most = lengths[find_length(words.value(view, h), words.value(view, m))];
      if (most > 0 && (m > h ? m - h : h - m) > most) grid.close(h, m);
    }
}

}  // namespace certus::scoring
