// The derivations of a packed sentence, best first.
#pragma once

#include <vector>

#include "hypergraph/lazy_kbest.hpp"
#include "syntax/constituency/derivation.hpp"
#include "syntax/constituency/forest.hpp"

namespace certus::syntax {

class KBest {
 public:
  // The forest must have been maximised, and stay as it is.
  explicit KBest(const Forest& forest) : search_(View(forest)) {}

  // Whether the root has a derivation of this rank; ranks are asked for in order.
  bool has(std::int32_t rank) { return search_.has(0, static_cast<std::size_t>(rank)); }
  double score(std::int32_t rank) { return search_.at(0, static_cast<std::size_t>(rank)).value; }
  // How a node is derived in a derivation of the root that was found.
  Step step(std::int32_t node, std::int32_t rank);

 private:
  struct View {
    explicit View(const Forest& forest);

    Index nodes() const { return static_cast<Index>(forest.symbols().size()); }
    double inside(std::int32_t node) const { return forest.insides()[node]; }
    std::int32_t best(std::int32_t node) const { return forest.choices()[node]; }
    template <class Use>
    void edges(std::int32_t node, const Use& use) const {
      for (std::int32_t n = first[node]; n < first[node + 1]; ++n) use(order[n]);
    }
    std::int32_t arity(std::int32_t edge) const { return edge < 0 ? 0 : forest.edges()[edge].right < 0 ? 1 : 2; }
    std::int32_t tail(std::int32_t edge, std::int32_t i) const {
      return i ? forest.edges()[edge].right : forest.edges()[edge].left;
    }
    double weight(std::int32_t edge) const { return forest.edges()[edge].score; }
    double term(std::int32_t edge) const;

    const Forest& forest;
    std::vector<std::int32_t> first, order;  // edges by head
  };

  LazyKBest<View> search_;
};

}  // namespace certus::syntax
