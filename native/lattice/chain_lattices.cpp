// Lattices that hold all sequences: the chain engine decodes them.
#include <algorithm>

#include "chain/marginals/marginals.hpp"
#include "chain/marginals/max_marginals.hpp"
#include "lattice/lattices.hpp"

namespace certus::learn {

void ChainLattices::add_up(Index n, const Adjustments& adjust, std::vector<double>& scores) const {
  const Index T = length(n), L = labels_;
  const float* const emission = emissions_ + first_[n] * L;
  scores.assign(emission, emission + T * L);
  for (Index i = 0; i < adjust.count; ++i) {
    double* const row = scores.data() + (adjust.tokens[i] - first_[n]) * L;
    for (Index y = 0; y < L; ++y) row[y] += adjust.scores[i * L + y];
  }
}

double ChainLattices::search(Index n, const Adjustments& adjust, Label* labels, Scratch& w) const {
  const Index T = length(n), L = labels_;
  add_up(n, adjust, w.best);
  w.path.resize(T);
  double score = kNever<double>;
  const certus::Sentence<double> sentence{w.best.data(), T, L};
  const Result result = run(*chain_, auto_method(), sentence, Request{}, w.path.data(), &score);
  if (!result.found || result.status != Status::optimal) return kNever<double>;
  std::copy(w.path.begin(), w.path.end(), labels);
  if (adjust.count) {
    add_up(n, {}, w.best);
    path_scores(*chain_, {w.best.data(), T, L}, w.path.data(), 1, &score);
  }
  return score;
}

void ChainLattices::sweep(Index n, const Adjustments& adjust, double* best, Scratch& w) const {
  add_up(n, adjust, w.best);
  certus::max_marginals(*chain_, {w.best.data(), length(n), labels_}, best);
}

View ChainLattices::view(Index n, Room& room) const {
  const Index T = length(n), L = labels_;
  const Dense<double>& tr = chain_->dense();
  const auto size = [](Index x) { return static_cast<std::uint32_t>(x); };
  room.begin = {0}, room.edge_begin = {0};
  room.from.clear(), room.label.clear(), room.node.clear(), room.edge.clear();
  const auto add = [&](Label label, float node, Index from) {
    room.label.push_back(label), room.node.push_back(node), room.from.push_back(size(from));
    room.edge_begin.push_back(size(static_cast<Index>(room.edge.size())));
  };
  add(static_cast<Label>(L), 0, 0);
  for (Index t = 0; t < T; ++t) {
    room.begin.push_back(size(1 + t * L));
    for (Index y = 0; y < L; ++y) {
      if (t == 0) room.edge.push_back(chain_->start() ? static_cast<float>(chain_->start()[y]) : 0);
      for (Index i = 0; t > 0 && i < L; ++i) room.edge.push_back(static_cast<float>(tr.data[i * tr.stride + y]));
      add(static_cast<Label>(y), emissions_[(first_[n] + t) * L + y], t == 0 ? 0 : 1 + (t - 1) * L);
    }
  }
  room.begin.push_back(size(1 + T * L));
  for (Index y = 0; y < L; ++y) room.edge.push_back(chain_->end() ? static_cast<float>(chain_->end()[y]) : 0);
  add(static_cast<Label>(L), 0, 1 + (T - 1) * L);
  room.begin.push_back(size(2 + T * L));
  return room.view();
}

Arcs ChainLattices::arcs(Index n) const {
  const Index T = length(n), L = labels_;
  const Dense<double>& tr = chain_->dense();
  Arcs arcs;
  arcs.begin = {0, 1};
  arcs.label = {static_cast<Label>(L)};
  arcs.node = {0};
  const auto join = [&](Index origin, Index target, double score) {
    if (score == kNever<double>) return;
    arcs.origin.push_back(origin), arcs.target.push_back(target), arcs.score.push_back(score);
  };
  for (Index t = 0; t < T; ++t)
    for (Index y = 0; y < L; ++y) {
      arcs.label.push_back(static_cast<Label>(y));
      arcs.node.push_back(emissions_[(first_[n] + t) * L + y]);
      if (t == 0) join(0, 1 + y, chain_->start() ? chain_->start()[y] : 0.0);
      for (Index i = 0; t > 0 && i < L; ++i) join(1 + (t - 1) * L + i, 1 + t * L + y, tr.data[i * tr.stride + y]);
      if (y == L - 1) arcs.begin.push_back(1 + (t + 1) * L);
    }
  arcs.label.push_back(static_cast<Label>(L));
  arcs.node.push_back(0);
  for (Index y = 0; T > 0 && y < L; ++y) join(1 + (T - 1) * L + y, 1 + T * L, chain_->end() ? chain_->end()[y] : 0.0);
  if (T == 0) join(0, 1, 0.0);
  arcs.begin.push_back(2 + T * L);
  return arcs;
}

}  // namespace certus::learn
