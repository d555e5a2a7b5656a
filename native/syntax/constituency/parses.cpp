#include "syntax/constituency/parses.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace certus::syntax {
namespace {

constexpr double kNone = kNever<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMargin = 14;  // of the first forest
constexpr double kLargestMargin = 40;
constexpr double kFirstRanks = 3;  // how far below the best the k best are sought first
constexpr int kDoublings = 5;
constexpr double kWhole = 100;  // a margin above which nothing is left out

}  // namespace

Trees best_trees(const Grammar& grammar, const Leaves& leaves, Index k) {
  Chart& chart = Chart::local();
  Trees out;
  Forest forest;
  chart.fill(grammar, leaves, nullptr, 0);
  const double best = chart.best();
  double margin = k > 1 ? kFirstRanks : 0;
  for (int doubling = 0; best != kNone; ++doubling, margin *= 2) {
    const bool whole = k > 1 && doubling == kDoublings;
    forest.pack(grammar, chart, leaves, whole ? kNone : best - margin);
    forest.maximize(nullptr, 0);
    out.trees.clear();
    out.exhausted = false;
    if (k == 1) {
      write_best(grammar, forest, out.trees.emplace_back());
      break;
    }
    KBest ranks(forest);
    std::set<std::pair<std::vector<Label>, std::vector<std::int32_t>>> seen;
    const auto next = [&](std::int32_t node, std::int32_t rank) { return ranks.step(node, rank); };
    for (std::int32_t rank = 0; static_cast<Index>(out.trees.size()) < k; ++rank) {
      if (!ranks.has(rank)) {
        out.exhausted = whole;
        break;
      }
      if (!whole && ranks.score(rank) < best - margin + chart.rounding()) break;  // others may be better
      Written tree;
      Writer(grammar, forest, next, tree).write(rank);
      if (seen.emplace(tree.labels, tree.arity).second) out.trees.push_back(std::move(tree));
    }
    if (whole || static_cast<Index>(out.trees.size()) == k) break;
  }
  out.edges = static_cast<Index>(forest.edges().size());
  return out;
}

Parses::Parses(const Grammar& grammar, Leaves leaves, Index tags)
    : grammar_(grammar), leaves_(std::move(leaves)), tags_(tags) {
  for (Index i = 0; i < leaves_.length(); ++i) {
    std::set<Label> found;
    for (std::int32_t n = leaves_.first[i]; n < leaves_.first[i + 1]; ++n)
      found.insert(grammar.tag[leaves_.leaves[n].symbol]);
    possible_.emplace_back(found.begin(), found.end());
  }
}

// The most that adjustments can add, over those a forest was made under; +inf where they allow more.
double Parses::gain(const Slot& slot, const double* adjust) const {
  double sum = 0;
  for (Index i = 0; i < length(); ++i) {
    double most = kNone;
    for (const Label t : possible_[i]) {
      const double now = adjust[i * tags_ + t], then = slot.origin[i * tags_ + t];
      if (now == kNone) continue;
      if (then == kNone) return kInfinity;
      most = std::max(most, now - then);
    }
    sum += most;
  }
  return sum;
}

bool Parses::same_forbidden(const Slot& slot, const double* adjust) const {
  for (Index i = 0; i < length(); ++i)
    for (const Label t : possible_[i])
      if ((adjust[i * tags_ + t] == kNone) != (slot.origin[i * tags_ + t] == kNone)) return false;
  return true;
}

double Parses::maximize(const double* adjust) {
  for (Index n = 0; n < 2; ++n) {
    Slot& slot = slots_[n];
    if (slot.origin.empty()) continue;
    const double most = gain(slot, adjust);
    if (most == kInfinity) continue;
    const double best = slot.forest.maximize(adjust, tags_);
    if (most == kNone) return kNone;  // a word has no tag left
    if (best >= slot.threshold + most + slot.rounding) {
      current_ = n;
      outside_ = slot.threshold + most;
      return best;
    }
  }
  const bool fresh = slots_[0].origin.empty() || same_forbidden(slots_[0], adjust);
  current_ = fresh ? 0 : 1;
  return parse(slots_[current_], adjust);
}

double Parses::parse(Slot& slot, const double* adjust) {
  slot.margin = slot.origin.empty() ? kMargin : std::min(1.5 * slot.margin, kLargestMargin);
  ++parsed_;
  slot.origin.assign(adjust, adjust + length() * tags_);
  Chart& chart = Chart::local();
  chart.fill(grammar_, leaves_, adjust, tags_);
  slot.rounding = chart.rounding();
  outside_ = slot.threshold = chart.best() - slot.margin;
  slot.forest.pack(grammar_, chart, leaves_, slot.threshold);
  return slot.forest.maximize(adjust, tags_);
}

void Parses::max_marginals(const double* adjust, bool exact, double* out) {
  const double best = maximize(adjust);
  Slot& slot = slots_[current_];
  if (best == kNone) {
    std::fill(out, out + length() * tags_, kNone);
    return;
  }
  slot.forest.max_marginals(adjust, tags_, out);
  double outside = outside_;
  Chart& chart = Chart::local();
  for (double margin = 2 * kMargin; exact && outside != kNone && !covered(adjust, out, outside); margin *= 2) {
    if (margin == 2 * kMargin) {  // the chart must be that of these very adjustments
      ++parsed_;
      chart.fill(grammar_, leaves_, adjust, tags_);
    }
    if (margin > kWhole) margin = kInfinity;
    Forest wide;
    wide.pack(grammar_, chart, leaves_, chart.best() - margin);
    wide.maximize(adjust, tags_);
    wide.max_marginals(adjust, tags_, out);
    outside = chart.best() - margin + chart.rounding();
  }
  if (outside == kNone) return;
  for (Index i = 0; i < length(); ++i)
    for (const Label t : possible_[i])
      if (adjust[i * tags_ + t] != kNone) out[i * tags_ + t] = std::max(out[i * tags_ + t], outside);
}

// Whether all cells that are allowed stand above what may be outside of the forest.
bool Parses::covered(const double* adjust, const double* cells, double outside) const {
  for (Index i = 0; i < length(); ++i)
    for (const Label t : possible_[i])
      if (adjust[i * tags_ + t] != kNone && !(cells[i * tags_ + t] >= outside)) return false;
  return true;
}

}  // namespace certus::syntax
