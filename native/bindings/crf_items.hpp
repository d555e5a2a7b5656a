// Feature dictionaries and lists, as python-crfsuite takes them, to a corpus of feature numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "bindings/arrays.hpp"
#include "bindings/text.hpp"
#include "learn/crf/vocabulary.hpp"

namespace certus {

using namespace learn;

// Reads sentences one at a time. New names are added to the vocabulary, or ignored if it is const.
class CrfReader {
 public:
  CrfReader(CrfVocabulary& vocabulary, std::string name)
      : known_(vocabulary), grows_(&vocabulary), name_(std::move(name)) {}
  CrfReader(const CrfVocabulary& vocabulary, std::string name) : known_(vocabulary), name_(std::move(name)) {}

  void read(nb::handle sentence);

  learn::Corpus corpus;

 private:
  struct Entry {
    std::size_t begin, length;  // of the name, in text_
    double value;
    std::uint64_t hash;
  };

  void token(PyObject* x);
  void item(PyObject* x);
  void pairs(PyObject* dict);
  void pair(PyObject* key, PyObject* value);
  void nest(std::size_t begin, PyObject* value);
  std::size_t begin_name(PyObject* key);
  void finish_name(std::size_t begin, double value);
  void append(PyObject* name);
  double number(PyObject* x, std::size_t begin) const;
  void settle();
  std::string where() const;

  const CrfVocabulary& known_;
  CrfVocabulary* grows_ = nullptr;
  std::string name_;    // what the caller calls the sentences
  std::string text_;    // the names of the token's features
  std::string prefix_;  // of nested ones
  std::vector<Entry> entries_;
  Index sentence_ = 0, token_ = 0;
  Heed heed_;
};

}  // namespace certus
