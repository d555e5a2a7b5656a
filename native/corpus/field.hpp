// The corpus problem: blocks of sentences, and the consensus nodes that their words are tied to.
//
//   maximise  sum_b f_b(y_b) + sum_c [ prior_c(z_c) + sum_{slots i of c} agreement(y_i, z_c) ]
//
// over the labels y of the blocks and the labels z of the nodes; prior_c counts the words of the node that are settled
// or observed. Given z, the blocks fall apart: the problem is one over z alone, in which block b is a factor
//
//   F_b(z) = max_y f_b(y) + sum_{slots i of b} agreement(y_i, z_c(i)).
//
// Multipliers m_i(z), one for each slot and label of its node, move scores between blocks and nodes. For any of them
//
//   D(m) = sum_b max_z [ F_b(z) - sum_i m_i(z_c(i)) ] + sum_c max_z [ prior_c(z) + sum_i m_i(z) ]
//
// is at least the optimum, and it is as tight as the relaxation of Rush et al. (2012, §6), where the labels y of words
// are what sentences and nodes agree on: both are the same linear program.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interrupt.hpp"
#include "base/rounding.hpp"
#include "corpus/blocks.hpp"
#include "corpus/mrf.hpp"

namespace certus::corpus {

// Blocks and nodes that hang together, or all that are still open.
struct Region {
  std::vector<Index> blocks, nodes;
  std::vector<Index> disagreeing;  // the blocks that would choose other labels for their nodes than these have

  void add(const Region& other) {
    blocks.insert(blocks.end(), other.blocks.begin(), other.blocks.end());
    nodes.insert(nodes.end(), other.nodes.begin(), other.nodes.end());
  }
};

// Which blocks of a region an iteration solves: those that disagree, those that share a node with them, or all.
enum class Reach { disagreeing, near, all };

class Field {
 public:
  Field(Agreement agreement, Index nodes, bool with_outside) : nodes_(nodes), builder_(mrf_, blocks_, observed_) {
    mrf_.agreement = std::move(agreement);
    mrf_.agreement.drop_idle_weight();
    builder_.with_outside = with_outside;
  }
  Field(const Field&) = delete;

  // Building: sentences (see Builder), then `close`.
  double add(const lattice::Lattices& lattices, Index n, Index sentence, Index token, const Index* nodes, Label* labels,
             double& excess) {
    return builder_.add(lattices, n, sentence, token, nodes, labels, excess);
  }
  // Makes one node of several: node c becomes node into[c].
  void merge(const Index* into);
  void close();

  // Solves blocks of a region and improves their multipliers, one slot after the other. Returns how many were solved.
  Index iterate(Region& region, Reach reach);
  // Fixes the nodes whose labels are proven, whatever the others are; leaves the rest in the region.
  void certify(Region& region);
  // The parts of a region that do not touch.
  std::vector<Region> components(const Region& region);
  // Finds the best labels of the nodes of a region by branching on them, with bounds from sweeps. Returns whether they
  // are proven within `limit` branches and before the time is up.
  bool branch(Region& region, Index iterations, Index limit, std::int64_t end);
  // Improves the labels of a region's nodes: blocks choose given the nodes, nodes given the blocks, in turn.
  void improve(const Region& region);

  // Gives a node a label, by the number of the value; `fix` keeps those of a region for good.
  void choose(Index node, std::int32_t value) { choice_[node] = value; }
  void fix(const Region& region);

  // The best labels of a block, [length], or null, and their score, if `added` is added to the candidates of its slots.
  double best(Index block, const double* added, Label* out);

  double bound(const Region& region) const;  // of its blocks and nodes
  // The labels of a block given the labels of the nodes, [length]; what is no token gets `none`.
  double labels(Index block, Label* out) { return search(block, false, out, true); }
  // The same without the path for what the sentence's lattice lacks. If `around` is not null, the labels of what is
  // before and after the block are written, too: it stands for the first token of the block.
  double labels_inside(Index block, Label* out, Label* around = nullptr);

