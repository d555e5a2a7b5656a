// One tag per word, of which some are shared: what tag lattices and the trees of a sentence have in common.
#pragma once

#include "relax/part.hpp"

namespace certus::relax {

class TagPart : public Part {
 public:
  double maximize(std::vector<Index>& used) final;
  bool max_marginals(double* with, double* without) final;
  bool complete(const std::vector<Index>& used, double* score) final;

 protected:
  // base[words][tags]: 0, or -inf for tags that are never allowed. `cells` are those that are shared, in rising order.
  TagPart(std::vector<double> base, Index words, Index tags, std::vector<Index> cells);

  Index words() const { return words_; }
  Index tags() const { return tags_; }

  // The tags of the best structure under adjust[words][tags], into tags[words], and its score without the adjustments;
  // -inf where nothing is left.
  virtual double decode(const double* adjust, Label* tags) = 0;
  // The same for a completion, which may also be -inf where the tags are all given and what has them would take long to
  // find.
  virtual double decode_given(const double* adjust, Label* tags) { return decode(adjust, tags); }
  // best[words][tags]: the best score with adjustments of a structure that has the tag, or a bound on it.
  virtual void bound(const double* adjust, double* best) = 0;

 private:
  void fill_rows();
  void list_used(std::vector<Index>& used) const;

  Index words_, tags_;
  std::vector<double> base_, adjust_, best_;  // [words][tags]
  std::vector<Index> place_;                  // [cells]: where they lie there
  std::vector<Index> cell_;                   // [words][tags]: -1 where a tag is not shared
  std::vector<Index> rows_;                   // the words with shared tags
  std::vector<Label> found_;                  // [words]
};

}  // namespace certus::relax
