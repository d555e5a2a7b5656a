#include "chain/search/changing_labels.hpp"

#include <bit>

namespace certus {
namespace {

// The first label is in no rest: -1.
Index find_block(Index rank) { return std::bit_width(static_cast<std::uint64_t>(rank)) - 1; }

std::shared_ptr<DegenerateTables<float>> prepare(const Model<float>& model) {
  degenerate_tables(model);
  return *model.degenerate.find();
}

}  // namespace

ChangingLabels::ChangingLabels(const Model<float>& model) : tables_(prepare(model)) {
  for (Index r = 0; r < labels_; ++r) rank_[tables_->order[r]] = r;
  Heed heed;
  for (Index i = 0; i < labels_; ++i, heed(4 * labels_)) {
    const Index from = find_block(i);
    for (Index j = 0; j < labels_; ++j) {
      const Index to = find_block(j);
      const float score = at(i, j);
      if (to >= 0) leave_[to * labels_ + i].add(score);
      if (from >= 0) enter_[from * labels_ + j].add(score);
      if (from >= 0 && to >= 0) between_[from * levels_ + to] = std::max(between_[from * levels_ + to], score);
    }
  }
}

void ChangingLabels::set(Label i, Label j, float score) {
  const Index from = rank_[i], to = rank_[j], from_block = find_block(from), to_block = find_block(to);
  float& place = tables_->ranked[from * tables_->stride + to];
  const float before = place;
  place = score;
  if (score == before) return;
  if (to_block >= 0) {
    Largest& leave = leave_[to_block * labels_ + from];
    const float most = leave.score;
    if (change(leave, to_block, before, score, [&](Index rank) { return at(from, rank); })) {
      accumulate(leave_, tables_->leave, from, to_block);
      if (from_block >= 0) change_between(from_block, to_block, most, leave.score);
    }
  }
  if (from_block >= 0) {
    Largest& enter = enter_[from_block * labels_ + to];
    if (change(enter, from_block, before, score, [&](Index rank) { return at(rank, to); }))
      accumulate(enter_, tables_->enter, to, from_block);
  }
}

template <class Score>
ChangingLabels::Largest ChangingLabels::find_largest(Index block, const Score& score) const {
  Largest out;
  for (Index r = tables_->active(block); r < tables_->active(block + 1); ++r) out.add(score(r));
  return out;
}

// Takes over that a score of a block changed, and tells whether its largest one did; score(rank) are those of now.
template <class Score>
bool ChangingLabels::change(Largest& largest, Index block, float before, float after, const Score& score) const {
  const float most = largest.score;
  if (before == most) --largest.count;
  largest.add(after);
  if (largest.count == 0) largest = find_largest(block, score);
  return largest.score != most;
}

// The rest of a level is its block with the rest of the next level.
void ChangingLabels::accumulate(const Blocks& blocks, std::vector<float>& table, Index rank, Index block) const {
  const Label y = tables_->order[rank];
  for (Index m = block; m >= 0; --m) {
    const float later = m + 1 < levels_ ? table[(m + 1) * labels_ + y] : kNever<float>;
    table[m * labels_ + y] = std::max(blocks[m * labels_ + rank].score, later);
  }
}

void ChangingLabels::change_between(Index from, Index to, float before, float after) {
  float& most = between_[from * levels_ + to];
  if (after < most && before < most) return;
  if (after >= most) most = after;
  else most = find_largest(from, [&](Index rank) { return leave_[to * labels_ + rank].score; }).score;
  for (Index a = from; a >= 0; --a)
    for (Index b = to; b >= 0; --b) {
      float largest = between_[a * levels_ + b];
      if (a + 1 < levels_) largest = std::max(largest, tables_->between[(a + 1) * levels_ + b]);
      if (b + 1 < levels_) largest = std::max(largest, tables_->between[a * levels_ + b + 1]);
      tables_->between[a * levels_ + b] = largest;
    }
}

}  // namespace certus
