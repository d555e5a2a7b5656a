// Templates made ready to run: which hashes each token needs, and how each template mixes them.
#pragma once

#include <vector>

#include "features/hash.hpp"
#include "features/program.hpp"

namespace certus::features {

// A hash that each token has: of its cell in a column, or of what that looks like.
struct View {
  Function function;
  bool lower;
  std::int32_t column;
  std::size_t plain = 0;  // of a lower-cased text: the view of the text itself, which comes before
  bool operator==(const View&) const = default;
};

// The hashes of a token's prefixes or suffixes, made only where a template asks for them.
struct Affix {
  bool suffix, lower;
  std::int32_t column, longest;
};

struct Operand {
  std::size_t view;
  std::int32_t offset;
};

// A term that has not exactly one value.
struct Several {
  Term term;
  std::size_t affix;  // if it is one
};

inline constexpr std::int32_t kOne = -1;

struct Instruction {
  Key seed;                   // of the template
  std::uint32_t first, last;  // the operands to mix into it
  std::int32_t several;       // the term to go on with, or kOne: there is none
};

struct Plan {
  std::vector<View> views;  // the first is the word
  std::vector<Operand> operands;
  std::vector<Several> severals;
  std::vector<Affix> affixes;
  std::vector<std::int32_t> looked;   // [column] its place among the columns whose looks matter, or -1
  std::vector<std::int32_t> lowered;  // [column] its place among the columns wanted in lower case, or -1
  Index looked_count = 0, lowered_count = 0;
  std::vector<Instruction> code[2];  // for frequent words, for rare words
  bool conditional = false;          // whether the two differ
  bool asks_seen = false;            // whether a template asks what words were seen with
  std::int32_t margin = 0;           // the farthest offset
  std::int32_t longest = 0;          // affix
  Index most = 0;                    // an upper bound on the keys of a token

  // Throws std::invalid_argument if the program is damaged or reads columns that there are not.
  Plan(const std::vector<std::int32_t>& program, Index columns);

 private:
  void add(const Template& each, Key seed);
  void add(const Term& term, Instruction& into);
  std::size_t view(const Term& term);
  std::size_t place_of(const View& wanted);
  std::size_t affix(const Term& term);
};

}  // namespace certus::features
