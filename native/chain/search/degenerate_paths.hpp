// What the iterative solvers read from a degenerate lattice after a pass: real paths, which raise the lower
// bound, and degenerate ones, which tell the columns to expand.
#pragma once

#include "chain/search/best_paths.hpp"
#include "chain/search/columns.hpp"
#include "chain/search/degenerate_lattice.hpp"

namespace certus {

template <class Tr>
class DegeneratePaths {
 public:
  // Expands all columns, or only those where a path that was looked at is degenerate (Kaji et al. 2010,
  // section 3.5).
  DegeneratePaths(DegenerateLattice<Tr>& trellis, bool columnwise, Arena& arena)
      : lattice_(trellis), columnwise_(columnwise), arena_(arena) {}

  // Adds the best paths over active labels to the last column, as many as `count`: one per label of that column.
  void add_active(Index count, BestPaths<Tr>& paths) {
    const Arena::Scope scope(arena_);
    const Index s = lattice_.length() - 1, active = lattice_.place(s).active;
    Index* ends = arena_.get<Index>(active);
    Index n = 0;
    for (Index i = 0; i < active; ++i)
      if (lattice_.pure_prefix(s, i) > paths.bound()) ends[n++] = i;
    count = std::min(count, n);
    std::partial_sort(ends, ends + count, ends + n, [&](Index a, Index b) {
      const double x = lattice_.pure_prefix(s, a), y = lattice_.pure_prefix(s, b);
      return x != y ? x > y : a < b;
    });
    for (n = 0; n < count && lattice_.pure_prefix(s, ends[n]) > paths.bound(); ++n) {
      lattice_.trace(ends[n], true, path_);
      for (Index t = 0; t < lattice_.length(); ++t) path_[t] = lattice_.column(t).label[path_[t]];
      paths.add(path_);
    }
  }

  // Writes the best path over active labels if it scores more than `least`.
  bool find_active(double least, Index* path) {
    const Index s = lattice_.length() - 1;
    double most = least;
    Index end = -1;
    for (Index i = 0; i < lattice_.place(s).active; ++i)
      if (lattice_.pure_prefix(s, i) > most) most = lattice_.pure_prefix(s, i), end = i;
    if (end < 0) return false;
    lattice_.trace(end, true, path);
    for (Index t = 0; t < lattice_.length(); ++t) path[t] = lattice_.column(t).label[path[t]];
    return true;
  }

  // Whether the best path has no degenerate label; if it has, remembers where.
  bool best_is_active() {
    lattice_.trace(lattice_.best_end(), false, path_);
    for (Index t = 0; t < lattice_.length(); ++t) path_[t] = lattice_.column(t).label[path_[t]];
    return is_active(path_);
  }

  // The same for a path given by its labels.
  bool is_active(const Index* path) {
    for (Index t = 0; t < lattice_.length(); ++t)
      if (path[t] == DegenerateLattice<Tr>::kRest) wanted_[t] = true;
    return active(path, lattice_.length());
  }
  static bool active(const Index* path, Index length) {
    return std::find(path, path + length, Index{DegenerateLattice<Tr>::kRest}) == path + length;
  }

  // Doubles the active labels of columns; those that cannot reach `least` do not stay.
  void expand(double least) {
    for (Index t = 0; t < lattice_.length(); ++t) {
      if (!columnwise_ || wanted_[t]) lattice_.expand(t, least);
      wanted_[t] = false;
    }
  }
  // Does so in every column, up to some level at least.
  void expand_each(double least, Index level) {
    for (Index t = 0; t < lattice_.length(); ++t) lattice_.expand(t, least, level);
  }
  // Does so again and again in every column, until the labels that are not active cannot reach `least`.
  void expand_all(double least) {
    for (Index t = 0; t < lattice_.length(); ++t) {
      while (lattice_.column(t).rest) lattice_.expand(t, least);
      wanted_[t] = false;
    }
  }

  // Whether no column has a degenerate label.
  bool is_closed() const {
    for (Index t = 0; t < lattice_.length(); ++t)
      if (lattice_.column(t).rest) return false;
    return true;
  }
  // Whether no label is left but those of some columns.
  bool is_within(const Column* columns) const {
    for (Index t = 0; t < lattice_.length(); ++t) {
      const auto& left = lattice_.column(t);
      if (left.rest || !columns[t].contains(left.label, left.active)) return false;
    }
    return true;
  }

 private:
  DegenerateLattice<Tr>& lattice_;
  bool columnwise_;
  Arena& arena_;
  Index* path_ = arena_.get<Index>(lattice_.length());
  bool* wanted_ = arena_.get<bool>(lattice_.length(), false);
};

}  // namespace certus
