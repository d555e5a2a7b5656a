#include "corpus/blocks.hpp"

#include <algorithm>

#include "base/max_sums.hpp"

namespace certus::corpus {

double Builder::add(const learn::Lattices& lattices, Index n, Index sentence, Index token, const Index* consensus,
                    Label* labels, bool& risky) {
  const double score = lattices.decode(n, {}, labels, scratch_);
  const Index T = lattices.length(n);
  risky = false;
  for (Index t = 0; t < T; ++t)
    if (consensus[t] < -1) observed_.push_back({-2 - consensus[t], labels[t], 1});
  if (std::all_of(consensus, consensus + T, [](Index c) { return c < 0; })) return score;
  view_ = lattices.view(n, room_);
  find_path(labels);
  risky = drop(consensus);
  cut(sentence, token, consensus);
  return score;
}

double Builder::arc(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t at = view_.edge_begin[to] + (from - view_.from[to]);
  return from >= view_.from[to] && at < view_.edge_begin[to + 1] ? static_cast<double>(view_.edge[at]) : kNever<double>;
}

// The states of the best labels; where several paths have these labels, those of the best.
void Builder::find_path(const Label* labels) {
  const Index P = view_.positions;
  const std::size_t S = static_cast<std::size_t>(view_.states());
  forward_.assign(S, kNever<double>);
  back_.assign(S, 0);
  forward_[0] = view_.node[0];
  for (Index p = 1; p < P; ++p)
    for (std::uint32_t s = view_.begin[p]; s < view_.begin[p + 1]; ++s) {
      if (p < P - 1 && view_.label[s] != labels[p - 1]) continue;
      std::uint32_t source = view_.from[s];
      for (std::uint32_t e = view_.edge_begin[s]; e < view_.edge_begin[s + 1]; ++e, ++source) {
        const double x = forward_[source] + static_cast<double>(view_.edge[e]) + static_cast<double>(view_.node[s]);
        if (x > forward_[s]) forward_[s] = x, back_[s] = source;
      }
    }
  path_.resize(P);
  path_[P - 1] = static_cast<std::uint32_t>(std::max_element(forward_.begin() + view_.begin[P - 1], forward_.end()) -
                                            forward_.begin());
  for (Index p = P - 1; p > 0; --p) path_[p - 1] = back_[path_[p]];
  on_path_.assign(S, 0);
  for (const std::uint32_t s : path_) on_path_[s] = 1;
}

// Drops the states that are on no path near the best, and says whether an optimum of the corpus might have needed one:
// all consensus nodes together gain no more than `same` for each of their words over what the best path gets.
bool Builder::drop(const Index* consensus) {
  const Index P = view_.positions;
  const std::size_t S = static_cast<std::size_t>(view_.states());
  const double best = forward_[path_[P - 1]];
  const Index words = std::count_if(consensus, consensus + (P - 2), [](Index c) { return c >= 0; });
  const double needed = best - mrf_.agreement.same * static_cast<double>(words),
               least = std::max(needed, best - window);
  forward_[0] = view_.node[0];
  for (std::size_t s = 1; s < S; ++s)
    forward_[s] = largest_sum(forward_.data() + view_.from[s], view_.edge + view_.edge_begin[s],
                              view_.edge_begin[s + 1] - view_.edge_begin[s]) +
                  static_cast<double>(view_.node[s]);
  backward_.assign(S, kNever<double>);
  std::fill(backward_.begin() + view_.begin[P - 1], backward_.end(), 0.0);
  kept_.resize(S);
  number_.assign(S, -1);
  count_.assign(P, 0);
  bool risky = false;
  for (Index p = P - 1; p >= 0; --p)
    for (std::uint32_t s = view_.begin[p]; s < view_.begin[p + 1]; ++s) {
      const double through = forward_[s] + backward_[s];
      kept_[s] = on_path_[s] || through > least;
      risky = risky || (!kept_[s] && through > needed);
      if (kept_[s]) number_[s] = static_cast<std::int32_t>(count_[p]++);
      if (p > 0)
        raise(backward_.data() + view_.from[s], view_.edge + view_.edge_begin[s],
              backward_[s] + static_cast<double>(view_.node[s]), view_.edge_begin[s + 1] - view_.edge_begin[s]);
    }
  return risky;
}

// Whether the states kept at a position differ in their labels.
bool Builder::undecided(Index p) const {
  const Label label = view_.label[path_[p]];
  for (std::uint32_t s = view_.begin[p]; s < view_.begin[p + 1]; ++s)
    if (kept_[s] && view_.label[s] != label) return true;
  return false;
}

void Builder::cut(Index sentence, Index token, const Index* consensus) {
  const Index P = view_.positions;
  Index before = 0;
  for (Index p = 1; p <= P; ++p) {
    if (p < P && count_[p] > 1) continue;  // past the end there is one state, so to say
    piece(before, p, sentence, token, consensus);
    before = p;
  }
  for (Index p = 1; p < P - 1; ++p)
    if (consensus[p - 1] >= 0 && !undecided(p)) observed_.push_back({consensus[p - 1], view_.label[path_[p]], 1});
}

// The positions between two cuts, which are a block if a word there is undecided.
void Builder::piece(Index before, Index after, Index sentence, Index token, const Index* consensus) {
  const Index end = std::min(after, view_.positions - 1);
  bool wanted = false;
  for (Index p = before + 1; p < end && !wanted; ++p) wanted = consensus[p - 1] >= 0 && undecided(p);
  if (!wanted) return;
  for (Index p = before + 1; p < after; ++p) {
    add_position(p, before, after);
    blocks_.slot_at.push_back(-1);
    if (p < end && consensus[p - 1] >= 0 && undecided(p)) add_slot(p, consensus[p - 1]);
  }
  blocks_.base.push_back(along_path(before, after));
  blocks_.sentence.push_back(sentence);
  blocks_.token.push_back(token + before);
  blocks_.position.push_back(blocks_.slot_at.size());
  blocks_.slot.push_back(blocks_.block_of.size());
}

// The score of the best labels between two cuts, arcs from and to the cuts included.
double Builder::along_path(Index before, Index after) const {
  double sum = 0;
  for (Index p = before + 1; p <= after && p < view_.positions; ++p)
    sum += arc(path_[p - 1], path_[p]) + (p < after ? static_cast<double>(view_.node[path_[p]]) : 0);
  return sum;
}

void Builder::add_position(Index p, Index before, Index after) {
  const bool last = p == after - 1 && after < view_.positions;
  for (std::uint32_t s = view_.begin[p]; s < view_.begin[p + 1]; ++s) {
    if (!kept_[s]) continue;
    double node = static_cast<double>(view_.node[s]) + (last ? arc(s, path_[after]) : 0);
    std::uint32_t origin = 0;
    if (p == before + 1) node += arc(path_[before], s);
    else origin = add_arcs(s);
    blocks_.label.push_back(view_.label[s]);
    blocks_.candidate.push_back(-1);
    blocks_.node.push_back(node);
    blocks_.origin.push_back(origin);
    blocks_.arc.push_back(blocks_.score.size());
  }
  blocks_.state.push_back(blocks_.label.size());
}

// The arcs into a state from those that are kept; returns where the first comes from.
std::uint32_t Builder::add_arcs(std::uint32_t s) {
  std::int32_t first = -1;
  std::uint32_t source = view_.from[s];
  for (std::uint32_t e = view_.edge_begin[s]; e < view_.edge_begin[s + 1]; ++e, ++source) {
    if (number_[source] < 0) continue;
    if (first < 0) first = number_[source];
    blocks_.score.push_back(view_.edge[e]);
  }
  return static_cast<std::uint32_t>(std::max(first, 0));
}

// The position added last holds a word of a consensus node.
void Builder::add_slot(Index p, Index consensus) {
  blocks_.slot_at.back() = blocks_.slots();
  const std::size_t first = mrf_.candidate_label.size();
  for (std::size_t s = blocks_.label.size() - static_cast<std::size_t>(count_[p]); s < blocks_.label.size(); ++s) {
    const auto begin = mrf_.candidate_label.begin() + static_cast<std::ptrdiff_t>(first);
    const auto found = std::find(begin, mrf_.candidate_label.end(), blocks_.label[s]);
    blocks_.candidate[s] = static_cast<std::int32_t>(found - begin);
    if (found == mrf_.candidate_label.end()) mrf_.candidate_label.push_back(blocks_.label[s]);
  }
  mrf_.node_of.push_back(consensus);
  blocks_.block_of.push_back(blocks_.size());
  mrf_.candidates.push_back(mrf_.candidate_label.size());
}

}  // namespace certus::corpus
