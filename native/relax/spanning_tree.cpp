// Chu & Liu (1965), Edmonds (1967), in the form for dense graphs that takes O(n^2) steps (Tarjan 1977): a path grows
// backwards along the best edge into its last node; where it bites its tail, the cycle becomes one node; where it
// reaches what is connected to the root, it is connected, too. Each contraction costs a row and a column for each
// node of the cycle, and there are fewer contracted nodes than words.
//
// Trees with one child of the root are the best under pairs (edges from the root, score) in lexical order: fewer such
// edges first. Pairs can be added, subtracted and compared, which is all that the algorithm does with scores, so no
// large constant is needed.
#include "relax/spanning_tree.hpp"

#include <algorithm>
#include <vector>

#include "base/interrupt.hpp"

namespace certus::relax {
namespace {

struct Weight {
  Index roots;  // edges from the root, each counted -1; 0 throughout where it may have several children
  double score;

  bool never() const { return score == kNever<double>; }
  bool operator>(const Weight& other) const {
    if (never() || other.never()) return !never() && other.never();
    return roots != other.roots ? roots > other.roots : score > other.score;
  }
  Weight less(const Weight& other) const { return {roots - other.roots, score - other.score}; }
};

struct Edge {
  Weight weight{0, kNever<double>};
  Label head = -1, word = -1;  // as in the graph before any contraction
};

class Arborescence {
 public:
  Arborescence(const double* scores, Index n, bool single) : N_(n + 1), edges_(N_ * N_), in_(2 * N_), up_(2 * N_, -1) {
    id_.resize(N_);
    gone_.assign(N_, 0);
    for (Index v = 0; v < N_; ++v) id_[v] = static_cast<Label>(v);
    for (Index v = 1; v < N_; ++v)
      for (Index u = 0; u < N_; ++u) {
        const double score = scores[(v - 1) * N_ + u];
        if (u == v || score == kNever<double>) continue;
        at(u, v) = {{single && u == 0 ? -1 : 0, score}, static_cast<Label>(u), static_cast<Label>(v)};
      }
    next_ = static_cast<Label>(N_);
  }

  bool run(bool single, Index* heads, Heed& heed) {
    std::vector<char> joined(N_, 0), on_path(N_, 0);
    joined[0] = 1;
    std::vector<Index> path;
    for (Index start = 1; start < N_; ++start) {
      if (joined[start] || gone_[start]) continue;
      path.assign(1, start);
      on_path[start] = 1;
      while (true) {
        heed(4 * N_);
        const Index v = path.back();
        const Index u = best_into(v);
        if (u < 0) return false;
        if (joined[u]) break;
        if (!on_path[u]) {
          path.push_back(u);
          on_path[u] = 1;
        } else {
          contract(path, u, on_path, heed);
        }
      }
      for (const Index v : path) joined[v] = 1, on_path[v] = 0;
    }
    return expand(single, heads);
  }

 private:
  Edge& at(Index u, Index v) { return edges_[v * N_ + u]; }  // from u into v: one row per v

  // Notes the best edge into v; returns where it comes from, or -1.
  Index best_into(Index v) {
    Index best = -1;
    for (Index u = 0; u < N_; ++u)
      if (!gone_[u] && u != v && at(u, v).weight > (best < 0 ? Weight{0, kNever<double>} : at(best, v).weight))
        best = u;
    if (best >= 0) in_[id_[v]] = at(best, v);
    return best;
  }

  // Makes one node, in the place of u, of the end of the path from u on.
  void contract(std::vector<Index>& path, Index u, std::vector<char>& on_path, Heed& heed) {
    const Label made = next_++;
    std::vector<Index> cycle;
    while (true) {
      cycle.push_back(path.back());
      path.pop_back();
      if (cycle.back() == u) break;
    }
    for (const Index v : cycle) {
      heed(16 * N_);
      up_[id_[v]] = made;
      const Weight taken = in_[id_[v]].weight;
      for (Index w = 0; w < N_; ++w)
        if (!at(w, v).weight.never()) at(w, v).weight = at(w, v).weight.less(taken);
    }
    for (const Index v : cycle) {
      if (v == u) continue;
      for (Index w = 0; w < N_; ++w) {
        if (at(w, v).weight > at(w, u).weight) at(w, u) = at(w, v);
        if (at(v, w).weight > at(u, w).weight) at(u, w) = at(v, w);
      }
      gone_[v] = 1;
      on_path[v] = 0;
    }
    id_[u] = made;
    path.push_back(u);
  }

  // From the edges into contracted nodes to a head for each word: the last node made is opened first.
  bool expand(bool single, Index* heads) {
    std::vector<char> open(next_, 0);
    Index roots = 0;
    for (Label node = next_ - 1; node > 0; --node) {
      if (open[node] || node == 0) continue;
      const Edge edge = in_[node];
      for (Label below = edge.word; below != -1 && !open[below]; below = up_[below]) open[below] = 1;
      heads[edge.word - 1] = edge.head;
      roots += edge.head == 0;
    }
    return !single || roots <= 1;
  }

  Index N_;
  std::vector<Edge> edges_;  // [into][from]
  std::vector<Edge> in_;     // by node, made ones included: the edge it was entered by
  std::vector<Label> up_;    // by node: the one it was contracted into, or -1
  std::vector<Label> id_;    // by place: the node there now
  std::vector<char> gone_;   // by place: contracted into another
  Label next_;
};

}  // namespace

static bool span(const double* scores, Index n, bool single, Index* heads, Heed& heed) {
  heed(2 * n * n);
  return n == 0 || Arborescence(scores, n, single).run(single, heads, heed);
}

bool spanning_tree(const double* scores, Index n, bool single, Index* heads) {
  Heed heed;
  return span(scores, n, single, heads, heed);
}

void tree_max_marginals(const double* scores, Index n, bool single, double* best) {
  const Index N = n + 1;
  std::vector<double> only(scores, scores + n * N);
  std::vector<Index> heads(n);
  Heed heed;
  for (Index i = 0; i < n; ++i) {
    double* row = only.data() + i * N;
    for (Index h = 0; h < N; ++h) {
      std::fill(row, row + N, kNever<double>);
      row[h] = scores[i * N + h];
      double total = kNever<double>;
      if (h != i + 1 && row[h] != kNever<double> && span(only.data(), n, single, heads.data(), heed)) {
        total = 0;
        for (Index j = 0; j < n; ++j) total += scores[j * N + heads[j]];
      }
      best[i * N + h] = total;
    }
    std::copy_n(scores + i * N, N, row);
  }
}

}  // namespace certus::relax
