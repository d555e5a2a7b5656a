// Which nodes have their best labels, proven where they are: a corpus hangs together as a whole, its doubts do not.
//
// Multipliers split the bound D into parts, the maxima of blocks and nodes. Labels z of the nodes lose slack against
// them, s_b(z) >= 0 at each block and s_c(z_c) >= 0 at each node, and score D less the sum of all slacks. Let z* be the
// labels with the highest totals, so that s_c(z*) = 0: it loses at torn blocks alone. Let p_c be the price of node c,
// the least slack of any other label.
//
// Take better labels z, and a set K of nodes that hang together through blocks, in which z differs from z* while all
// nodes around have z*. If K can save no more at the torn blocks it touches than the sum of p_c over K, putting z* back
// there loses nothing. So K pays off only if it is near torn blocks: let groups of torn blocks have moats around them,
// as wide as all that the group could save, in which to cross a node costs its price. If no two moats meet, a K that
// touches two groups has crossed both moats, and saves nothing; one that touches a single group does not reach beyond
// its moat. Groups whose moats meet are made one. All nodes beyond the moats keep z*, and so do labels that cost more
// than a moat is wide. (The argument is that of growing moats around the terminals of a Steiner tree.)
//
// Prices are largest if blocks leave all they can to the nodes, as they do at the end of every sweep.
#include <queue>

#include "corpus/field.hpp"

namespace certus::corpus {

// A group of torn blocks, and its moat.
struct Field::Moat {
  using Step = std::pair<double, Index>;  // how far it is to beyond a node, and the node
  double width = 0;
  std::vector<Index> reached;
  std::priority_queue<Step, std::vector<Step>, std::greater<>> shore;
};

// The least that another label than the choice loses at a node.
double Field::price(Index node) const {
  const std::size_t chosen = mrf_.value_begin[node] + choice_[node];
  double next = kNever<double>;
  for (std::size_t v = mrf_.value_begin[node]; v < mrf_.value_begin[node + 1]; ++v)
    if (alive_[v] && v != chosen) next = std::max(next, total_[v]);
  return total_[chosen] - next;
}

// A moat reaches a block from a distance: its nodes, unless it was nearer before. Another moat that is there already
// becomes part of this one, or this of the other, if that is larger. Returns the moat that both are now.
Index Field::reach(Index block, double distance, Index number, std::vector<Moat>& moats) {
  for (std::size_t i = blocks_.slot[block]; i < blocks_.slot[block + 1]; ++i) {
    const Index c = mrf_.node_of[i];
    if (alive_count_[c] == 1) continue;
    if (owner_[c] >= 0 && owner_[c] != number) number = join(number, owner_[c], moats);
    if (owner_[c] == number && distance_[c] <= distance) continue;
    if (owner_[c] < 0) moats[number].reached.push_back(c);
    owner_[c] = static_cast<std::int32_t>(number);
    distance_[c] = distance;
    moats[number].shore.push({distance + price(c), c});
  }
  return number;
}

Index Field::join(Index one, Index other, std::vector<Moat>& moats) {
  if (moats[one].reached.size() < moats[other].reached.size()) std::swap(one, other);
  Moat &larger = moats[one], &smaller = moats[other];
  for (const Index c : smaller.reached) owner_[c] = static_cast<std::int32_t>(one);
  larger.reached.insert(larger.reached.end(), smaller.reached.begin(), smaller.reached.end());
  for (; !smaller.shore.empty(); smaller.shore.pop()) larger.shore.push(smaller.shore.top());
  larger.width += smaller.width;
  smaller = Moat{};
  return one;
}

// Lets a moat grow to its width.
void Field::flood(Index number, std::vector<Moat>& moats) {
  while (!moats[number].shore.empty()) {
    const auto [beyond, c] = moats[number].shore.top();
    if (beyond >= moats[number].width) return;
    moats[number].shore.pop();
    if (beyond > distance_[c] + price(c)) continue;  // it was reached from nearer since
    for (std::size_t k = mrf_.word_begin[c]; k < mrf_.word_begin[c + 1]; ++k)
      number = reach(blocks_.block_of[mrf_.words[k]], beyond, number, moats);
  }
}

// Fixes a node to its choice; multipliers no longer matter.
void Field::fix(Index node) {
  restrict(node, choice_[node]);
  for (std::size_t k = mrf_.word_begin[node]; k < mrf_.word_begin[node + 1]; ++k) {
    std::fill_n(multipliers(mrf_.words[k]), mrf_.values(node), 0.0);
  }
  std::copy_n(mrf_.prior.data() + mrf_.value_begin[node], mrf_.values(node), total_.data() + mrf_.value_begin[node]);
}

void Field::fix(const Region& region) {
  for (const Index c : region.nodes) fix(c);
  for (const Index b : region.blocks) bound_[b] = search(b, true, nullptr);
}

// Drops the labels of the nodes in a moat that cost as much as it is wide.
void Field::narrow(const Moat& moat) {
  for (const Index c : moat.reached) {
    if (distance_[c] + price(c) >= moat.width) continue;
    open_[c] = 1;
    const double most = highest(c);
    for (std::size_t v = mrf_.value_begin[c]; v < mrf_.value_begin[c + 1]; ++v)
      if (alive_[v] && static_cast<std::int32_t>(v - mrf_.value_begin[c]) != choice_[c] &&
          most - total_[v] >= moat.width) {
        alive_[v] = 0;
        --alive_count_[c];
      }
  }
}

void Field::certify(Region& region) {
  total_up(region);
  evaluate(region.nodes, {});
  find_torn(region);
  std::vector<Moat> moats;
  for (const Index b : region.torn) {
    moats.emplace_back();
    moats.back().width = bound_[b] - block_score_[b];
    reach(b, 0, static_cast<Index>(moats.size()) - 1, moats);
  }
  for (std::size_t m = 0; m < moats.size(); ++m)
    if (!moats[m].reached.empty()) flood(static_cast<Index>(m), moats);
  for (const Moat& moat : moats) narrow(moat);
  keep_open(region);
}

// Fixes the nodes that are not open, and leaves the rest. A block whose nodes are all fixed keeps its score at these,
// multipliers added back; one with some of them is solved anew.
void Field::keep_open(Region& region) {
  Region left;
  std::vector<Index> changed;
  for (const Index b : region.blocks) {
    bool open = false, fixed = false;
    double score = block_score_[b];
    for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i) {
      const Index c = mrf_.node_of[i];
      open = open || open_[c];
      fixed = fixed || (!open_[c] && alive_count_[c] > 1);
      score += multipliers(static_cast<Index>(i))[choice_[c]];
    }
    if (open) left.blocks.push_back(b);
    if (open && fixed) changed.push_back(b);
    if (!open) bound_[b] = block_score_[b] = score;
  }
  for (const Index c : region.nodes) {
    if (open_[c]) left.nodes.push_back(c);
    else fix(c);
    open_[c] = 0;
    owner_[c] = -1;
  }
  for (const Index b : changed) {
    bound_[b] = search(b, true, nullptr);
    evaluate(b);
  }
  find_torn(left);
  region = std::move(left);
}

}  // namespace certus::corpus
