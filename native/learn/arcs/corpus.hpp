// Dependency trees as the learners of parsers see them.
#pragma once

#include <vector>

#include "features/arc_keys.hpp"

namespace certus::learn {

struct TreeCorpus {
  std::vector<Index> first{0};              // [sentences + 1]: first word
  std::vector<Label> heads, relations;      // [words]: heads count words of the sentence from 1, 0 is the root
  std::vector<features::ArcWords> pruning;  // [sentences] what the templates that choose candidates see,
  std::vector<features::ArcWords> words;    // [sentences] and what the others see

  Index sentences() const { return static_cast<Index>(first.size()) - 1; }
  Index tokens() const { return first.back(); }
  Index length(Index n) const { return first[n + 1] - first[n]; }
  const Label* heads_of(Index n) const { return heads.data() + first[n]; }
  const Label* relations_of(Index n) const { return relations.data() + first[n]; }
};

}  // namespace certus::learn
