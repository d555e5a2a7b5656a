// The features of the tokens of a sentence, as 64-bit keys.
//
// Each template yields for a token one key, or several, or none: the hash of the template's number and of the value
// it finds there. Values of tokens (a word, its lower case, its shape, each of its affixes) are hashed once; templates
// only mix those hashes. No string is ever made of a feature.
#pragma once

#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "features/hash.hpp"
#include "features/key_set.hpp"
#include "features/look.hpp"
#include "features/plan.hpp"

namespace certus::features {

// The columns of one sentence: cells[c * length + t]; column 0 is the word.
struct Sentence {
  Index length, columns;
  const std::string_view* cells;

  const std::string_view* column(Index c) const { return cells + c * length; }
};

// Buffers of one thread. They grow to the longest sentence seen, and nothing is allocated after that.
struct Scratch {
  std::vector<Look> looks;                // [looked column][length]
  std::vector<std::string_view> lowered;  // [lowered column][length]
  std::vector<char> bytes;                // of the lowered cells that differ from the cells
  std::vector<Key> values;                // [view][margin + length + margin], boundaries in the margins
  std::vector<std::size_t> starts;        // [operand] where the value for token 0 lies in `values`
  std::vector<Key> affixes;               // [affix][length][longest]
  std::vector<std::uint8_t> known;        // [affix][length] how many of those there are, or that nobody asked yet
  std::vector<Key> keys;                  // of the sentence
};

class Extractor {
 public:
  // `program`: compiled templates; `frequent`: the keys of the `count` words that are not rare, in any order; `seen`:
  // for each of them a number for the tags it was seen with, or null where no template asks for that.
  // With `bits` above 0 there are at most 2^bits different keys, whatever the text: a hash kernel (Shi et al. 2009).
  // Throws std::invalid_argument if the program is damaged or reads columns that there are not.
  Extractor(const std::vector<std::int32_t>& program, Index columns, const Key* frequent, const Key* seen,
            std::size_t count, int bits = 0)
      : columns_(columns), bits_(bits), plan_(program, columns), frequent_(frequent, seen, count) {
    if (plan_.asks_seen && !seen)
      throw std::invalid_argument("templates ask what words were seen with, but that is not given");
    if (bits < 0 || bits > 48) throw std::invalid_argument("the bits of a hash kernel are 1 to 48, or 0 for none");
  }

  // Appends each token's keys to `keys`, in the order of the templates. ends[t] = how many of them belong to the
  // tokens up to t; `ends` gets the sentence's length, whatever it held.
  void extract(const Sentence& s, std::vector<Key>& keys, std::vector<std::uint32_t>& ends, Scratch& scratch) const;

  Index columns() const { return columns_; }
  Index most() const { return plan_.most; }  // an upper bound on the keys of a token
  bool is_rare(Key word) const { return !frequent_.contains(word); }

 private:
  Index columns_;
  int bits_;
  Plan plan_;
  KeyMap frequent_;
};

// The key under which a word is listed in `frequent`.
inline Key word_key(std::string_view word) { return hash(word); }

}  // namespace certus::features
