// A search that fixes one variable after the other and never moves a multiplier: the bound of a node costs no more than
// the maxima of the parts that the last variable is in. It settles what a good dual leaves open of small problems, and
// finds good answers on the way.
#pragma once

#include <functional>
#include <vector>

#include "relax/dual.hpp"
#include "relax/rounding.hpp"
#include "relax/watch.hpp"

namespace certus::relax {

class DepthFirst {
 public:
  DepthFirst(Dual& dual, Rounding& rounding);

  // Searches all of the present state for answers that score more than the best by over `slack`; leaves the state as it
  // was. False: it would take far more than `work`, so there may be more.
  bool search(double slack, Index work, Watch& watch);

  double closed() const { return closed_; }  // the highest bound of what was not searched for lack of a better answer

  std::function<void()> improved;  // called for each better answer, if set

 private:
  struct Frame {
    std::size_t place;  // of the variable, in order_
    bool on, is_second;
    std::size_t trail;  // what was fixed before
  };

  void rank_variables();
  double measure_progress() const;
  std::size_t choose() const;
  // Fixes a variable. False: nothing better than the best answer is left.
  bool enter(Index v, bool on, double slack);
  // Takes the answer of parts that agree. True: nothing below is better, which rounding may hide.
  bool settle();

  Dual& dual_;
  Rounding& rounding_;
  const Problem& problem_;
  std::vector<double> rank_;         // [variables]: by how much the dual falls whatever the variable is
  std::vector<std::uint8_t> is_on_;  // [variables]: what costs less
  std::vector<Index> order_;         // free variables, those first that cost the dual most
  std::vector<Frame> frames_;
  double terms_ = 0;  // Dual::measure_terms() of the state that is searched
  double closed_ = kNever<double>;
  double trial_;  // the share of the work after which the first guess is made
};

}  // namespace certus::relax
