// Phrase pairs from aligned sentences, with their scores (Och & Ney 2004; Koehn et al. 2003).
//
// A pair of spans is a phrase pair if there is a link between them and none leads out of one. It scores
//   log p(source | target),  log lex(source | target),  log p(target | source),  log lex(target | source)
// with p as below, and lex the product over the words of one side of the mean probability of the words
// that they are linked to (or of none), estimated from the links; of several alignments inside the best counts.
//
// Most phrase pairs occur once, and their relative frequency is 1. So p is smoothed as n-grams are (Foster et al. 2006,
// "Phrasetable smoothing for statistical machine translation"), by modified Kneser-Ney:
//   p(t | s) = (c(s, t) - D(c(s, t))) / c(s)  +  sum over t' of D(c(s, t')) / c(s) * n(t) / n
// with c the counts, D their discounts (kneser_ney.hpp), n(t) in how many different pairs t is, and n their number.
#pragma once

#include "translate/phrase_table_builder.hpp"

namespace certus::translate {

// Sentence pairs as numbers, and the links of each.
struct AlignedText {
  const Word *source_words, *target_words;
  const Index *source_first, *target_first;  // [pairs + 1]
  const std::int32_t *link_source, *link_target;
  const Index* link_first;                  // [pairs + 1]
  Index pairs, source_types, target_types;  // types: one more than the largest number
};

struct ExtractionOptions {
  Index longest = 7;  // words of a phrase
  Index most = 100;   // translations of one source phrase that are kept, by p(target | source)
};

// The scores of phrase pairs of source and target words as numbered; the vocabularies are left to the caller.
PhraseTableArrays extract_phrases(const AlignedText& text, const ExtractionOptions& options);

}  // namespace certus::translate
