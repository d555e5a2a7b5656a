// What sweeps leave open is solved by trying the labels of its nodes: a node is held to each of its labels in turn,
// iterations and `certify` follow, and what falls apart is solved apart (an AND/OR search with bounds).
#include <algorithm>

#include "base/stopwatch.hpp"
#include "corpus/field.hpp"

namespace certus::corpus {

// What branching changes in a region.
struct Field::Saved {
  std::vector<double> multipliers, totals, bounds, scores;
  std::vector<std::uint8_t> alive;
  std::vector<std::int32_t> choices;

  Saved(const Field& f, const Region& region) {
    for (const Index c : region.nodes) {
      const std::size_t first = f.mrf_.value_begin[c], last = f.mrf_.value_begin[c + 1];
      totals.insert(totals.end(), f.total_.begin() + first, f.total_.begin() + last);
      alive.insert(alive.end(), f.alive_.begin() + first, f.alive_.begin() + last);
      choices.push_back(f.choice_[c]);
      for (std::size_t k = f.mrf_.word_begin[c]; k < f.mrf_.word_begin[c + 1]; ++k) {
        const Index slot = f.mrf_.words[k];
        multipliers.insert(multipliers.end(), f.multipliers(slot), f.multipliers(slot) + (last - first));
      }
    }
    for (const Index b : region.blocks) bounds.push_back(f.bound_[b]), scores.push_back(f.block_score_[b]);
  }

  void restore(Field& f, const Region& region) const {
    auto total = totals.begin(), multiplier = multipliers.begin(), bound = bounds.begin(), score = scores.begin();
    auto one = alive.begin();
    auto choice = choices.begin();
    for (const Index c : region.nodes) {
      const std::size_t first = f.mrf_.value_begin[c], n = f.mrf_.values(c);
      std::copy_n(total, n, f.total_.begin() + first);
      f.alive_count_[c] = 0;
      for (std::size_t v = 0; v < n; ++v) f.alive_count_[c] += f.alive_[first + v] = one[v];
      f.choice_[c] = *choice++;
      total += n, one += n;
      for (std::size_t k = f.mrf_.word_begin[c]; k < f.mrf_.word_begin[c + 1]; ++k, multiplier += n)
        std::copy_n(multiplier, n, f.multipliers(f.mrf_.words[k]));
    }
    for (const Index b : region.blocks) f.bound_[b] = *bound++, f.block_score_[b] = *score++;
  }
};

// The node whose blocks are furthest from what the nodes would choose.
Index Field::find_most_disputed(const Region& region) const {
  Index found = region.nodes.front();
  double most = -1;
  for (const Index c : region.nodes) {
    double gap = 0;
    for (std::size_t k = mrf_.word_begin[c]; k < mrf_.word_begin[c + 1]; ++k) {
      const Index b = blocks_.block_of[mrf_.words[k]];
      gap += bound_[b] - block_score_[b];
    }
    if (gap > most) most = gap, found = c;
  }
  return found;
}

// Tries the labels of one node. The labels known so far are in `choice_`, and then the best that are found; blocks are
// scored with these.
void Field::find_best_branch(const Region& region, Search& search) {
  for (const Index b : region.blocks) evaluate(b);  // nodes were given other labels since
  double least = find_score(region);
  bool found_better = false;
  const Index node = find_most_disputed(region);
  const std::size_t first = mrf_.value_begin[node];
  const Saved saved(*this, region);
  std::vector<std::int32_t> values, best;
  for (const Index c : region.nodes) best.push_back(choice_[c]);
  for (std::size_t v = 0; v < this->mrf_.values(node); ++v)
    if (alive_[first + v]) values.push_back(static_cast<std::int32_t>(v));
  std::stable_sort(values.begin(), values.end(),
                   [&](std::int32_t a, std::int32_t b) { return total_[first + a] > total_[first + b]; });
  for (const std::int32_t value : values) {
    if (search.limit-- <= 0 || read_clock() >= search.end) {
      search.proven = false;
      break;
    }
    choice_[node] = value;
    fix(node);
    Region part = region;
    part.nodes.erase(std::find(part.nodes.begin(), part.nodes.end(), node));
    for (std::size_t k = mrf_.word_begin[node]; k < mrf_.word_begin[node + 1]; ++k) {
      const Index b = blocks_.block_of[mrf_.words[k]];
      bound_[b] = this->search(b, true, nullptr);
      evaluate(b);
    }
    find_disagreeing(part);
    for (Index n = 0; n < search.iterations && !part.disagreeing.empty() && bound(region) > least + tolerance(region);
         ++n)
      iterate(part, n % 4 == 3 ? Reach::near : Reach::disagreeing);
    if (bound(region) > least + tolerance(region)) {
      certify(part);
      for (Region& piece : components(part)) {
        improve(piece);
        find_best_branch(piece, search);
      }
      if (const double found = find_score(region); found > least) {
        least = found, found_better = true;
        for (std::size_t n = 0; n < region.nodes.size(); ++n) best[n] = choice_[region.nodes[n]];
      }
    }
    saved.restore(*this, region);
  }
  if (!found_better) return;
  for (std::size_t n = 0; n < region.nodes.size(); ++n) choice_[region.nodes[n]] = best[n];
  for (const Index b : region.blocks) evaluate(b);
}

// The score of a region whose blocks are scored with the labels of nodes as they are.
double Field::find_score(const Region& region) const {
  double sum = 0;
  for (const Index b : region.blocks) sum += block_score_[b] + find_given(b);
  for (const Index c : region.nodes) sum += prior(c);
  return sum;
}

bool Field::branch(Region& region, Index iterations, Index limit, std::int64_t end) {
  Search search{iterations, limit, end};
  improve(region);
  find_best_branch(region, search);
  if (!search.proven) return false;
  for (const Index b : region.blocks) bound_[b] = block_score_[b] + find_given(b);
  for (const Index c : region.nodes) fix(c);
  return true;
}

}  // namespace certus::corpus
