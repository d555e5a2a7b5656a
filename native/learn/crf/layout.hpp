// Where the weights of a first-order CRF stand in one vector.
//
//   score(y | x) = sum_t sum_{f in x_t} value(f) state[f][y_t] + sum_{t >= 1} transition[y_{t-1}][y_t]
//
// (Features of two labels in a row have a layout of their own, whose labels are pairs: crf_data.hpp.)
//
// Only some pairs (feature, label) and (label, label) have a weight; the others score 0. A feature that goes with
// many labels has a dense row, a weight for every label, the absent ones being holes that stay 0: whole vectors of
// labels are then scored at once. A feature with few labels lists them. The vector is
//   dense rows [dense][width], listed rows, transitions [labels][width]
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "learn/corpus.hpp"

namespace certus::learn {

class CrfLayout {
 public:
  struct Row {
    Index begin = 0;  // of its weights
    Label count = 0;  // how many there are: width where the row is dense
    bool dense = false;
  };

  // `row_begin` [features + 1] and `row_label` list the labels of each feature, increasing; `linked` [L][L] tells the
  // transitions that have a weight, and is empty where there are no transitions at all.
  CrfLayout(Index labels, const std::vector<Index>& row_begin, const std::vector<Label>& row_label,
            const std::vector<unsigned char>& linked);

  Index labels() const { return labels_; }
  Index width() const { return width_; }
  Index features() const { return static_cast<Index>(rows_.size()); }
  Index size() const { return transitions_ + (linked_.empty() ? 0 : labels_ * width_); }  // weights, holes included
  Index weights() const { return size() - static_cast<Index>(holes_.size()); }
  Index transitions() const { return transitions_; }  // where they begin
  const Row& row(Index feature) const { return rows_[feature]; }
  const Label* listed(const Row& row) const { return label_.data() + (row.begin - listed_); }
  const std::vector<Index>& holes() const { return holes_; }  // increasing

  // The place of a pair's weight, or -1.
  Index state(Index feature, Label y) const;
  Index transition(Label from, Label to) const {
    return linked_[from * labels_ + to] ? transitions_ + from * width_ + to : -1;
  }

  // Makes what is kept in holes 0 again: everywhere, in one dense row, or in the transitions.
  void clear_holes(double* w) const { clear(w, 0, static_cast<Index>(holes_.size())); }
  void clear_row(double* w, Index dense) const { clear(w, hole_begin_[dense], hole_begin_[dense + 1]); }
  void clear_transitions(double* w) const { clear(w, hole_begin_.back(), static_cast<Index>(holes_.size())); }

 private:
  void clear(double* w, Index begin, Index end) const {
    for (Index n = begin; n < end; ++n) w[holes_[n]] = 0;
  }

  Index labels_, width_;
  Index listed_ = 0, transitions_ = 0;  // where the listed rows begin, and the transitions
  std::vector<Row> rows_;
  std::vector<Label> label_;  // [transitions - listed]
  std::vector<unsigned char> linked_;
  std::vector<Index> holes_;
  std::vector<Index> hole_begin_;  // [dense rows + 1]: where the holes of each begin
};

// A corpus, or the sentences [first, last) of it, ready for scoring: in each token the features with dense rows come
// first, by the number of their row; what scores nothing is left out.
struct CrfInput {
  CrfInput(const CrfLayout& layout, const Corpus& corpus) : CrfInput(layout, corpus, 0, corpus.sentences()) {}
  CrfInput(const CrfLayout& layout, const Corpus& corpus, Index first, Index last);

  Index sentences() const { return static_cast<Index>(sentence_begin.size()) - 1; }
  Index length(Index sentence) const { return sentence_begin[sentence + 1] - sentence_begin[sentence]; }

  std::vector<Index> sentence_begin;  // [sentences + 1]
  std::vector<Index> begin, middle;   // [tokens + 1], [tokens]: dense ones are before the middle
  std::vector<Feature> index;         // the number of a dense row, or of a feature
  std::vector<double> value;          // empty where all are 1
};

// sum[width] += the rows [width] that are named, each times its value; 1 where `value` is null.
void crf_add_rows(const double* rows, Index width, const std::uint32_t* which, const double* value, Index count,
                  double* sum);

// scores[width]: what the labels of a token score; zeros past the last label.
void crf_score(const CrfLayout& layout, const double* w, const CrfInput& input, Index token, double* scores);

}  // namespace certus::learn
