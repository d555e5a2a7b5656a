// Beam search that ends with a proof: Rush, Chang & Collins, "Optimal beam search for machine translation" (EMNLP
// 2013).
//
// Rounds of Lagrangian relaxation lower the bounds of what surrounds a node; beams over the adjusted scores raise the
// best answer. Both make the next beam drop less that matters, and it is wider, too. A beam that has dropped nothing
// that could be better has proven its answer. The k best are the k best of the states of a beam that dropped nothing
// that could be among them.
#pragma once

#include <memory>
#include <vector>

#include "hypergraph/beam.hpp"
#include "hypergraph/constrained.hpp"
#include "hypergraph/intersection.hpp"

namespace certus::hypergraph {

enum class Plan {
  once,         // one beam of the given width, without relaxation
  alternating,  // a few rounds of relaxation, a beam, and so on
  staged,       // relaxation to its end, then beams
  automatic,    // best first for a while; then alternating, and best first once more when the relaxation is at its end
};

class BeamSearch final : public ConstrainedSearch {
 public:
  // For k = 0 the best alone is looked for, which is quicker than a list of one.
  BeamSearch(const Forest& forest, const double* weights, Rows rows, Plan plan, Index width, Index k);

  struct Listed {
    double score;
    std::vector<Edge> edges;
  };
  const std::vector<Listed>& list() const { return list_; }  // the best, best first; as many as were found, up to k
  double rest() const { return open_; }                      // no derivation but those listed has more

 private:
  void work() override;
  double open() const override { return open_; }
  bool is_over() const override { return over_; }

  void relax();
  void begin_best_first(const Multipliers& at, Index most);
  void search_best_first();
  Signatures& signatures();
  Multipliers choose_multipliers() const;
  void look();
  void list_best(const Beam& beam);
  void close() { open_ = kNever<double>, over_ = true; }
  void lower(double value, double off);

  const Plan plan_;
  const Index k_;
  Index width_, rounds_ = 0, until_ = 0;  // rounds of relaxation since the last beam, and before the next
  Descent descent_;
  bool relaxed_ = false;  // to the end
  const Above above_;
  std::unique_ptr<Signatures> signatures_;
  std::unique_ptr<Intersection> intersection_;
  Multipliers guide_;                // of the intersection
  Index most_made_ = 0;              // states that it may make
  bool to_try_first_, to_try_last_;  // whether it is still to be tried: at the beginning, and after the relaxation
  double open_ = std::numeric_limits<double>::infinity();
  bool over_ = false;
  std::vector<Listed> list_;
};

}  // namespace certus::hypergraph
