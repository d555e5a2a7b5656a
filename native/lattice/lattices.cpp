#include "lattice/lattices.hpp"

#include <algorithm>

namespace certus::learn {

Adjustments Adjustments::within(Index first, Index last, Index labels) const {
  const Index* const begin = std::lower_bound(tokens, tokens + count, first);
  const Index* const end = std::lower_bound(begin, tokens + count, last);
  return {begin, scores + (begin - tokens) * labels, end - begin};
}

double Lattices::decode(Index n, const Adjustments& adjust, Label* labels, Scratch& scratch) const {
  if (length(n) == 0) return 0;
  const double score = search(n, adjust.within(first_[n], first_[n + 1], labels_), labels, scratch);
  if (score == kNever<double>) std::fill_n(labels, length(n), -1);
  return score;
}

void Lattices::max_marginals(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const {
  std::fill_n(best, length(n) * labels_, kNever<double>);
  if (length(n)) sweep(n, adjust.within(first_[n], first_[n + 1], labels_), best, scratch);
}

void CascadeLattices::keep(Index n, const Level& level, bool exact) {
  packed_[n] = {level.begin, level.from, level.edge_begin, level.label, level.node, level.edge, exact};
}

// The best way to each state, with adjustments, and where it comes from: the first of the best.
void CascadeLattices::forward(const Packed& p, Index first, const Adjustments& adjust, Scratch& w) const {
  const Index T = static_cast<Index>(p.begin.size()) - 3;
  AdjustmentRows rows(adjust, labels_);
  w.best.assign(p.label.size(), kNever<double>);
  w.back.assign(p.label.size(), 0);
  w.best[0] = 0;
  for (Index t = 1; t < T + 2; ++t) {
    const double* const row = t <= T ? rows.at(first + t - 1) : nullptr;
    for (std::uint32_t s = p.begin[t]; s < p.begin[t + 1]; ++s) {
      std::uint32_t source = p.from[s];
      double most = kNever<double>;
      for (std::uint32_t e = p.edge_begin[s]; e < p.edge_begin[s + 1]; ++e, ++source) {
        const double x = w.best[source] + static_cast<double>(p.edge[e]);
        if (x > most) most = x, w.back[s] = source;
      }
      most += static_cast<double>(p.node[s]);
      w.best[s] = row ? most + row[p.label[s]] : most;
    }
  }
}

double CascadeLattices::search(Index n, const Adjustments& adjust, Label* labels, Scratch& w) const {
  const Packed& p = packed_[n];
  const Index T = length(n);
  forward(p, first_[n], adjust, w);
  const auto last = w.best.begin() + p.begin[T + 1];
  const auto end = std::max_element(last, w.best.end());
  if (*end == kNever<double>) return kNever<double>;
  w.path.resize(T + 1);
  w.path[T] = end - w.best.begin();
  for (Index t = T; t > 0; --t) {
    w.path[t - 1] = w.back[w.path[t]];
    labels[t - 1] = p.label[w.path[t - 1]];
  }
  double sum = 0;
  for (Index t = 0, before = 0; t <= T; before = w.path[t++]) {
    const std::size_t s = static_cast<std::size_t>(w.path[t]);
    sum += static_cast<double>(p.edge[p.edge_begin[s] + static_cast<std::uint32_t>(before) - p.from[s]]);
    sum += static_cast<double>(p.node[s]);
  }
  return sum;
}

void CascadeLattices::sweep(Index n, const Adjustments& adjust, double* best, Scratch& w) const {
  const Packed& p = packed_[n];
  const Index T = length(n);
  forward(p, first_[n], adjust, w);
  w.rest.assign(p.label.size(), kNever<double>);
  std::fill(w.rest.begin() + p.begin[T + 1], w.rest.end(), 0.0);
  for (Index t = T + 1; t > 0; --t) {
    const Index token = first_[n] + t - 1;
    const Adjustments here = t <= T ? adjust.within(token, token + 1, labels_) : Adjustments{};
    for (std::uint32_t s = p.begin[t]; s < p.begin[t + 1]; ++s) {
      double onward = w.rest[s] + static_cast<double>(p.node[s]);
      if (here.count) onward += here.scores[p.label[s]];
      std::uint32_t source = p.from[s];
      for (std::uint32_t e = p.edge_begin[s]; e < p.edge_begin[s + 1]; ++e, ++source)
        w.rest[source] = std::max(w.rest[source], onward + static_cast<double>(p.edge[e]));
      if (t > T) continue;
      double& cell = best[(t - 1) * labels_ + p.label[s]];
      cell = std::max(cell, w.best[s] + w.rest[s]);
    }
  }
}

View CascadeLattices::view(Index n, Room&) const {
  const Packed& p = packed_[n];
  return {length(n) + 2,  p.begin.data(), p.from.data(), p.edge_begin.data(),
          p.label.data(), p.node.data(),  p.edge.data()};
}

Arcs CascadeLattices::arcs(Index n) const {
  const Packed& p = packed_[n];
  const Label boundary = static_cast<Label>(labels_);
  if (p.label.empty()) return {{0, 1, 2}, {boundary, boundary}, {0, 0}, {0}, {1}, {0}};  // the sentence is empty
  Arcs arcs{{p.begin.begin(), p.begin.end()}, p.label, {p.node.begin(), p.node.end()}, {}, {},
            {p.edge.begin(), p.edge.end()}};
  for (std::size_t s = 0; s < p.label.size(); ++s)
    for (std::uint32_t e = p.edge_begin[s]; e < p.edge_begin[s + 1]; ++e) {
      arcs.origin.push_back(p.from[s] + (e - p.edge_begin[s]));
      arcs.target.push_back(static_cast<Index>(s));
    }
  return arcs;
}

}  // namespace certus::learn
