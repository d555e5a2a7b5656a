#include "corpus/blocks.hpp"

#include <algorithm>
#include <cmath>

namespace certus::corpus {
namespace {

constexpr double kTaggerRounding = 1e-6;  // of scores of taggers, which are sums in single precision

// The positions from one to another, without the edges into the first.
lattice::Lattice slice(const lattice::Lattice& whole, Index first, Index last) {
  const std::uint32_t begin = whole.begin[first], inner = whole.begin[first + 1], end = whole.begin[last + 1];
  const std::uint32_t edges = whole.edge_begin[inner];
  const auto copy = [&](auto& to, const auto& from, std::uint32_t low, std::uint32_t high) {
    to.assign(from.begin() + low, from.begin() + high);
  };
  lattice::Lattice part;
  copy(part.begin, whole.begin, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last + 2));
  copy(part.label, whole.label, begin, end);
  copy(part.node, whole.node, begin, end);
  copy(part.from, whole.from, begin, end);
  copy(part.edge_begin, whole.edge_begin, begin, end + 1);
  copy(part.edge, whole.edge, edges, whole.edge_begin[end]);
  for (std::uint32_t& s : part.begin) s -= begin;
  for (std::uint32_t s = 0; s < inner - begin; ++s) part.from[s] = part.edge_begin[s] = 0;
  for (std::uint32_t s = inner - begin; s < end - begin; ++s) part.from[s] -= begin;
  for (std::uint32_t s = inner - begin; s <= end - begin; ++s) part.edge_begin[s] -= edges;
  return part;
}

}  // namespace

double Builder::add(const lattice::Lattices& lattices, Index n, Index sentence, Index token, const Index* consensus,
                    Label* labels, double& excess) {
  const double score = lattices.decode(n, {}, labels, scratch_);
  excess = 0;
  if (score == kNever<double>) return score;  // no labels are possible
  const Index T = lattices.length(n);
  const Index words = std::count_if(consensus, consensus + T, [](Index c) { return c >= 0; });
  // All consensus nodes together gain no more than `same` for each of their words over what the best path gets.
  const double most = mrf_.agreement.same * static_cast<double>(words), rounding = kTaggerRounding * std::abs(score);
  outside_ = lattices.outside(n);
  excess = outside_ > score + rounding ? outside_ - score : 0;
  if (!with_outside || excess == -kNever<double> || outside_ <= score - most + rounding) outside_ = kNever<double>;
  for (Index t = 0; t < T; ++t)
    if (consensus[t] < -1) observed_.push_back({-2 - consensus[t], labels[t], 1});
  if (words == 0) return score;
  lattice_ = &lattices.get(n, room_);
  drop(find_path(labels), consensus);
  cut(sentence, token, consensus);
  return score;
}

double Builder::get_edge(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t at = lattice_->edge_begin[to] + (from - lattice_->from[to]);
  return from >= lattice_->from[to] && at < lattice_->edge_begin[to + 1] ? static_cast<double>(lattice_->edge[at])
                                                                         : kNever<double>;
}

// Finds the states of the best labels; where several paths have these labels, those of the best. Returns their score.
double Builder::find_path(const Label* labels) {
  const lattice::Lattice& l = *lattice_;
  const Index P = l.positions();
  kind_.assign(l.size(), 0);
  paths_.best.assign(l.size(), kNever<double>);
  paths_.best[0] = l.node[0];
  for (Index p = 1; p < P; ++p)
    for (std::uint32_t s = l.begin[p]; s < l.begin[p + 1]; ++s) {
      if (p < P - 1 && l.label[s] != labels[p - 1]) {
        kind_[s] = mrf_.agreement.is_close(l.label[s], labels[p - 1]) ? 1 : 2;
        continue;
      }
      const std::uint32_t before = find_source(l, paths_, s);
      paths_.best[s] = paths_.best[before] + get_edge(before, s) + l.node[s];
    }
  const lattice::BestPath best = find_best_end(l, paths_);
  path_.resize(P);
  on_path_.assign(l.size(), 0);
  trace_back(l, paths_, best, [this](Index p, std::uint32_t s) { path_[p] = s, on_path_[s] = 1; });
  return best.score;
}

