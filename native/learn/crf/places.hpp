// Where the features of a block of tokens occur, and what the gradient of their weights collects there.
#pragma once

#include "learn/crf/layout.hpp"

namespace certus::learn {

class CrfPlaces {
 public:
  // Finds the places of the tokens [first, last). `count`, all zeros before and after, has room for every feature
  // twice.
  CrfPlaces(const CrfLayout& layout, const CrfInput& input, Index first, Index last, std::vector<std::uint32_t>& count);

  // Rows are shared out in units, each of which writes to its own part of the gradient.
  Index units() const;
  // gradient[weight of f and y] += sum over the places of f of value(f) r[token of the block][y], for the rows of a
  // unit.
  void collect(Index unit, const CrfLayout& layout, const double* r, double* gradient) const;

 private:
  void collect_listed(Index n, const CrfLayout& layout, const double* r, double* gradient) const;

  std::vector<Index> row_;         // the distinct rows: a dense row's number, or the features count plus a feature
  std::vector<Index> begin_;       // [rows + 1]: the places of each
  std::vector<std::uint32_t> at_;  // [places]: the token in the block
  std::vector<double> value_;      // [places], or empty where all are 1
};

}  // namespace certus::learn
