#include "syntax/constituency/parses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "hypergraph/derivation.hpp"
#include "hypergraph/kbest.hpp"
#include "hypergraph/passes.hpp"

namespace certus::syntax {
namespace {

constexpr double kNoParse = kNever<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMargin = 3;         // of the first forest
constexpr double kWidestMargin = 12;  // of one for which a chart is looked at again
constexpr double kLargestMargin = 40, kLeastMargin = 0.1;
constexpr double kFirstRanks = 3;  // how far below the best the k best are sought first
constexpr int kDoublings = 5;
constexpr std::size_t kTreeBytes = 256;  // of a tree, beside its labels
constexpr double kWhole = 100;           // a margin above which nothing is left out

std::vector<hypergraph::Edge> best_derivation(const ParseForest& forest) {
  std::vector<double> inside(forest.symbols.size());
  hypergraph::max_inside(forest.graph, forest.scores.data(), inside.data());
  std::vector<hypergraph::Edge> edges;
  hypergraph::best_derivation(forest.graph, forest.scores.data(), inside.data(), edges);
  return edges;
}

// Adds the trees of a forest, best first, up to k or to a score below which trees outside the forest may be better.
// Tells whether the forest has no others.
bool add_trees(const Grammar& grammar, const ParseForest& forest, Index k, double least,
               std::vector<WrittenTree>& trees) {
  hypergraph::KBest ranks(forest.graph, forest.scores.data());
  std::set<std::pair<std::vector<Label>, std::vector<std::int32_t>>> seen;
  std::vector<hypergraph::Edge> edges;
  std::size_t bytes = 0;
  Heed heed;
  for (double score = 0; static_cast<Index>(trees.size()) < k;) {
    if (!ranks.next(edges, &score)) return true;
    if (score < least) break;
    WrittenTree tree = write_tree(grammar, forest, edges);
    heed(64 * static_cast<Index>(edges.size()));
    if (!seen.emplace(tree.labels, tree.arity).second) continue;
    bytes += kTreeBytes + sizeof(Label) * (4 * tree.labels.size() + tree.tags.size());
    trees.push_back(std::move(tree));
    if (bytes > kMostBytes)
      throw TooLarge(static_cast<double>(k) * (static_cast<double>(bytes) / static_cast<double>(trees.size())));
  }
  return false;
}

}  // namespace

BestTrees find_best_trees(const Grammar& grammar, const Leaves& leaves, Index k) {
  Chart& chart = Chart::local();
  BestTrees out;
  chart.fill(grammar, leaves, nullptr, 0);
  const double best = chart.best();
  if (best == kNoParse) return out;
  if (k == 1) {
    const ParseForest forest = pack(grammar, chart, leaves, 0);
    out.trees.push_back(write_tree(grammar, forest, best_derivation(forest)));
    out.edges = forest.graph.edges;
    return out;
  }
  double margin = kFirstRanks;
  for (int doubling = 0; static_cast<Index>(out.trees.size()) < k && !out.exhausted; ++doubling, margin *= 2) {
    const bool whole = doubling == kDoublings;
    const ParseForest forest = pack(grammar, chart, leaves, whole ? kInfinity : margin);
    out.trees.clear();
    const bool all = add_trees(grammar, forest, k, whole ? kNoParse : best - margin + chart.rounding(), out.trees);
    out.exhausted = whole && all;
    out.edges = forest.graph.edges;
  }
  return out;
}

Parses::Parses(const Grammar& grammar, Leaves leaves, Index tags)
    : grammar_(grammar), leaves_(std::move(leaves)), tags_(tags) {
  for (Index i = 0; i < leaves_.length(); ++i) {
    std::vector<Label> found;
    for (std::int32_t n = leaves_.first[i]; n < leaves_.first[i + 1]; ++n)
      if (const Label t = grammar.tag[leaves_.leaves[n].symbol]; found.empty() || found.back() != t) found.push_back(t);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    possible_.push_back(std::move(found));
  }
}

// The most that adjustments can add, rounding included, over those a forest was made under; +inf where they allow more.
double Parses::gain(const Slot& slot, const double* adjust) const {
  double sum = 0, mass = 0;
  for (Index i = 0; i < length(); ++i) {
    double most = kNoParse, largest = 0;
    for (const Label t : possible_[i]) {
      const double now = adjust[i * tags_ + t], then = slot.origin[i * tags_ + t];
      if (now == kNoParse) continue;
      if (then == kNoParse) return kInfinity;
      most = std::max(most, now - then);
      largest = std::max(largest, std::abs(now) + std::abs(then));
    }
    sum += most;
    mass += largest;
  }
  return sum + 8 * static_cast<double>(length() + 1) * mass * std::numeric_limits<double>::epsilon();
}

bool Parses::same_forbidden(const Slot& slot, const double* adjust) const {
  for (Index i = 0; i < length(); ++i)
    for (const Label t : possible_[i])
      if ((adjust[i * tags_ + t] == kNoParse) != (slot.origin[i * tags_ + t] == kNoParse)) return false;
  return true;
}

double Parses::maximize(const double* adjust) {
  double best = kNoParse;
  for (current_ = 0; current_ < 3; ++current_)
    if (slots_[current_].forest && answers(slots_[current_], adjust, best)) return best;
  current_ = !slots_[0].forest || same_forbidden(slots_[0], adjust) ? 0 : 1;
  return parse(slots_[current_], adjust);
}

// Whether the best of a forest is the best of all, if need be after more of its chart is packed.
bool Parses::answers(Slot& slot, const double* adjust, double& best) {
  const double most = gain(slot, adjust);
  if (most == kInfinity) return false;
  if (most == kNoParse) return best = kNoParse, true;  // a word has no tag left
  const auto is_enough = [&] { return best >= slot.threshold() + most + slot.rounding; };
  best = slot.forest->maximize(adjust, tags_);
  if (!is_enough()) {
    if (best == kNoParse) return false;
    const double needed = slot.best - best + most + 2 * slot.rounding;
    if (!widen(slot, needed)) return false;
    best = slot.forest->maximize(adjust, tags_);
    if (!is_enough()) return false;
  }
  outside_ = slot.threshold() + most;
  return true;
}

// Packs what is within a margin of the best, if the chart is still there and that is less than parsing anew.
bool Parses::widen(Slot& slot, double margin) const {
  const Chart& chart = Chart::local();
  if (slot.chart != chart.number() || !(slot.margin < margin && margin <= kWidestMargin)) return false;
  margin += 1;
  slot.forest.emplace(pack_within(chart, margin));
  slot.margin = margin;
  return true;
}

double Parses::maximize_kept(const double* adjust) {
  double best = kNoParse;
  for (Index n = 0; n < 3; ++n) {
    if (!slots_[n].forest) continue;
    const double found = slots_[n].forest->maximize(adjust, tags_);
    if (!(found > best)) continue;
    best = found;
    current_ = n;
  }
  return best;
}

double Parses::maximize_unadjusted() {
  const std::vector<double> zero(static_cast<std::size_t>(length() * tags_), 0.0);
  current_ = 2;
  return slots_[2].forest ? slots_[2].forest->maximize(zero.data(), tags_) : parse(slots_[2], zero.data());
}

// Packs what is within a margin of the best, or within a smaller one if that is too much to hold.
ParseForest Parses::pack_within(const Chart& chart, double& margin) const {
  for (;; margin /= 4) {
    try {
      return pack(grammar_, chart, leaves_, margin);
    } catch (const TooLarge&) {
      if (margin < kLeastMargin) throw;
    }
  }
}

double Parses::parse(Slot& slot, const double* adjust) {
  double margin = !slot.forest ? kMargin : std::min(1.5 * slot.margin, kLargestMargin);
  Chart& chart = Chart::local();
  chart.fill(grammar_, leaves_, adjust, tags_);
  slot.forest.emplace(pack_within(chart, margin));  // from here on nothing is interrupted
  ++parsed_;
  slot.origin.assign(adjust, adjust + length() * tags_);
  slot.margin = margin;
  slot.rounding = chart.rounding();
  slot.best = chart.best();
  slot.chart = chart.number();
  outside_ = slot.threshold();
  return slot.forest->maximize(adjust, tags_);
}

WrittenTree Parses::write_best() const {
  const AdjustedForest& adjusted = *slots_[current_].forest;
  std::vector<hypergraph::Edge> edges;
  adjusted.write_best(edges);
  return write_tree(grammar_, adjusted.forest(), edges);
}

Index Parses::edges() const {
  const Slot& slot = slots_[current_];
  return slot.forest ? slot.forest->forest().graph.edges : 0;
}

void Parses::max_marginals(const double* adjust, bool exact, double* out) {
  std::fill(out, out + length() * tags_, kNoParse);
  if (maximize(adjust) == kNoParse) return;
  slots_[current_].forest->max_marginals(tags_, out);
  double outside = outside_;
  Chart& chart = Chart::local();
  for (double margin = 2 * kMargin; exact && outside != kNoParse && !is_covered(adjust, out, outside); margin *= 2) {
    if (margin == 2 * kMargin) {  // the chart must be that of these very adjustments
      ++parsed_;
      chart.fill(grammar_, leaves_, adjust, tags_);
    }
    if (margin > kWhole) margin = kInfinity;
    AdjustedForest wide(pack(grammar_, chart, leaves_, margin));
    wide.maximize(adjust, tags_);
    wide.max_marginals(tags_, out);
    outside = chart.best() - margin + chart.rounding();
  }
  if (outside == kNoParse) return;
  for (Index i = 0; i < length(); ++i)
    for (const Label t : possible_[i])
      if (adjust[i * tags_ + t] != kNoParse) out[i * tags_ + t] = std::max(out[i * tags_ + t], outside);
}

// Whether all cells that are allowed stand above what may be outside of the forest.
bool Parses::is_covered(const double* adjust, const double* cells, double outside) const {
  for (Index i = 0; i < length(); ++i)
    for (const Label t : possible_[i])
      if (adjust[i * tags_ + t] != kNoParse && !(cells[i * tags_ + t] >= outside)) return false;
  return true;
}

}  // namespace certus::syntax
