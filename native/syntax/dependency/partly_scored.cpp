#include "syntax/dependency/partly_scored.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "syntax/dependency/max_sum.hpp"

namespace certus::syntax {
namespace {

constexpr Index kTables = 10;  // of both sides, as large as contexts times words

Index count_contexts(const Arcs& arcs, bool has_parents) {
  return arcs.words() + 1 + (has_parents ? arcs.size() - arcs.modifiers(0) : 0);
}

}  // namespace

Index PartlyScoredTrees::count_bytes(const Arcs& candidates, bool has_parents) {
  const Index N = candidates.words() + 1;
  return 8 * N * (kTables * count_contexts(candidates, has_parents) + 3 * N) + 8 * candidates.siblings();
}

void PartlyScoredTrees::assign(const Arcs& candidates, const TreeScores<double>& scores, const double* bounds) {
  arcs_ = &candidates;
  scores_ = scores;
  bounds_ = bounds;
  has_parents_ = scores.has_parents();
  size_ = candidates.words() + 1;
  cell_.assign(static_cast<std::size_t>(size_ * size_), -1);
  for (Index a = 0; a < candidates.size(); ++a)
    cell_[candidates.head(a) * size_ + candidates.modifier(a)] = static_cast<Label>(a);
  first_context_.resize(static_cast<std::size_t>(size_) + 1);
  parent_.clear();
  for (Index h = 0; h < size_; ++h) {
    first_context_[h] = static_cast<Index>(parent_.size());
    parent_.push_back(-1);
    if (!has_parents_ || h == 0) continue;
    for (Label i = candidates.into_begin(h); i < candidates.into_begin(h + 1); ++i)
      parent_.push_back(candidates.head(candidates.into(i)));
  }
  contexts_ = first_context_[size_] = static_cast<Index>(parent_.size());
  for (Side* side : {&right_, &left_}) {
    for (std::vector<double>* table : {&side->complete, &side->open, &side->other, &side->incomplete, &side->others})
      table->assign(static_cast<std::size_t>(contexts_ * size_), kNever<double>);
    side->by_end.assign(static_cast<std::size_t>(size_ * size_), kNever<double>);
  }
  split_.resize(static_cast<std::size_t>(candidates.siblings()));
}

double PartlyScoredTrees::score_pair(Index head, Index context, bool right, Index previous, Index next) const {
  const Index side = Arcs::side(head, right);
  double score = 0;
  if (scores_.siblings) score += scores_.siblings[arcs_->sibling(side, previous, next)];
  if (scores_.grandsiblings)
    score += scores_.grandsiblings[arcs_->grandsibling(side, parent_of(head, context), previous, next)];
  return score;
}

double PartlyScoredTrees::score_part(Index head, Index context, bool right, Index previous, Label arc) const {
  double score = scores_.arcs[arc] + score_pair(head, context, right, previous, arcs_->rank(arc));
  if (scores_.grandparents) score += scores_.grandparents[arcs_->grandparent(parent_of(head, context), arc)];
  return score;
}

double PartlyScoredTrees::score_end(Index head, Index context, bool right, Index previous) const {
  if (!is_known(head, context)) return 0;
  return score_pair(head, context, right, previous, arcs_->candidates(Arcs::side(head, right)));
}

void PartlyScoredTrees::start(Index first) {
  first_end_.resize(static_cast<std::size_t>(2 * contexts_));
  ends_.clear();
  for (Index h = first; h < size_; ++h)
    for (Index q = first_context_[h]; q < first_context_[h + 1]; ++q)
      for (const bool right : {false, true}) {
        Side& at = side(right);
        at.complete[q * size_ + h] = score_end(h, q, right, 0);
        at.open[q * size_ + h] = 0;
        if (q == first_context_[h]) at.by_end[h * size_ + h] = at.complete[q * size_ + h];
        first_end_[2 * q + right] = static_cast<Index>(ends_.size());
        for (Index rank = 0; is_known(h, q) && rank < arcs_->candidates(Arcs::side(h, right)); ++rank)
          ends_.push_back(score_end(h, q, right, rank + 1));
      }
}

// For each candidate between, the best that lies between it and the modifier.
void PartlyScoredTrees::build_splits(Index head, Index modifier) {
  const bool right = modifier > head;
  const Index side = Arcs::side(head, right), outer = arcs_->rank(cell_[head * size_ + modifier]);
  const Index context = context_of(head, modifier);
  for (Index inner = 0; inner < outer; ++inner) {
    const Index s = arcs_->modifier(arcs_->candidate(side, inner)), other = context_of(head, s);
    const Index low = std::min(s, modifier);
    split(side, inner, outer) = max_sum(row(right_.complete, right ? other : context) + low,
                                        row(left_.complete, right ? context : other) + low + 1, std::abs(modifier - s));
  }
}

// The best of what lies between a head and a modifier, where `inner` is a table of the head's side.
double PartlyScoredTrees::join(const std::vector<double>& inner, Index head, Index context, Index modifier) const {
  const Index low = std::min(head, modifier), of_modifier = context_of(head, modifier);
  return modifier > head
             ? max_sum(row(inner, context) + low, row(left_.complete, of_modifier) + low + 1, modifier - low)
             : max_sum(row(right_.complete, of_modifier) + low, row(inner, context) + low + 1, head - low);
}

void PartlyScoredTrees::build_arc(Index head, Index modifier, Index context) {
  const bool right = modifier > head;
  Side& at = side(right);
  const Label arc = cell_[head * size_ + modifier];
  double& best = at.incomplete[context * size_ + modifier];
  if (arc < 0 || !is_known(head, context)) {
    best = bound_of(head, modifier) + join(at.open, head, context, modifier);
    if (arc < 0) at.others[context * size_ + modifier] = best;
    return;
  }
  const Index side_number = Arcs::side(head, right), outer = arcs_->rank(arc);
  best = bound_of(head, modifier) + join(at.other, head, context, modifier);
  const double* nearest = row(side(!right).complete, context_of(head, modifier)) + (right ? head + 1 : head - 1);
  best = std::max(best, score_part(head, context, right, 0, arc) + *nearest);
  for (Index inner = 0; inner < outer; ++inner) {
    const Index s = arcs_->modifier(arcs_->candidate(side_number, inner));
    best = std::max(best, score_part(head, context, right, inner + 1, arc) + at.incomplete[context * size_ + s] +
                              split(side_number, inner, outer));
  }
}

// How many candidates of a side are not beyond `end`.
Index PartlyScoredTrees::count_candidates(Index head, Index end) const {
  const Index side = Arcs::side(head, end > head), all = arcs_->candidates(side);
  Index count = 0;
  while (count < all && std::abs(arcs_->modifier(arcs_->candidate(side, count)) - head) <= std::abs(end - head))
    ++count;
  return count;
}

// Lists, for the candidates of a side that are not beyond `end`, what the modifier has on its far side.
void PartlyScoredTrees::list_tails(Index head, Index end) {
  const bool right = end > head;
  const Index side_number = Arcs::side(head, right), count = count_candidates(head, end);
  tails_.clear();
  for (Index rank = 0; rank < count; ++rank) {
    const Index s = arcs_->modifier(arcs_->candidate(side_number, rank));
    tails_.push_back({s, side(right).complete[context_of(head, s) * size_ + end]});
  }
}

void PartlyScoredTrees::complete(Index head, Index end, Index context) {
  const bool right = end > head;
  Side& at = side(right);
  const Index low = right ? head + 1 : end;
  const double other =
      max_sum(row(at.others, context) + low, at.by_end.data() + end * size_ + low, std::abs(end - head));
  double open = other, closed = other;
  const double *incomplete = row(at.incomplete, context), *ends = ends_of(head, context, right);
  for (std::size_t rank = 0; rank < tails_.size(); ++rank) {
    const double sum = incomplete[tails_[rank].modifier] + tails_[rank].score;
    open = std::max(open, sum);
    closed = std::max(closed, ends ? sum + ends[rank] : sum);
  }
  at.other[context * size_ + end] = other;
  at.open[context * size_ + end] = open;
  at.complete[context * size_ + end] = closed;
  if (context == first_context_[head]) at.by_end[end * size_ + head] = closed;
}

void PartlyScoredTrees::build(Index first, relax::Watch* watch) {
  const Index n = size_ - 1;
  Heed heed;
  for (Index length = 1; length <= n - first; ++length)
    for (Index i = first; i + length <= n; ++i) {
      const Index j = i + length;
      Index work = 0;
      for (const auto& [head, end] : {std::pair{i, j}, std::pair{j, i}}) {
        if (head == 0) {
          if (first > 0 || end < head) continue;
        } else if (end == 0) {
          continue;  // the root is nobody's modifier
        }
        if (cell_[head * size_ + end] >= 0) build_splits(head, end);
        list_tails(head, end);
        for (Index q = first_context_[head]; q < first_context_[head + 1]; ++q) {
          if (parent_[q] >= i && parent_[q] <= j) continue;
          build_arc(head, end, q);
          complete(head, end, q);
          work += 4 * length + 16;
        }
      }
      if (watch) (*watch)(work);
      else heed(work);
    }
}

double PartlyScoredTrees::find_root(Index modifier) const {
  const Label arc = cell_[modifier];
  const Index context = context_of(0, modifier);
  const double below = left_.complete[context * size_ + 1] + right_.complete[context * size_ + size_ - 1];
  if (arc < 0) return below + bound_of(0, modifier);
  return below + score_part(0, 0, true, 0, arc) + score_end(0, 0, true, arcs_->rank(arc) + 1);
}

bool PartlyScoredTrees::decode(const Arcs& candidates, const TreeScores<double>& scores, const double* bounds,
                               bool single_root, relax::Watch* watch, Index* heads) {
  assign(candidates, scores, bounds);
  const Index n = size_ - 1, first = single_root ? 1 : 0;
  bound_ = score_end(0, 0, false, 0);
  if (n == 0) {
    bound_ += score_end(0, 0, true, 0);
    return true;
  }
  start(first);
  build(first, watch);
  items_.clear();
  if (!single_root) {
    const double best = right_.complete[n];
    if (best == kNever<double>) return false;
    bound_ += best;
    items_.push_back({Kind::complete, true, 0, 0, n});
  } else {
    Index root = 0;
    double best = kNever<double>;
    for (Index m = 1; m <= n; ++m)
      if (const double value = find_root(m); value > best) best = value, root = m;
    if (root == 0) return false;
    bound_ += best;
    heads[root - 1] = 0;
    const Index context = context_of(0, root);
    items_.push_back({Kind::complete, false, context, root, 1});
    items_.push_back({Kind::complete, true, context, root, n});
  }
  trace(heads);
  return true;
}

// Follows the sums that made up each item; candidates come first among equals.
void PartlyScoredTrees::trace(Index* heads) {
  while (!items_.empty()) {
    const Item item = items_.back();
    items_.pop_back();
    if (item.kind == Kind::incomplete) {
      heads[item.end - 1] = item.head;
      trace_arc(item);
    } else if (item.end != item.head) {
      trace_side(item);
    }
  }
}

void PartlyScoredTrees::trace_side(const Item& item) {
  const Side& at = side(item.right);
  const Index cell = item.context * size_ + item.end;
  const double value = item.kind == Kind::complete ? at.complete[cell]
                       : item.kind == Kind::open   ? at.open[cell]
                                                   : at.other[cell];
  const auto push = [&](Index modifier) {
    items_.push_back({Kind::incomplete, item.right, item.context, item.head, modifier});
    items_.push_back({Kind::complete, item.right, context_of(item.head, modifier), modifier, item.end});
  };
  list_tails(item.head, item.end);
  const double* incomplete = row(at.incomplete, item.context);
  const double* ends = item.kind == Kind::complete ? ends_of(item.head, item.context, item.right) : nullptr;
  for (std::size_t rank = 0; item.kind != Kind::other && rank < tails_.size(); ++rank) {
    const double sum = incomplete[tails_[rank].modifier] + tails_[rank].score;
    if ((ends ? sum + ends[rank] : sum) == value) return push(tails_[rank].modifier);
  }
  const double *others = row(at.others, item.context), *by_end = at.by_end.data() + item.end * size_;
  const Index low = item.right ? item.head + 1 : item.end;
  push(low + find_sum(others + low, by_end + low, value));
}

void PartlyScoredTrees::trace_arc(const Item& item) {
  const auto& [kind, right, context, head, modifier] = item;
  const Side& at = side(right);
  const Label arc = cell_[head * size_ + modifier];
  const Index of_modifier = context_of(head, modifier);
  const bool known = arc >= 0 && is_known(head, context);
  const double value = at.incomplete[context * size_ + modifier];
  const Index side_number = Arcs::side(head, right);
  for (Index inner = 0; known && inner < arcs_->rank(arc); ++inner) {
    const Index s = arcs_->modifier(arcs_->candidate(side_number, inner)), other = context_of(head, s);
    const double between = split(side_number, inner, arcs_->rank(arc));
    if (score_part(head, context, right, inner + 1, arc) + at.incomplete[context * size_ + s] + between != value)
      continue;
    const double* rights = row(right_.complete, right ? other : of_modifier);
    const double* lefts = row(left_.complete, right ? of_modifier : other);
    const Index low = std::min(s, modifier), r = low + find_sum(rights + low, lefts + low + 1, between);
    items_.push_back({Kind::incomplete, right, context, head, s});
    items_.push_back({Kind::complete, right, other, s, right ? r : r + 1});
    items_.push_back({Kind::complete, !right, of_modifier, modifier, right ? r + 1 : r});
    return;
  }
  const Index nearest = right ? head + 1 : head - 1;
  if (known &&
      score_part(head, context, right, 0, arc) + side(!right).complete[of_modifier * size_ + nearest] == value) {
    items_.push_back({Kind::complete, !right, of_modifier, modifier, nearest});
    return;
  }
  const std::vector<double>& inner = known ? at.other : at.open;
  const double between = join(inner, head, context, modifier);
  const double* rights = row(right ? inner : right_.complete, right ? context : of_modifier);
  const double* lefts = row(right ? left_.complete : inner, right ? of_modifier : context);
  const Index low = std::min(head, modifier), r = low + find_sum(rights + low, lefts + low + 1, between);
  items_.push_back({known ? Kind::other : Kind::open, right, context, head, right ? r : r + 1});
  items_.push_back({Kind::complete, !right, of_modifier, modifier, right ? r + 1 : r});
}

}  // namespace certus::syntax
