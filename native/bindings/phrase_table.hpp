// Tables of phrases, or of rules, between arrays of Python's and the kernels.
#pragma once

#include <string>

#include "bindings/state.hpp"
#include "bindings/vectors.hpp"
#include "translate/phrase_table.hpp"
#include "translate/phrase_table_builder.hpp"

namespace certus {

// A table on arrays of Python's, which it keeps. Their types, sizes and ranges were checked before.
class BoundTable {
 public:
  explicit BoundTable(const nb::dict& arrays)
      : source_(arrays, "source_"),
        target_(arrays, "target_"),
        phrase_first_(get<Index>(arrays, "phrase_first")),
        phrase_words_(get<translate::Word>(arrays, "phrase_words")),
        entry_first_(get<Index>(arrays, "entry_first")),
        target_first_(get<Index>(arrays, "translation_first")),
        target_words_(get<translate::Word>(arrays, "translation_words")),
        scores_(get<float>(arrays, "scores")) {}

  translate::PhraseTable view() const {
    const Index phrases = extent(phrase_first_) - 1, entries = extent(target_first_) - 1;
    return {source_.view(),
            target_.view(),
            phrases,
            entries,
            entries > 0 ? extent(scores_) / entries : 0,
            phrase_first_.data(),
            phrase_words_.data(),
            entry_first_.data(),
            target_first_.data(),
            target_words_.data(),
            scores_.data()};
  }

 private:
  struct Words {
    Flat<const std::uint8_t> bytes;
    Flat<const Index> begin;
    Flat<const std::uint32_t> slots;
    Words(const nb::dict& arrays, const std::string& side)
        : bytes(get<std::uint8_t>(arrays, (side + "bytes").c_str())),
          begin(get<Index>(arrays, (side + "begin").c_str())),
          slots(get<std::uint32_t>(arrays, (side + "slots").c_str())) {}
    translate::Vocabulary view() const {
      return {bytes.data(), begin.data(), slots.data(), extent(begin) - 1, extent(slots)};
    }
  };

  Words source_, target_;
  Flat<const Index> phrase_first_;
  Flat<const translate::Word> phrase_words_;
  Flat<const Index> entry_first_, target_first_;
  Flat<const translate::Word> target_words_;
  Flat<const float> scores_;
};

// The arrays of a vocabulary, after a prefix.
inline void export_words(nb::dict& out, const std::string& side, translate::WordTable& words) {
  out[nb::str((side + "bytes").c_str())] = array(std::move(words.bytes));
  out[nb::str((side + "begin").c_str())] = array(std::move(words.begin));
  out[nb::str((side + "slots").c_str())] = array(std::move(words.slots));
}

inline nb::dict export_table(translate::PhraseTableArrays& table, bool has_words) {
  nb::dict out;
  if (has_words) {
    export_words(out, "source_", table.source);
    export_words(out, "target_", table.target);
  }
  out["phrase_first"] = array(std::move(table.phrase_first));
  out["phrase_words"] = array(std::move(table.phrase_words));
  out["entry_first"] = array(std::move(table.entry_first));
  out["translation_first"] = array(std::move(table.translation_first));
  out["translation_words"] = array(std::move(table.translation_words));
  out["scores"] = array(std::move(table.scores));
  return out;
}

}  // namespace certus
