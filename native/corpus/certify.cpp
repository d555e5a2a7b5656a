// Which nodes have their best labels, proven where they are: a corpus hangs together as a whole, its doubts do not.
//
// Multipliers split the bound D into parts, the maxima of blocks and nodes. Labels z of the nodes lose slack against
// them, s_b(z) >= 0 at each block and s_c(z_c) >= 0 at each node, and score D less the sum of all slacks. Let z* be the
// labels with the highest totals, so that s_c(z*) = 0: it loses at blocks that disagree alone. Let p_c be the price of
// node c, the least slack of any other label.
//
// Take better labels z, and a set K of nodes that hang together through blocks, in which z differs from z* while all
// nodes around have z*. If K can save no more at the disagreeing blocks it touches than the sum of p_c over K, putting
// z* back there loses nothing. So K pays off only if it is near such blocks: let groups of them have zones around them,
// as wide as all that the group could save, in which to cross a node costs its price. If no two zones meet, a K that
// touches two groups has crossed both zones, and saves nothing; one that touches a single group does not reach beyond
// its zone. Groups whose zones meet are made one. All nodes beyond the zones keep z*, and so do labels that cost more
// than a zone is wide. (The argument is that of growing moats around the terminals of a Steiner tree.)
//
// Prices are largest if blocks leave all they can to the nodes, as they do at the end of every sweep.
#include <queue>

#include "corpus/field.hpp"

namespace certus::corpus {

// A group of blocks that disagree, and its zone.
struct Field::Zone {
  using Step = std::pair<double, Index>;  // how far it is to beyond a node, and the node
  double width = 0;
  std::vector<Index> reached;
  std::priority_queue<Step, std::vector<Step>, std::greater<>> frontier;
};

// The least that another label than the choice loses at a node.
double Field::find_price(Index node) const {
  const std::size_t chosen = mrf_.value_begin[node] + choice_[node];
  double next = kNever<double>;
  for (std::size_t v = mrf_.value_begin[node]; v < mrf_.value_begin[node + 1]; ++v)
    if (alive_[v] && v != chosen) next = std::max(next, total_[v]);
  return total_[chosen] - next;
}

// A zone reaches a block from a distance: its nodes, unless it was nearer before. Another zone that is there already
// becomes part of this one, or this of the other, if that is larger. Returns the zone that both are now.
Index Field::reach(Index block, double distance, Index number, std::vector<Zone>& zones) {
  for (std::size_t i = blocks_.slot[block]; i < blocks_.slot[block + 1]; ++i) {
    const Index c = mrf_.node_of[i];
    if (alive_count_[c] == 1) continue;
    if (owner_[c] >= 0 && owner_[c] != number) number = join(number, owner_[c], zones);
    if (owner_[c] == number && distance_[c] <= distance) continue;
    if (owner_[c] < 0) zones[number].reached.push_back(c);
    owner_[c] = static_cast<std::int32_t>(number);
    distance_[c] = distance;
    zones[number].frontier.push({distance + find_price(c), c});
  }
  return number;
}

Index Field::join(Index one, Index other, std::vector<Zone>& zones) {
  if (zones[one].reached.size() < zones[other].reached.size()) std::swap(one, other);
  Zone &larger = zones[one], &smaller = zones[other];
  for (const Index c : smaller.reached) owner_[c] = static_cast<std::int32_t>(one);
  larger.reached.insert(larger.reached.end(), smaller.reached.begin(), smaller.reached.end());
  for (; !smaller.frontier.empty(); smaller.frontier.pop()) larger.frontier.push(smaller.frontier.top());
  larger.width += smaller.width;
  smaller = Zone{};
  return one;
}

// Lets a zone grow to its width.
void Field::grow(Index number, std::vector<Zone>& zones) {
  while (!zones[number].frontier.empty()) {
    const auto [beyond, c] = zones[number].frontier.top();
    if (beyond >= zones[number].width) return;
    zones[number].frontier.pop();
    heed_(64 * static_cast<Index>(mrf_.size(c)));
    if (beyond > distance_[c] + find_price(c)) continue;  // it was reached from nearer since
    for (std::size_t k = mrf_.word_begin[c]; k < mrf_.word_begin[c + 1]; ++k)
      number = reach(blocks_.block_of[mrf_.words[k]], beyond, number, zones);
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

// Drops the labels of the nodes in a zone that cost as much as it is wide.
void Field::drop_costly_labels(const Zone& zone) {
  for (const Index c : zone.reached) {
    if (distance_[c] + find_price(c) >= zone.width) continue;
    open_[c] = 1;
    const double most = find_highest(c);
    for (std::size_t v = mrf_.value_begin[c]; v < mrf_.value_begin[c + 1]; ++v)
      if (alive_[v] && static_cast<std::int32_t>(v - mrf_.value_begin[c]) != choice_[c] &&
          most - total_[v] >= zone.width) {
        alive_[v] = 0;
        --alive_count_[c];
      }
  }
}

void Field::certify(Region& region) {
  add_up_totals(region);
  evaluate(region.nodes, {});
  find_disagreeing(region);
  std::vector<Zone> zones;
  for (const Index b : region.disagreeing) {
    zones.emplace_back();
    zones.back().width = bound_[b] - block_score_[b];
    reach(b, 0, static_cast<Index>(zones.size()) - 1, zones);
  }
  for (std::size_t m = 0; m < zones.size(); ++m)
    if (!zones[m].reached.empty()) grow(static_cast<Index>(m), zones);
  for (const Zone& zone : zones) drop_costly_labels(zone);
  keep_open(region);
}

// Fixes the nodes that are not open, and leaves the rest. Blocks get back what they gave to nodes that are fixed now,
// so that their bounds hold and their scores are right; the bounds of those that disagree may be lower now.
void Field::keep_open(Region& region) {
  Region left;
  std::vector<Index> changed;
  for (const Index b : region.blocks) {
    bool open = false, fixed = false;
    double given = 0;
    for (std::size_t i = blocks_.slot[b]; i < blocks_.slot[b + 1]; ++i) {
      const Index c = mrf_.node_of[i];
      open = open || open_[c];
      fixed = fixed || (!open_[c] && alive_count_[c] > 1);
      if (!open_[c]) given += multipliers(static_cast<Index>(i))[choice_[c]];
    }
    bound_[b] += given, block_score_[b] += given;
    if (open) left.blocks.push_back(b);
    else bound_[b] = block_score_[b];
    if (open && fixed && disagrees(b)) changed.push_back(b);
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
  find_disagreeing(left);
  region = std::move(left);
}

}  // namespace certus::corpus
