#include "syntax/constituency/rules.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/exact_sum.hpp"
#include "base/interrupt.hpp"

namespace certus::syntax {

Rules::Rules(Label symbols, std::vector<Binary> binary, const std::vector<Unary>& unary) : symbols_(symbols) {
  for (const Binary& rule : binary) largest_ = std::max(largest_, std::abs(rule.score));
  lay_out(binary);
  if (std::any_of(unary.begin(), unary.end(), [](const Unary& rule) { return rule.score > 0; })) close<ExactSum>(unary);
  else close<double>(unary);
  list_descents();
}

const Rules::Chain* Rules::chain(Label parent, Label child) const {
  const Chain* end = chains_end(child);
  const Chain* found = std::lower_bound(chains_begin(child), end, parent,
                                        [](const Chain& c, Label symbol) { return c.parent < symbol; });
  return found != end && found->parent == parent ? found : nullptr;
}

void Rules::lay_out(std::vector<Binary>& binary) {
  std::sort(binary.begin(), binary.end(), [](const Binary& a, const Binary& b) {
    return std::tie(a.left, a.right, a.parent, b.score) < std::tie(b.left, b.right, b.parent, a.score);
  });
  const auto same = [](const Binary& a, const Binary& b) {  // given twice: the first one scores most
    return a.left == b.left && a.right == b.right && a.parent == b.parent;
  };
  binary.erase(std::unique(binary.begin(), binary.end(), same), binary.end());
  rule_first_.assign(static_cast<std::size_t>(symbols_) + 1, 0);
  for (const Binary& rule : binary) {
    rules_.push_back({rule.right, rule.parent, static_cast<float>(rule.score)});
    ++rule_first_[rule.left + 1];
  }
  std::partial_sum(rule_first_.begin(), rule_first_.end(), rule_first_.begin());
  std::stable_sort(binary.begin(), binary.end(), [](const Binary& a, const Binary& b) {
    return std::tie(a.parent, b.score) < std::tie(b.parent, a.score);
  });
  expansion_first_.assign(static_cast<std::size_t>(symbols_) + 1, 0);
  for (const Binary& rule : binary) {
    expansions_.push_back({rule.left, rule.right, rule.score});
    ++expansion_first_[rule.parent + 1];
  }
  std::partial_sum(expansion_first_.begin(), expansion_first_.end(), expansion_first_.begin());
}

// For each child the best chains up from it: longest paths by Bellman and Ford, from a queue. A symbol enters the
// queue at most once for each length of a path, so more than `symbols` times only on a positive cycle. Where no rule
// scores above zero there is none, and rounded sums never rise along a cycle either; else sums are exact, since rounded
// ones could rise, and `via` lead in circles.
template <class Sum>
void Rules::close(const std::vector<Unary>& unary) {
  const auto symbols = static_cast<std::size_t>(symbols_);
  std::vector<std::vector<std::pair<Label, double>>> up(symbols);  // [child]
  for (const Unary& rule : unary)
    if (rule.parent != rule.child) up[rule.child].push_back({rule.parent, rule.score});
    else if (rule.score > 0) throw PositiveCycle(rule.child);
  std::vector<Sum> best(symbols);
  std::vector<Label> via(symbols, -1), reached;
  std::vector<std::int32_t> entered(symbols, 0);
  std::vector<char> waiting(symbols, 0), found(symbols, 0);
  Heed heed;
  chain_first_.push_back(0);
  for (Label child = 0; child < symbols_; ++child) {
    std::deque<Label> queue{child};
    best[child] = Sum{};
    found[child] = 1;
    reached.assign(1, child);
    while (!queue.empty()) {
      const Label at = queue.front();
      queue.pop_front();
      waiting[at] = 0;
      if (++entered[at] > symbols_ + 1) throw PositiveCycle(at);
      heed(16 * (1 + static_cast<Index>(up[at].size())));
      for (const auto& [parent, score] : up[at]) {
        Sum sum = best[at] + score;
        if (found[parent] && !(sum > best[parent])) continue;
        if (parent == child) throw PositiveCycle(child);
        if (!found[parent]) reached.push_back(parent), found[parent] = 1;
        best[parent] = std::move(sum);
        via[parent] = at;
        if (!waiting[parent]) queue.push_back(parent), waiting[parent] = 1;
      }
    }
    std::sort(reached.begin(), reached.end());
    for (const Label parent : reached) {
      if (parent != child) {
        chains_.push_back({parent, via[parent], static_cast<double>(best[parent])});
        largest_ = std::max(largest_, std::abs(chains_.back().score));
      }
      found[parent] = 0;
      entered[parent] = 0;
    }
    chain_first_.push_back(static_cast<std::int32_t>(chains_.size()));
  }
}

void Rules::list_descents() {
  descent_first_.assign(static_cast<std::size_t>(symbols_) + 1, 0);
  for (const Chain& chain : chains_) ++descent_first_[chain.parent + 1];
  std::partial_sum(descent_first_.begin(), descent_first_.end(), descent_first_.begin());
  std::vector<std::int32_t> next(descent_first_.begin(), descent_first_.end() - 1);
  descents_.resize(chains_.size());
  for (Label child = 0; child < symbols_; ++child)
    for (const Chain* chain = chains_begin(child); chain != chains_end(child); ++chain)
      descents_[next[chain->parent]++] = {child, chain->score};
}

}  // namespace certus::syntax
