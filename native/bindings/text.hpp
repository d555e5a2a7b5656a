// How Python's strings come in: as UTF-8, copied for work without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "features/extractor.hpp"

namespace nb = nanobind;

namespace certus {

// Raises certus.InvalidInput.
[[noreturn]] void refuse(const std::string& message);

// Which string an error is about; what is negative goes without saying.
struct Place {
  Index sentence = -1, column = -1, token = -1;
  std::string say() const;
};

// A string's UTF-8, which lives as long as the string.
std::string_view utf8(nb::handle text, const Place& place);

// A copy of the cells of many sentences.
class Texts {
 public:
  // `sentences`: a list of lists of columns, each a list of str, all of one length; there must be `expected` of them.
  Texts(nb::handle sentences, Index expected);
  Texts(const Texts&) = delete;  // cells point into bytes
  Texts(Texts&&) = default;

  Index size() const { return static_cast<Index>(lengths_.size()); }
  Index tokens() const { return tokens_; }  // of all sentences
  std::vector<Index> starts() const {       // [sentences + 1]: where the tokens of each begin
    std::vector<Index> first{0};
    for (const Index length : lengths_) first.push_back(first.back() + length);
    return first;
  }
  features::Sentence at(Index n) const { return {lengths_[n], columns_, cells_.data() + firsts_[n]}; }

 private:
  Index columns_, tokens_ = 0;
  std::vector<Index> lengths_;           // [sentence] its tokens
  std::vector<std::size_t> firsts_;      // [sentence] its first cell
  std::vector<std::string_view> cells_;  // into bytes_
  std::vector<char> bytes_;
};

}  // namespace certus
