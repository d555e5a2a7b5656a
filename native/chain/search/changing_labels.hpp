// The degenerate labels of a model that learns: the tables of degenerate_labels.hpp, kept exact while transitions
// change one by one (Kaji et al. 2010, end of section 4: staggered decoding in training).
//
// Ranks fall into blocks: block m holds the labels of ranks 2^m to 2^(m+1) - 1, which become active at level m + 1, so
// the rest of level m is block m with all blocks after it. For every label and block the largest transition is known,
// and how many transitions reach it. A block is looked through again only when the last of these falls; otherwise a
// change costs a step for each level.
#pragma once

#include <memory>
#include <vector>

#include "chain/search/degenerate_labels.hpp"

namespace certus {

class ChangingLabels {
 public:
  // Prepares the tables of the model, whose transitions one dense matrix holds. It must outlive this.
  explicit ChangingLabels(const Model<float>& model);

  // Tells of a change that was made to the model.
  void set(Label i, Label j, float score);

  const DegenerateTables<float>& tables() const { return *tables_; }

 private:
  struct Largest {
    float score = kNever<float>;
    Index count = 0;  // of transitions that score as much

    void add(float other) {
      if (other > score) *this = {other, 1};
      else if (other == score) ++count;
    }
  };
  using Blocks = std::vector<Largest>;  // [levels][labels]: by block and rank

  float at(Index from, Index to) const { return tables_->ranked[from * tables_->stride + to]; }
  template <class Score>
  Largest find_largest(Index block, const Score& score) const;
  template <class Score>
  bool change(Largest& largest, Index block, float before, float after, const Score& score) const;
  void accumulate(const Blocks& blocks, std::vector<float>& table, Index rank, Index block) const;
  void change_between(Index from, Index to, float before, float after);

  std::shared_ptr<DegenerateTables<float>> tables_;
  Index labels_ = tables_->labels, levels_ = tables_->levels;
  std::vector<Index> rank_ = std::vector<Index>(labels_);
  Blocks leave_ = Blocks(levels_ * labels_);  // the largest transitions from a label into a block,
  Blocks enter_ = Blocks(levels_ * labels_);  // from a block into a label,
  std::vector<float> between_ = std::vector<float>(levels_ * levels_, kNever<float>);  // and from block to block
};

}  // namespace certus
