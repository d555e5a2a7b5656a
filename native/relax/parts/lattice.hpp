// The label sequences of one sentence that a tagger's search left, as a part: one label per word.
#pragma once

#include "lattice/lattices.hpp"
#include "relax/parts/tags.hpp"

namespace certus::relax {

// A sequence and its score: what LatticePart::structure() refers to.
struct FoundLabels {
  std::vector<Label> labels;  // [words]
  double score;
};

class LatticePart final : public TagPart {
 public:
  // Keeps the lattices by reference. `base` and `cells` as TagPart has them.
  LatticePart(const lattice::Lattices& lattices, Index sentence, std::vector<double> base, std::vector<Index> cells);

  std::shared_ptr<void> structure() const override { return found_; }

 private:
  double decode(const double* adjust, Label* labels) override;
  void bound(const double* adjust, double* best) override;

  const lattice::Lattices& lattices_;
  Index sentence_;
  std::vector<Index> tokens_;  // [words]: as the lattices number them
  lattice::Lattices::Scratch scratch_;
  std::shared_ptr<FoundLabels> found_;
};

}  // namespace certus::relax
