// The derivations of a forest, best first.
#pragma once

#include <vector>

#include "hypergraph/forest.hpp"
#include "hypergraph/lazy_kbest.hpp"

namespace certus::hypergraph {

class KBest {
 public:
  // Keeps the forest by reference, the scores by value: they are used for as long as derivations are asked for.
  KBest(const Forest& forest, const double* weights);

  KBest(const KBest&) = delete;
  KBest& operator=(const KBest&) = delete;

  // Writes the next derivation and tells whether there was one. *value is its score as the search added it up.
  bool next(std::vector<Edge>& edges, double* value);
  bool too_large() const { return too_large_; }
  double best() const { return in_[f_.goal()]; }
  const double* weights() const { return weights_.data(); }
  Index expanded() const { return search_.expanded(); }

 private:
  struct View {
    const Forest& f;
    const double* weights;
    const double* in;

    Index nodes() const { return f.nodes; }
    double inside(Node v) const { return in[v]; }
    Edge best(Node v) const;
    template <class Use>
    void edges(Node v, const Use& use) const {
      for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e) use(e);
    }
    Edge arity(Edge e) const { return f.tail_begin[e + 1] - f.tail_begin[e]; }
    Node tail(Edge e, Edge i) const { return f.tail[f.tail_begin[e] + i]; }
    double weight(Edge e) const { return weights[e]; }
    double term(Edge e) const;
  };

  bool extract(std::size_t rank, std::vector<Edge>& edges);

  const Forest& f_;
  const std::vector<double> weights_, in_;
  LazyKBest<View> search_;
  std::size_t given_ = 0;
  bool too_large_ = false;
};

}  // namespace certus::hypergraph