// Drops the states that are on no path which an optimum of the corpus might need. Where such a path is replaced by the
// best, `score`, its words lose at most `same` each if their labels change, `same - close` if they change to a label
// that is close, and nothing if they do not change: no other path is needed than those that score more with all that
// added.
void Builder::drop(double score, const Index* consensus) {
  const double gains[] = {0, mrf_.agreement.same - mrf_.agreement.close, mrf_.agreement.same};
  const Index P = lattice_->positions();
  rows_.assign(P, nullptr);
  for (Index p = 1; p < P - 1; ++p) rows_[p] = consensus[p - 1] >= 0 ? gains : nullptr;
  find_best_through(*lattice_, paths_, {rows_.data(), kind_.data()});
  kept_.resize(lattice_->size());
  number_.assign(lattice_->size(), -1);
  count_.assign(P, 0);
  for (Index p = 0; p < P; ++p)
    for (std::uint32_t s = lattice_->begin[p]; s < lattice_->begin[p + 1]; ++s) {
      kept_[s] = on_path_[s] || paths_.best[s] + paths_.rest[s] > score;
      if (kept_[s]) number_[s] = static_cast<std::int32_t>(count_[p]++);
    }
}

// Whether the states kept at a position differ in their labels.
bool Builder::is_undecided(Index p) const {
  if (has_outside()) return true;
  const Label label = lattice_->label[path_[p]];
  for (std::uint32_t s = lattice_->begin[p]; s < lattice_->begin[p + 1]; ++s)
    if (kept_[s] && lattice_->label[s] != label) return true;
  return false;
}

void Builder::cut(Index sentence, Index token, const Index* consensus) {
  const Index P = lattice_->positions();
  Index before = 0;
  for (Index p = 1; p <= P; ++p) {
    if (p < P && (count_[p] > 1 || has_outside())) continue;  // past the end there is one state, so to say
    add_piece(before, p, sentence, token, consensus);
    before = p;
  }
  for (Index p = 1; p < P - 1; ++p)
    if (consensus[p - 1] >= 0 && !is_undecided(p))
      observed_.push_back({consensus[p - 1], lattice_->label[path_[p]], 1});
}

// The positions between two cuts, which are a block if a word there is undecided.
void Builder::add_piece(Index before, Index after, Index sentence, Index token, const Index* consensus) {
  const Index end = std::min(after, lattice_->positions() - 1);
  const auto is_slot = [&](Index p) { return consensus[p - 1] >= 0 && is_undecided(p); };
  Index first = before + 1, last = end - 1;
  while (first < end && !is_slot(first)) ++first;
  if (first >= end) return;
  while (!is_slot(last)) --last;
  piece_.clear();
  for (Index p = before + 1; p < after; ++p) add_position(p, before, after);
  trim(first - before - 1, last - before - 1);
  const lattice::Lattice& kept = blocks_.lattice.back();
  blocks_.candidate.resize(blocks_.candidate.size() + kept.size(), -1);
  for (Index p = first; p <= last; ++p) {
    blocks_.slot_at.push_back(is_slot(p) ? blocks_.slots() : -1);
    if (blocks_.slot_at.back() >= 0) add_slot(consensus[p - 1], kept, p - first);
  }
  const PathSum own = along_path(before, after);
  const auto words = static_cast<double>(std::count_if(blocks_.slot_at.end() - (last + 1 - first),
                                                       blocks_.slot_at.end(), [](Index slot) { return slot >= 0; }));
  blocks_.base.push_back(own.score);
  blocks_.magnitude.push_back(own.magnitude + words * mrf_.agreement.same);
  blocks_.outside.push_back(outside_);
  blocks_.sentence.push_back(sentence);
  blocks_.token.push_back(token + first - 1);
  blocks_.position.push_back(blocks_.slot_at.size());
  blocks_.state.push_back(blocks_.candidate.size());
  blocks_.slot.push_back(blocks_.block_of.size());
}

