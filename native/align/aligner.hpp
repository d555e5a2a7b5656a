// A trained aligner: posterior links of pairs that need not be among those it learned from.
#pragma once

#include <string>
#include <unordered_map>

#include "align/trainer.hpp"

namespace certus::align {

// What a model file holds; index 0 and 1 is the direction, see bitext.hpp.
struct Tables {
  std::vector<std::string> words[2];
  std::vector<Index> begin;    // [source words + 1]: where the pairs of each begin
  std::vector<Word> target;    // [pairs of words], ascending for each source word
  std::vector<float> lexical;  // [pairs of words][2]
  std::vector<float> norm[2];  // see Trainer::Knowledge
  std::vector<float> share[2];
  std::vector<float> nothing[2];
  std::vector<float> fertility[2];
  std::vector<double> jumps[2];
  std::vector<Index> stem_begin;  // [source stems + 1]
  std::vector<std::uint32_t> stem_target;
  std::vector<float> stem_probability;  // [pairs of stems][2]
  std::vector<double> unknown;          // [2]: the probability that nothing generates a word never seen
};

// Calls visit(name, array) for all arrays of numbers, as a model file calls them.
template <class AnyTables, class Visit>
void visit_arrays(AnyTables& tables, const Visit& visit) {
  visit("begin", tables.begin);
  visit("target", tables.target);
  visit("lexical", tables.lexical);
  visit("stem_begin", tables.stem_begin);
  visit("stem_target", tables.stem_target);
  visit("stem_probability", tables.stem_probability);
  visit("unknown", tables.unknown);
  for (int d = 0; d < 2; ++d) {
    visit(d ? "norm_forward" : "norm_backward", tables.norm[d]);
    visit(d ? "share_forward" : "share_backward", tables.share[d]);
    visit(d ? "null_forward" : "null_backward", tables.nothing[d]);
    visit(d ? "fertility_forward" : "fertility_backward", tables.fertility[d]);
    visit(d ? "jumps_forward" : "jumps_backward", tables.jumps[d]);
  }
}

// Keeps the pairs of words that were linked at least `least` times; others have their prior, which is computed anew.
Tables export_tables(const Trainer& trainer, double least);

class Aligner {
 public:
  // Throws std::invalid_argument where sizes do not fit.
  Aligner(Tables tables, const Priors& priors, const Settings& settings);

  const Tables& tables() const { return tables_; }
  const Settings& settings() const { return settings_; }

  struct Workspace {
    Pair pair;
    Agreement agreement;
    std::vector<Index> ids[2];  // of the words of a pair; -1 for words never seen
    std::vector<const Letters*> letters[2];
    std::vector<Letters> unknown[2];  // of words never seen
    std::vector<Index> stems[2];      // -1 for stems never seen
  };
  using Sentence = std::vector<std::string>;
  void find_posteriors(const Sentence& source, const Sentence& target, Workspace& workspace) const;
  // Fills workspace.pair with the lexical probabilities of a pair.
  void read_pair(const Sentence& source, const Sentence& target, Workspace& workspace) const;

 private:
  void look_up(int side, const Sentence& sentence, Workspace& workspace) const;
  void fill_cell(Index i, Index j, Workspace& workspace) const;

  Tables tables_;
  Priors priors_;
  Settings settings_;
  Jumps jumps_[2];
  std::unordered_map<std::string, Index> ids_[2];
  std::vector<Letters> letters_[2];
  std::unordered_map<Letters, Index> stem_ids_[2];
  std::vector<Index> stems_[2];  // of the words
  float unlikely_;               // what pairs of words have that nothing speaks for, before it is divided by the norm
  float unknown_norm_[2];
  std::vector<float> unknown_fertility_[2];
};

}  // namespace certus::align
