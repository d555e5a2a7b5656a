// The text format of n-gram models: a header with counts, then a section per order, whose lines are
//   log10 probability <tab> words <tab> log10 of the back-off weight
// the last of which is left out where it is 0. Reading and writing of files is somebody else's.
#pragma once

#include <string>

#include "translate/automaton.hpp"

namespace certus::translate {

class ArpaReader {
 public:
  // `unknown`: the log probability of words that the file does not know, if it has no <unk>.
  explicit ArpaReader(double unknown) : unknown_(unknown) {}

  // Reads whole lines. Throws std::invalid_argument with what is wrong in line lines().
  void add_text(std::string_view text);
  // Returns the model, after all lines. N-grams whose parent or suffix is not in the file get them, with the
  // probabilities that backing off gives, so no answer changes.
  Ngrams finish();
  Index lines() const { return lines_; }
  Index added() const { return added_; }  // n-grams that the file lacks

 private:
  enum class Part { before, counts, section, done };

  void read_line(std::string_view line);
  void read_count(std::string_view line);
  void open_section(std::string_view line);
  void close_section();
  void read_word();
  void read_ngram();
  double read_number(std::string_view text, const char* what) const;
  Node ensure(const Word* words, Index length);
  Node add(Index order, Node parent, Word word, Node suffix, double score, double backoff);

  double unknown_;
  Part part_ = Part::before;
  Index lines_ = 0, added_ = 0;
  Index order_ = 0, seen_ = 0;            // of the section that is read: its order, and how many n-grams it had so far
  std::vector<Index> expected_;           // [order - 1] n-grams, as the header says
  std::vector<NodeTable> tables_;         // [order - 2] the n-grams of that order
  std::vector<char> words_seen_;          // [word]
  std::vector<std::string_view> fields_;  // of the line
  std::vector<Word> numbers_;             // of its words
  Ngrams ngrams_;
};

// Writes a model; pieces are in the order of states, which is the order of the file.
class ArpaWriter {
 public:
  ArpaWriter(const Vocabulary& vocabulary, const Automaton& automaton)
      : vocabulary_(vocabulary), automaton_(automaton), origins_(automaton) {}

  // The lines of the arcs of some states, all with contexts of one length.
  std::string write(Index first, Index last) const;

 private:
  Vocabulary vocabulary_;
  Automaton automaton_;
  Origins origins_;
};

}  // namespace certus::translate
