// The rules of a binarised grammar, laid out for CKY.
//
// A derivation assigns to a span a bottom symbol (a preterminal over a word, or the parent of a binary rule) and
// a top symbol: the bottom one itself, or one above it by a chain of unary rules. Between two symbols only the
// best chain counts, so no cycle is ever walked; where the scores of a cycle add up to more than zero, no best
// chain exists and the grammar is refused.
#pragma once

#include <exception>
#include <vector>

#include "base/types.hpp"

namespace certus::syntax {

struct Binary {
  Label parent, left, right;
  double score;
};
struct Unary {
  Label parent, child;
  double score;
};

// Thrown where unary rules form a cycle whose scores add up to more than zero; `symbol` lies on it.
struct PositiveCycle : std::exception {
  explicit PositiveCycle(Label on) : symbol(on) {}
  Label symbol;
};

class Rules {
 public:
  // The rules of a left child.
  struct Rule {
    Label right, parent;
    float score;  // charts are in single precision; what is proven is not
  };
  // The rules of a parent, the best first.
  struct Expansion {
    Label left, right;
    double score;
  };
  // The best chain of unary rules from `parent` down to a child; `via` comes after the parent on it.
  struct Chain {
    Label parent, via;
    double score;
  };
  // The same chain, for those who look down from its parent.
  struct Descent {
    Label child;
    double score;
  };

  Rules(Label symbols, std::vector<Binary> binary, const std::vector<Unary>& unary);

  Label symbols() const { return symbols_; }
  const Rule* rules() const { return rules_.data(); }
  const Rule* rules_begin(Label left) const { return rules_.data() + rule_first_[left]; }
  const Rule* rules_end(Label left) const { return rules_.data() + rule_first_[left + 1]; }
  std::size_t binary_count() const { return rules_.size(); }
  const Expansion* expansions_begin(Label parent) const { return expansions_.data() + expansion_first_[parent]; }
  const Expansion* expansions_end(Label parent) const { return expansions_.data() + expansion_first_[parent + 1]; }
  const Chain* chains_begin(Label child) const { return chains_.data() + chain_first_[child]; }
  const Chain* chains_end(Label child) const { return chains_.data() + chain_first_[child + 1]; }
  const Descent* descents_begin(Label parent) const { return descents_.data() + descent_first_[parent]; }
  const Descent* descents_end(Label parent) const { return descents_.data() + descent_first_[parent + 1]; }
  const Chain* chain(Label parent, Label child) const;  // null where there is none
  bool tops_chain(Label symbol) const { return descents_begin(symbol) != descents_end(symbol); }
  double largest() const { return largest_; }  // the largest size of a score

 private:
  void lay_out(std::vector<Binary>& binary);
  template <class Sum>
  void close(const std::vector<Unary>& unary);
  void list_descents();

  Label symbols_;
  std::vector<std::int32_t> rule_first_;       // [symbols + 1]
  std::vector<Rule> rules_;                    // by left child, then right child and parent
  std::vector<std::int32_t> expansion_first_;  // [symbols + 1]
  std::vector<Expansion> expansions_;          // by parent, the best first
  std::vector<std::int32_t> chain_first_;      // [symbols + 1]
  std::vector<Chain> chains_;                  // by child, then parent
  std::vector<std::int32_t> descent_first_;    // [symbols + 1]
  std::vector<Descent> descents_;              // by parent, then child
  double largest_ = 0;
};

}  // namespace certus::syntax