// Keeps the positions of a piece from the first slot to the last as a block; what is best before and after them goes
// into the scores of their states.
void Builder::trim(Index first, Index last) {
  const Index P = piece_.positions();
  lattice::Lattice kept = slice(piece_, first, last), before, after;
  if (first > 0) {
    before = slice(piece_, 0, first);
    std::fill(before.node.begin() + before.begin[first], before.node.end(), 0.0);
    find_best_path(before, paths_of_ends_);
    for (std::uint32_t s = 0; s < kept.begin[1]; ++s) kept.node[s] += paths_of_ends_.best[before.begin[first] + s];
  }
  if (last < P - 1) {
    after = slice(piece_, last, P - 1);
    std::fill_n(after.node.begin(), after.begin[1], 0.0);
    find_best_through(after, paths_of_ends_);
    for (std::uint32_t s = 0; s < after.begin[1]; ++s)
      kept.node[kept.begin[last - first] + s] += paths_of_ends_.rest[s];
  }
  blocks_.lattice.push_back(std::move(kept));
  blocks_.before.push_back(std::move(before));
  blocks_.after.push_back(std::move(after));
}

// The score of the best labels between two cuts, edges from and to the cuts included.
Builder::PathSum Builder::along_path(Index before, Index after) const {
  PathSum sum;
  for (Index p = before + 1; p <= after && p < lattice_->positions(); ++p) {
    const double edge = get_edge(path_[p - 1], path_[p]), node = p < after ? lattice_->node[path_[p]] : 0;
    sum.score += edge + node;
    sum.magnitude += std::abs(edge) + std::abs(node);
  }
  return sum;
}

void Builder::add_position(Index p, Index before, Index after) {
  const bool last = p == after - 1 && after < lattice_->positions();
  for (std::uint32_t s = lattice_->begin[p]; s < lattice_->begin[p + 1]; ++s) {
    if (!kept_[s]) continue;
    double node = lattice_->node[s] + (last ? get_edge(s, path_[after]) : 0);
    std::size_t from = 0;
    if (p == before + 1) node += get_edge(path_[before], s);
    else from = piece_.begin[p - before - 2] + add_edges(s);
    piece_.add_state(lattice_->label[s], node, from);
  }
  if (has_outside()) add_outside(p);
  piece_.end_position();
}

// Adds the state of the path outside at a position of the sentence.
void Builder::add_outside(Index p) {
  if (p > 1) piece_.edge.push_back(0);
  piece_.add_state(p < lattice_->positions() - 1 ? mrf_.agreement.any() : mrf_.agreement.none(), p > 1 ? 0 : outside_,
                   p > 1 ? piece_.begin.back() - 1 : 0);
}

// Adds the edges into a state from those that are kept; returns the number of the first among these.
std::size_t Builder::add_edges(std::uint32_t s) {
  std::int32_t first = -1;
  std::uint32_t source = lattice_->from[s];
  for (std::uint32_t e = lattice_->edge_begin[s]; e < lattice_->edge_begin[s + 1]; ++e, ++source) {
    if (number_[source] < 0) continue;
    if (first < 0) first = number_[source];
    piece_.edge.push_back(lattice_->edge[e]);
  }
  return static_cast<std::size_t>(std::max(first, 0));
}

// A position of the block that is being added holds a word of a consensus node.
void Builder::add_slot(Index consensus, const lattice::Lattice& block, Index position) {
  const std::size_t first = mrf_.candidate_label.size();
  for (std::size_t s = block.begin[position]; s < block.begin[position + 1]; ++s) {
    const auto begin = mrf_.candidate_label.begin() + static_cast<std::ptrdiff_t>(first);
    const auto found = std::find(begin, mrf_.candidate_label.end(), block.label[s]);
    blocks_.candidate[blocks_.state.back() + s] = static_cast<std::int32_t>(found - begin);
    if (found == mrf_.candidate_label.end()) mrf_.candidate_label.push_back(block.label[s]);
  }
  mrf_.node_of.push_back(consensus);
  blocks_.block_of.push_back(blocks_.size());
  mrf_.candidates.push_back(mrf_.candidate_label.size());
}

}  // namespace certus::corpus
