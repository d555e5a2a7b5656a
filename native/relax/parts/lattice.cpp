#include "relax/parts/lattice.hpp"

#include <numeric>

namespace certus::relax {

LatticePart::LatticePart(const lattice::Lattices& lattices, Index sentence, std::vector<double> base,
                         std::vector<Index> cells)
    : TagPart(std::move(base), lattices.length(sentence), lattices.labels(), std::move(cells)),
      lattices_(lattices),
      sentence_(sentence),
      tokens_(words()) {
  std::iota(tokens_.begin(), tokens_.end(), lattices.first()[sentence]);
}

double LatticePart::decode(const double* adjust, Label* labels) {
  const double score = lattices_.decode(sentence_, {tokens_.data(), adjust, words()}, labels, scratch_);
  found_ = std::make_shared<FoundLabels>(FoundLabels{{labels, labels + words()}, score});
  return score;
}

void LatticePart::bound(const double* adjust, double* best) {
  lattices_.find_max_marginals(sentence_, {tokens_.data(), adjust, words()}, best, scratch_);
}

}  // namespace certus::relax
