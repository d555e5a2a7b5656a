#include "lattice/lattices.hpp"

#include <algorithm>

namespace certus::lattice {

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

void Lattices::find_max_marginals(Index n, const Adjustments& adjust, double* best, Scratch& scratch) const {
  std::fill_n(best, length(n) * labels_, kNever<double>);
  if (length(n)) search_through(n, adjust.within(first_[n], first_[n + 1], labels_), best, scratch);
}

LatticeOf<double> Lattices::copy(Index n) const {
  if (length(n)) return copy_lattice(n);
  const Label boundary = static_cast<Label>(labels_);
  return {{0, 1, 2}, {boundary, boundary}, {0, 0}, {0, 0}, {0, 0, 1}, {0}};
}

LatticeOf<double> StoredLattices::copy_lattice(Index n) const {
  const Lattice& l = lattices_[n];
  return {l.begin, l.label, l.node, l.from, l.edge_begin, {l.edge.begin(), l.edge.end()}};
}

// Adjustments of the sentence's tokens, as additions to the states of its positions.
Additions StoredLattices::spread(Index n, const Adjustments& adjust, Scratch& w) const {
  if (adjust.count == 0) return {};
  w.rows.assign(length(n) + 2, nullptr);
  for (Index i = 0; i < adjust.count; ++i) w.rows[adjust.tokens[i] - first_[n] + 1] = adjust.scores + i * labels_;
  return {w.rows.data(), lattices_[n].label.data()};
}

double StoredLattices::search(Index n, const Adjustments& adjust, Label* labels, Scratch& w) const {
  const Lattice& lattice = lattices_[n];
  const BestPath path = find_best_path(lattice, w.paths, spread(n, adjust, w));
  if (path.score == kNever<double>) return kNever<double>;
  trace_labels(lattice, w.paths, path, labels);
  w.path.resize(lattice.positions());
  trace_back(lattice, w.paths, path, [&](Index t, std::uint32_t s) { w.path[t] = s; });
  double sum = 0;
  for (Index t = 1; t < lattice.positions(); ++t) {
    const auto before = static_cast<std::uint32_t>(w.path[t - 1]), s = static_cast<std::uint32_t>(w.path[t]);
    sum += static_cast<double>(lattice.edge[lattice.edge_begin[s] + (before - lattice.from[s])]);
    sum += lattice.node[s];
  }
  return sum;
}

void StoredLattices::search_through(Index n, const Adjustments& adjust, double* best, Scratch& w) const {
  const Lattice& lattice = lattices_[n];
  if (find_best_through(lattice, w.paths, spread(n, adjust, w)) == kNever<double>) return;
  for (Index t = 0; t < length(n); ++t)
    for (std::uint32_t s = lattice.begin[t + 1]; s < lattice.begin[t + 2]; ++s) {
      double& cell = best[t * labels_ + lattice.label[s]];
      cell = std::max(cell, w.paths.best[s] + w.paths.rest[s]);
    }
}

}  // namespace certus::lattice
