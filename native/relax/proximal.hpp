// The linear relaxation, solved by a proximal bundle whose quadratic programs are solved by Frank & Wolfe's method in
// blocks, a part at a time (Swoboda & Kolmogorov 2019): it needs nothing of a part but its maximum, does not stall, and
// leaves a mixture of structures in each part that agree in the mean.
#pragma once

#include "relax/dual.hpp"
#include "relax/watch.hpp"

namespace certus::relax {

class Proximal {
 public:
  explicit Proximal(Dual& dual);

  // Minimises the dual over the open parts for at most `passes` passes over them, or until it is at most `target`;
  // leaves the best multipliers found in place, and the dual evaluated. Returns whether the dual fell.
  bool minimize(Index passes, double target, Watch& watch);

  // The mean over a variable's copies of how much the mixtures use it, after minimize().
  double mean(Index v) const { return mean_[v]; }
  const std::vector<double>& mixtures() const { return mixture_; }  // [copies]

 private:
  struct Structure {
    std::vector<Index> used;
    double score = 0;
  };

  void begin();
  void visit(Index p);
  void remember(Index p);
  void mix(Index p, const Structure& structure);
  void apply(Index p);
  double multiplier(Index copy) const;
  double value(Index p, const Structure& structure) const;

  Dual& dual_;
  const Problem& problem_;
  double weight_ = 0;            // of the squared distance
  std::vector<double> center_;   // [copies]: multipliers
  std::vector<double> mixture_;  // [copies]: how much the mixture of the part uses each cell
  std::vector<double> score_;    // [parts]: of the mixture
  std::vector<double> mean_;     // [variables]
  std::vector<double> best_, change_;
  std::vector<std::vector<Structure>> known_;  // [parts]
  std::vector<Index> oldest_;                  // [parts]
  Structure found_;
};

}  // namespace certus::relax
