// A binarised grammar, and the leaves of a sentence.
#pragma once

#include <utility>
#include <vector>

#include "syntax/constituency/rules.hpp"

namespace certus::syntax {

struct Grammar {
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;
  Grammar(Label start, std::vector<Label> tag, std::vector<Label> label, std::vector<Binary> binary,
          const std::vector<Unary>& unary)
      : rules(static_cast<Label>(tag.size()), std::move(binary), unary),
        start(start),
        tag(std::move(tag)),
        label(std::move(label)) {}

  const Rules rules;
  const Label start;
  const std::vector<Label> tag;    // [symbol] of a preterminal; -1 otherwise
  const std::vector<Label> label;  // [symbol] in trees; -1 if binarisation made it
};

struct Leaf {
  Label symbol;
  double score;
};

// Word i may be derived from the preterminals leaves[first[i], first[i + 1]), ascending.
struct Leaves {
  std::vector<std::int32_t> first;
  std::vector<Leaf> leaves;
  Index length() const { return static_cast<Index>(first.size()) - 1; }
};

}  // namespace certus::syntax
