// A first derivation, found in no time: phrases that follow each other in the order of the source.
#pragma once

#include "translate/phrase_graph.hpp"

namespace certus::translate {

// A good one, not always the best; empty where a word has no phrase to be translated in turn.
std::vector<Option> find_monotone(const PhraseGraph& graph);

}  // namespace certus::translate
