#include "relax/parts/tags.hpp"

#include <algorithm>

namespace certus::relax {

TagPart::TagPart(std::vector<double> base, Index words, Index tags, std::vector<Index> cells)
    : Part(std::vector<double>(cells.size(), 0.0)),
      words_(words),
      tags_(tags),
      base_(std::move(base)),
      adjust_(base_),
      best_(words * tags),
      place_(std::move(cells)),
      cell_(words * tags, -1),
      found_(words) {
  const Index count = this->cells();
  for (Index c = 0; c < count; ++c) cell_[place_[c]] = c;
  for (Index begin = 0, end = 0; begin < count; begin = end) {
    const Index word = place_[begin] / tags;
    while (end < count && place_[end] / tags == word) ++end;
    rows_.push_back(word);
    bool all = true;  // whether there is no tag but the shared ones
    for (Index i = word * tags; i < (word + 1) * tags; ++i) all = all && (base_[i] == kNever<double> || cell_[i] >= 0);
    if (all) add_group(begin, end, true);
    for (Index c = begin; !all && c < end; ++c) add_group(c, c + 1, false);
  }
}

// Lays the adjustments of shared tags out over the words that have them. A required tag leaves no other of its word.
void TagPart::fill_rows() {
  Index c = 0;
  for (const Index word : rows_) {
    double* row = adjust_.data() + word * tags_;
    const Index first = c;
    Index needed = -1;
    std::copy_n(base_.data() + word * tags_, tags_, row);
    for (; c < cells() && place_[c] < (word + 1) * tags_; ++c) {
      row[place_[c] - word * tags_] += sums_[c];
      if (required_[c]) needed = needed < 0 ? c : cells();  // two of one word leave nothing
    }
    if (needed < 0) continue;
    const double kept = needed < cells() ? row[place_[needed] - word * tags_] : kNever<double>;
    std::fill_n(row, tags_, kNever<double>);
    row[place_[needed < cells() ? needed : first] - word * tags_] = kept;
  }
}

void TagPart::list_used(std::vector<Index>& used) const {
  used.clear();
  for (const Index word : rows_)
    if (const Index c = cell_[word * tags_ + found_[word]]; c >= 0) used.push_back(c);
}

double TagPart::maximize(std::vector<Index>& used) {
  used.clear();
  fill_rows();
  const double score = decode(adjust_.data(), found_.data());
  if (score != kNever<double>) list_used(used);
  return score;
}

bool TagPart::max_marginals(double* with, double* without) {
  fill_rows();
  bound(adjust_.data(), best_.data());
  for (const Index word : rows_) {
    const double* row = best_.data() + word * tags_;
    double best = kNever<double>, second = kNever<double>;
    for (Index i = 0; i < tags_; ++i) {
      second = std::max(second, std::min(best, row[i]));
      best = std::max(best, row[i]);
    }
    for (Index i = 0; i < tags_; ++i) {
      const Index c = cell_[word * tags_ + i];
      if (c < 0) continue;
      with[c] = row[i];
      without[c] = row[i] == best ? second : best;
    }
  }
  return true;
}

bool TagPart::complete(const std::vector<Index>& used, double* score) {
  std::copy(base_.begin(), base_.end(), adjust_.begin());
  for (Index c = 0; c < cells(); ++c)
    if (!std::binary_search(used.begin(), used.end(), c)) adjust_[place_[c]] = kNever<double>;
  *score = decode_given(adjust_.data(), found_.data());
  if (*score == kNever<double>) return true;
  std::vector<Index> chosen;
  list_used(chosen);
  if (chosen != used) *score = kNever<double>;
  return true;
}

}  // namespace certus::relax
