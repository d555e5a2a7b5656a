#include "corpus/blocks.hpp"

#include <algorithm>

namespace certus::corpus {

double Builder::add(const learn::Lattices& lattices, Index n, Index sentence, Index token, const Index* consensus,
                    Label* labels) {
  const double score = lattices.decode(n, {}, labels, scratch_);
  const Index T = lattices.length(n);
  for (Index t = 0; t < T; ++t)
    if (consensus[t] < -1) votes_.push_back({-2 - consensus[t], labels[t]});
  if (std::all_of(consensus, consensus + T, [](Index c) { return c < 0; })) return score;
  arcs_ = lattices.arcs(n);
  link();
  find_path(labels);
  drop(consensus, labels);
  cut(sentence, token, consensus);
  return score;
}

// Sorts arcs by target.
void Builder::link() {
  const std::size_t S = arcs_.label.size(), A = arcs_.target.size();
  into_.assign(S + 1, 0);
  for (const Index s : arcs_.target) ++into_[s + 1];
  for (std::size_t s = 0; s < S; ++s) into_[s + 1] += into_[s];
  order_.resize(A);
  std::vector<std::size_t> next(into_.begin(), into_.end() - 1);
  for (std::size_t a = 0; a < A; ++a) order_[next[arcs_.target[a]]++] = static_cast<Index>(a);
}

// The states of the best labels; where several paths have these labels, those of the best.
void Builder::find_path(const Label* labels) {
  const Index P = static_cast<Index>(arcs_.begin.size()) - 1;
  const std::size_t S = arcs_.label.size();
  forward_.assign(S, kNever<double>);
  std::vector<Index> back(S, -1);
  forward_[0] = arcs_.node[0];
  for (Index p = 1; p < P; ++p)
    for (Index s = arcs_.begin[p]; s < arcs_.begin[p + 1]; ++s) {
      if (p < P - 1 && arcs_.label[s] != labels[p - 1]) continue;
      for (std::size_t i = into_[s]; i < into_[s + 1]; ++i) {
        const double x = forward_[arcs_.origin[order_[i]]] + arcs_.score[order_[i]] + arcs_.node[s];
        if (x > forward_[s]) forward_[s] = x, back[s] = arcs_.origin[order_[i]];
      }
    }
  path_.resize(P);
  path_[P - 1] = std::max_element(forward_.begin() + arcs_.begin[P - 1], forward_.end()) - forward_.begin();
  for (Index p = P - 1; p > 0; --p) path_[p - 1] = back[path_[p]];
  on_path_.assign(S, 0);
  for (const Index s : path_) on_path_[s] = 1;
}

// Drops the states that are on no path whose score, with all that consensus nodes could ever add over what they add to
// the best path, is above that of the best path.
void Builder::drop(const Index* consensus, const Label* labels) {
  const Index P = static_cast<Index>(arcs_.begin.size()) - 1;
  const std::size_t S = arcs_.label.size();
  const double best = forward_[path_[P - 1]];
  bonus_.assign(S, 0);
  for (Index p = 1; p < P - 1; ++p)
    for (Index s = arcs_.begin[p]; consensus[p - 1] >= 0 && s < arcs_.begin[p + 1]; ++s)
      bonus_[s] = agreement_.gain(labels[p - 1], arcs_.label[s]);
  forward_.assign(S, kNever<double>);
  forward_[0] = arcs_.node[0];
  for (std::size_t s = 1; s < S; ++s) {
    for (std::size_t i = into_[s]; i < into_[s + 1]; ++i)
      forward_[s] = std::max(forward_[s], forward_[arcs_.origin[order_[i]]] + arcs_.score[order_[i]]);
    forward_[s] += arcs_.node[s] + bonus_[s];
  }
  backward_.assign(S, kNever<double>);
  std::fill(backward_.begin() + arcs_.begin[P - 1], backward_.end(), 0.0);
  kept_.assign(S, 0);
  for (Index s = static_cast<Index>(S) - 1; s >= 0; --s) {
    kept_[s] = on_path_[s] || forward_[s] + backward_[s] > best;
    const double onward = backward_[s] + arcs_.node[s] + bonus_[s];
    for (std::size_t i = into_[s]; i < into_[s + 1]; ++i) {
      double& before = backward_[arcs_.origin[order_[i]]];
      before = std::max(before, onward + arcs_.score[order_[i]]);
    }
  }
  number_.assign(S, -1);
  count_.assign(P, 0);
  for (Index p = 0; p < P; ++p)
    for (Index s = arcs_.begin[p]; s < arcs_.begin[p + 1]; ++s)
      if (kept_[s]) number_[s] = count_[p]++;
}

// Whether the states kept at a position differ in their labels.
bool Builder::undecided(Index p) const {
  const Label label = arcs_.label[path_[p]];
  for (Index s = arcs_.begin[p]; s < arcs_.begin[p + 1]; ++s)
    if (kept_[s] && arcs_.label[s] != label) return true;
  return false;
}

void Builder::cut(Index sentence, Index token, const Index* consensus) {
  const Index P = static_cast<Index>(arcs_.begin.size()) - 1;
  Index before = 0;
  for (Index p = 1; p <= P; ++p) {
    if (p < P && count_[p] > 1) continue;  // past the end there is one state, so to say
    piece(before, p, sentence, token, consensus);
    before = p;
  }
  for (Index p = 1; p < P - 1; ++p)
    if (consensus[p - 1] >= 0 && !undecided(p)) votes_.push_back({consensus[p - 1], arcs_.label[path_[p]]});
}

// The positions between two cuts, which are a block if a word there is undecided.
void Builder::piece(Index before, Index after, Index sentence, Index token, const Index* consensus) {
  const Index P = static_cast<Index>(arcs_.begin.size()) - 1;
  bool wanted = false;
  for (Index p = before + 1; p < std::min(after, P - 1); ++p) wanted = wanted || (consensus[p - 1] >= 0 && undecided(p));
  if (!wanted) return;
  for (Index p = before + 1; p < after; ++p) {
    add_position(p, before, after);
    blocks_.slot_at.push_back(-1);
    if (p < P - 1 && consensus[p - 1] >= 0 && undecided(p)) add_slot(p, consensus[p - 1]);
  }
  blocks_.base.push_back(along_path(before, after));
  blocks_.sentence.push_back(sentence);
  blocks_.token.push_back(token + before);
  blocks_.position.push_back(blocks_.slot_at.size());
  blocks_.slot.push_back(blocks_.consensus.size());
}

// The score of the best labels between two cuts, arcs from and to the cuts included.
double Builder::along_path(Index before, Index after) const {
  const Index P = static_cast<Index>(arcs_.begin.size()) - 1;
  double sum = 0;
  for (Index p = before + 1; p <= after && p < P; ++p) {
    double arc = kNever<double>;
    for (std::size_t i = into_[path_[p]]; i < into_[path_[p] + 1]; ++i)
      if (arcs_.origin[order_[i]] == path_[p - 1]) arc = std::max(arc, arcs_.score[order_[i]]);
    sum += arc + (p < after ? arcs_.node[path_[p]] : 0);
  }
  return sum;
}

void Builder::add_position(Index p, Index before, Index after) {
  const Index P = static_cast<Index>(arcs_.begin.size()) - 1;
  std::vector<double> leave(static_cast<std::size_t>(arcs_.begin[p + 1] - arcs_.begin[p]), 0.0);
  if (p == after - 1 && after < P) {
    std::fill(leave.begin(), leave.end(), kNever<double>);
    const Index end = path_[after];
    for (std::size_t i = into_[end]; i < into_[end + 1]; ++i)
      leave[arcs_.origin[order_[i]] - arcs_.begin[p]] = arcs_.score[order_[i]];
  }
  for (Index s = arcs_.begin[p]; s < arcs_.begin[p + 1]; ++s) {
    if (!kept_[s]) continue;
    double node = arcs_.node[s] + leave[s - arcs_.begin[p]];
    for (std::size_t i = into_[s]; i < into_[s + 1]; ++i) {
      const Index a = order_[i], from = arcs_.origin[a];
      if (!kept_[from]) continue;
      if (p == before + 1) {
        node += arcs_.score[a];
      } else {
        blocks_.origin.push_back(static_cast<Place>(number_[from]));
        blocks_.score.push_back(arcs_.score[a]);
      }
    }
    blocks_.label.push_back(arcs_.label[s]);
    blocks_.candidate.push_back(-1);
    blocks_.node.push_back(node);
    blocks_.arc.push_back(blocks_.origin.size());
  }
  blocks_.state.push_back(blocks_.label.size());
}

// The position added last holds a word of a consensus node.
void Builder::add_slot(Index p, Index consensus) {
  blocks_.slot_at.back() = blocks_.slots();
  const std::size_t first = blocks_.candidate_label.size();
  for (std::size_t s = blocks_.label.size() - static_cast<std::size_t>(count_[p]); s < blocks_.label.size(); ++s) {
    const auto begin = blocks_.candidate_label.begin() + first;
    const auto found = std::find(begin, blocks_.candidate_label.end(), blocks_.label[s]);
    blocks_.candidate[s] = static_cast<std::int32_t>(found - begin);
    if (found == blocks_.candidate_label.end()) blocks_.candidate_label.push_back(blocks_.label[s]);
  }
  blocks_.consensus.push_back(consensus);
  blocks_.block_of.push_back(blocks_.size());
  blocks_.candidates.push_back(blocks_.candidate_label.size());
}

}  // namespace certus::corpus
