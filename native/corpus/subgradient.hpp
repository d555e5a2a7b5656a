// Dual decomposition as Rush et al. (2012, §6, figure 2) have it: sentences and consensus nodes choose the labels of
// words apart, multipliers u of words and labels make them agree.
//
//   L(u) = sum_c max_{z, w} [ g_c(z, w) + u . w ] + sum_b max_y [ f_b(y) - u . y ],   u <- u - a (w - y)
//
// Lazy: a block is decoded again, and a node solved again, only if multipliers of its words changed. Each component has
// a step of its own, a = rate / (1 + times its bound has risen) (Koo et al. 2010), and is done when all its words
// agree.
#pragma once

#include <vector>

#include "corpus/field.hpp"

namespace certus::corpus {

class Subgradient {
 public:
  Subgradient(Field& field, double rate, bool lazy);

  struct Step {
    Index blocks = 0, nodes = 0, disagree = 0;  // solved anew; words that differ
    double bound = 0;                           // of all components: the best of each
  };
  Step iterate();
  // Gives the nodes of finished components their labels for good, and those of the others the best for the words as
  // they are; returns what is not finished.
  Region finish();

 private:
  struct Component {
    Region region;
    double last = 0, best = 0;
    Index risen = 0;
    bool done = false;
  };
  void solve(Component& component, Step& step);
  Index update(Component& component);

  Field& field_;
  double rate_;
  bool lazy_;
  std::vector<Component> components_;
  std::vector<double> u_, minus_u_;  // [candidates]: what nodes and blocks add
  std::vector<double> block_value_, node_value_;
  std::vector<std::uint8_t> block_dirty_, node_dirty_;
  std::vector<std::int32_t> by_block_, by_node_;  // [slots]: candidates that they choose
  std::vector<std::int32_t> label_;               // [nodes]: values
  std::vector<Label> labels_;                     // of a block
};

}  // namespace certus::corpus
