// Rules of a hierarchical grammar from aligned sentences (Chiang 2007, section 3.2).
//
// An initial phrase is a pair of spans with links between them of which none leads out, both of whose ends are linked.
// A rule is an initial phrase in which up to two smaller ones became gaps, such that gaps do not touch in the source,
// and a linked pair of words is left. Each initial phrase gives its rules the weight 1 in equal shares. A rule scores
//   log p(source | target),  log lex(source | target),  log p(target | source),  log lex(target | source)
// as a phrase pair does. Gaps are words of the vocabularies: [X] in the source, [X,1] and [X,2] in the target.
#pragma once

#include <string>

#include "translate/phrase_table_builder.hpp"

namespace certus::translate {

inline constexpr std::string_view kSourceGap = "[X]", kFirstGap = "[X,1]", kSecondGap = "[X,2]";

struct SentencePair {
  std::vector<Word> source, target;
  std::vector<std::pair<std::int32_t, std::int32_t>> links;
};

struct GrammarOptions {
  Index longest = 10;     // source words of an initial phrase, and target words
  Index symbols = 5;      // of a source side
  Index least_gap = 2;    // source words of what became a gap
  Index least_count = 2;  // occurrences of a rule with gaps
  Index most = 40;        // target sides of one source side that are kept, by p(target | source)
};

// The rules in the layout of a phrase table. `source` and `target` get the gaps as words, and stay the caller's.
PhraseTableArrays extract_grammar(const std::vector<SentencePair>& pairs, WordTable& source, WordTable& target,
                                  const GrammarOptions& options);

}  // namespace certus::translate
