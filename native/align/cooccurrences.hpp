// The pairs of words that occur in one sentence pair: each has a number, under which its probabilities are kept.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "align/bitext.hpp"

namespace certus::align {

// How much memory the numbers of pairs of words may take.
struct Storage {
  Index cells = Index{1} << 28;  // one for each source and target word of a sentence pair; more go to a file
  Index work = Index{1} << 26;   // words that are sorted at a time
  std::string folder = "/tmp";   // of that file, which nobody else sees
};

class Cooccurrences {
 public:
  // Throws std::runtime_error where the file cannot be written.
  Cooccurrences(const Bitext& bitext, const Storage& storage);

  Index size() const { return static_cast<Index>(target_.size()); }
  Index sources() const { return static_cast<Index>(begin_.size()) - 1; }
  Index begin(Index source) const { return begin_[source]; }  // pairs of a source word are numbered in a row,
  Word target(Index pair) const { return target_[pair]; }     // by target word, ascending

  // The numbers of a sentence pair's pairs of words, [source][target]; `scratch` holds them if they are in a file.
  const std::uint32_t* cells(Index n, std::vector<std::uint32_t>& scratch) const;

 private:
  void collect(const Bitext& bitext, Index work);
  void collect_range(const Bitext& bitext, Index from, Index to, const std::vector<Index>& occurrences);
  void number(const Bitext& bitext, Index n, std::uint32_t* cell) const;
  void open_file(const std::string& folder);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::vector<Index> begin_;          // [sources + 1]
  std::vector<Word> target_;          // [pairs of words]
  std::vector<Index> first_cell_;     // [sentence pairs + 1]
  std::vector<std::uint32_t> cells_;  // numbers of pairs of words, unless they are in the file
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace certus::align
