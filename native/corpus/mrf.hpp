// The Markov random field of consensus nodes (Rush et al. 2012, §4): a node for each set of words that should agree,
// joined to each of its words, and nothing else (naive Bayes).
//
// A word has candidates, each with a label: for tagging these are the labels themselves; for parsing, candidates are
// heads and their labels the heads' tags. A node has one of the labels of its words, or none.
#pragma once

#include <vector>

#include "corpus/agreement.hpp"

namespace certus::corpus {

struct Mrf {
  // A word of a node whose label is known, or `count` of them.
  struct Observed {
    Index node;
    Label label;
    double count;
  };

  Agreement agreement;

  // Words: their candidates, and which value of the node a candidate's label is.
  std::vector<Index> node_of;              // [words]
  std::vector<std::size_t> candidates{0};  // [words + 1]
  std::vector<Label> candidate_label;
  std::vector<std::uint32_t> candidate_value;

  // Nodes: their words, and their values: the labels they may have, ascending; the last is none. `prior` is what the
  // observed words of a node add.
  std::vector<std::size_t> word_begin, value_begin;  // [nodes + 1]
  std::vector<Index> words;
  std::vector<Label> value;
  std::vector<double> prior;
  std::vector<double> observed;  // [nodes]: how many words are

  std::size_t values(Index node) const { return value_begin[node + 1] - value_begin[node]; }
  std::size_t size(Index node) const { return word_begin[node + 1] - word_begin[node]; }

  // Sets up the nodes, once words and candidates are there.
  void build(Index nodes, std::vector<Observed> seen);

  // The best labels of a node and of its words, with multipliers u added to candidates, [candidates]: for every label
  // of the node, each word by itself takes its best candidate. Writes the words' choices to `chosen`, [words], as
  // numbers of candidates, and the node's to `best`, as a number of a value; returns the score with multipliers.
  double maximize(Index node, const double* u, std::int32_t* chosen, std::int32_t& best) const;

 private:
  double sum(Index node, std::size_t v, const double* u, std::int32_t* chosen) const;
};

}  // namespace certus::corpus
