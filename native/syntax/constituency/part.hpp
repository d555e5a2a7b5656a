// The trees of one sentence as a part of a decomposition: one tag per word.
#pragma once

#include "relax/parts/tags.hpp"
#include "syntax/constituency/parses.hpp"

namespace certus::syntax {

class ParsePart final : public relax::TagPart {
 public:
  // Keeps the parses by reference. `base` and `cells` as TagPart has them. Throws relax::PartError where the chart
  // takes too much memory.
  ParsePart(Parses& parses, Index tags, std::vector<double> base, std::vector<Index> cells)
      : TagPart(std::move(base), parses.length(), tags, std::move(cells)), parses_(parses) {}

  // Far from where its forest was made, it has to parse anew.
  bool moves_freely() const override { return false; }
  // A WrittenTree.
  std::shared_ptr<void> structure() const override { return found_; }

 private:
  double decode(const double* adjust, Label* tags) override;
  double decode_given(const double* adjust, Label* tags) override;
  void bound(const double* adjust, double* best) override;

  double write_found(double best, Label* tags);
  template <class Work>
  auto check_memory(const Work& work) const;

  Parses& parses_;
  std::shared_ptr<WrittenTree> found_;
};

}  // namespace certus::syntax