  double bound_of(Index block) const { return bound_[block]; }
  double find_highest(Index node) const;  // the largest total of a node's labels
  const Blocks& blocks() const { return blocks_; }
  const Mrf& mrf() const { return mrf_; }
  Index nodes() const { return nodes_; }
  const Region& everything() const { return everything_; }
  bool fixed(Index node) const { return alive_count_[node] == 1; }
  Label consensus(Index node) const { return mrf_.value[mrf_.value_begin[node] + choice_[node]]; }
  // What the nodes score that have one word alone, which agrees with itself.
  double constant() const { return constant_; }
  double prior(Index node) const { return mrf_.prior[mrf_.value_begin[node] + choice_[node]]; }

 private:
  static constexpr std::int32_t kFree = -1;
  struct Saved;
  struct Zone;
  class SlotSteps;
  struct Search {
    Index iterations, limit;  // before each branching; branchings left
    std::int64_t end;
    bool proven = true;
  };

  const double* multipliers(Index slot) const { return multiplier_.data() + multiplier_begin_[slot]; }
  double* multipliers(Index slot) { return multiplier_.data() + multiplier_begin_[slot]; }
  std::int32_t best_value(Index node) const;
  // The gaps between bounds and scores that count as rounding.
  double tolerance(Index block) const { return kRounding * blocks_.magnitude[block]; }
  double tolerance(const Region& region) const;

  double solve(Index block);
  bool update(Index slot, const double* apart);
  void find_reachable(Index slot, const double* apart, double* out) const;
  void adjust(Index slot, std::int32_t value, bool with_multipliers);
  double search(Index block, bool with_multipliers, Label* out, bool held = false);
  lattice::Additions spread(Index block, const double* added);
  void label_ends(Index block, Label* around);
  void sweep(const std::vector<Index>& blocks);
  void evaluate(Index block);
  void evaluate(const std::vector<Index>& nodes, std::vector<Index> blocks);
  bool disagrees(Index block) const { return bound_[block] - block_score_[block] > tolerance(block); }
  void queue_blocks(Index node, std::vector<Index>& queue);
  void find_disagreeing(Region& region) const;
  std::vector<Index> find_near(const Region& region);

  double find_price(Index node) const;
  Index reach(Index block, double distance, Index number, std::vector<Zone>& zones);
  Index join(Index one, Index other, std::vector<Zone>& zones);
  void grow(Index number, std::vector<Zone>& zones);
  void keep_open(Region& region);
  void drop_costly_labels(const Zone& zone);
  void fix(Index node);
  void restrict(Index node, std::int32_t value);
  void open_node(Index node);
  void add_up_totals(const Region& region);

  void find_best_branch(const Region& region, Search& search);
  double find_score(const Region& region) const;
  double find_given(Index block) const;
  Index find_most_disputed(const Region& region) const;

  Index nodes_;
  Mrf mrf_;  // its words are the slots
  Blocks blocks_;
  std::vector<Mrf::Observed> observed_;
  Builder builder_;
  Region everything_;
  double constant_ = 0;

  // Nodes: for each of their values the prior plus all multipliers, and whether it is still possible.
  std::vector<double> total_;
  std::vector<std::uint8_t> alive_;
  std::vector<std::int32_t> alive_count_, choice_;  // [nodes]

  // Slots.
  std::vector<std::size_t> multiplier_begin_;  // [slots + 1]
  std::vector<double> multiplier_;

  // Blocks.
  std::vector<double> bound_;         // [blocks]: max_z of F_b less the multipliers
  std::vector<double> block_score_;   // [blocks]: the same at the nodes' choices
  bool all_to_nodes_ = false;         // whether blocks keep no share in an update
  std::vector<std::uint8_t> open_;    // [nodes], scratch of `certify` and `components`
  std::vector<std::int32_t> owner_;   // [nodes], scratch of `certify`: the zone that reaches it, or -1
  std::vector<double> distance_;      // [nodes], likewise: from the group of the zone
  std::vector<std::uint8_t> queued_;  // [blocks], likewise

  // Scratch of one block.
  std::vector<double> added_;  // [candidates of the block]: what slots add to labels
  std::vector<double> apart_, both_;
  std::vector<const double*> rows_;  // [positions]: what is added there, or null
  lattice::PathMemory paths_;
  std::uint32_t first_state_ = 0, last_state_ = 0;  // of the path whose labels were read last
  Heed heed_;
};

}  // namespace certus::corpus
