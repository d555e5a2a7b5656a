// A forest whose edges are read from left to right, one symbol at a time.
//
// What edges begin with alike is a prefix, which they share, whatever node they belong to. So each step of a search is
// one of three: a prefix and a word, a prefix and a node, or a prefix that is all of an edge and becomes its node.
#pragma once

#include "translate/hierarchical/target_forest.hpp"

namespace certus::translate {

struct PrefixForest {
  struct Prefix {
    Index parent;  // -1 for the two that edges begin with
    Symbol symbol;
  };
  // What edges begin with: kStart where they read <s>.
  static constexpr Index kAnywhere = 0, kStart = 1;

  std::vector<Prefix> prefixes;
  std::vector<Index> prefix_first;  // [nodes + 1] those that a node needs, beside those of nodes before it
  std::vector<Index> whole;         // [edges] the prefix that is all of it

  explicit PrefixForest(const TargetForest& forest);
};

}  // namespace certus::translate
