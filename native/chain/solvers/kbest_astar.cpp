// k-best A*: Huang et al. 2012, section 4.3.
//
// Every node keeps its k best hypotheses (ways to reach it), taken from the agenda or still on it. A better one
// found later takes the place of the worst that was not taken yet, so there are never more than k T L. Prefixes of
// the k best paths are among the k best of their nodes, so the first k that reach the last column are the answer.
#include "chain/method.hpp"
#include "chain/search/agenda.hpp"
#include "chain/search/search_space.hpp"

namespace certus {
namespace {

template <class Space>
class Hypotheses {
 public:
  Hypotheses(const Space& space, Index k, Counters& counters, Heed& heed, Arena& arena)
      : space_(space), k_(k), width_(space.size(0)), counters_(counters), agenda_(0), heed_(heed) {
    nodes_ = get_filled(space.length() * width_, Node{}, arena);
  }

  // Offers a way to node j of column t: `score` counts the node, `from` is the hypothesis it extends.
  void offer(Index t, Index j, double score, Index from) {
    Node& node = nodes_[t * width_ + j];
    const bool full = node.count >= k_;
    if (full && !(score > node.worst)) return;
    const double promise = score + space_.ahead(t, j);
    if (promise == kNever<double>) return;
    const Index id = full ? replace_worst(node, t, j) : add(node, t, j);
    all_[id].score = score, all_[id].from = from;
    if (node.count >= k_) find_worst(node);
    agenda_.raise(id, promise, t);
  }

  bool empty() const { return agenda_.empty(); }
  Index take() {
    ++counters_.expanded;
    heed_(64 * width_);
    return agenda_.take();
  }

  Index column(Index id) const { return all_[id].node / width_; }
  Index label(Index id) const { return all_[id].node % width_; }
  double score(Index id) const { return all_[id].score; }
  void trace(Index id, Index* labels) const {
    for (; id >= 0; id = all_[id].from) labels[column(id)] = label(id);
  }

 private:
  static constexpr Index kLong = 64;  // lists up to here are walked without a look at the clock

  struct Node {
    double worst = kNever<double>;  // the least score among its hypotheses, once there are k
    Index first = -1;               // its hypotheses, chained
    Index count = 0;
  };
  struct Hypothesis {
    double score;
    Index from, node, next;
  };

  Index add(Node& node, Index t, Index j) {
    const Index id = agenda_.add_id();
    all_.push_back({0.0, -1, t * width_ + j, node.first});
    node.first = id;
    counters_.activated += node.count++ == 0;
    return id;
  }

  // The worst one that is still on the agenda; -1 where none is. What was taken is final and scores no less, but for
  // rounding: then there is one more.
  Index worst(const Node& node) {
    Index least = -1;
    if (node.count > kLong) heed_(4 * node.count);
    for (Index id = node.first; id >= 0; id = all_[id].next)
      if (!agenda_.taken(id) && (least < 0 || all_[id].score < all_[least].score)) least = id;
    return least;
  }
  // Out of line: it is rarely called, and would take the registers of the loop around it.
  [[gnu::noinline]] Index replace_worst(Node& node, Index t, Index j) {
    const Index least = worst(node);
    return least < 0 ? add(node, t, j) : least;
  }
  void find_worst(Node& node) {
    if (node.count > kLong) heed_(4 * node.count);
    node.worst = all_[node.first].score;
    for (Index id = node.first; id >= 0; id = all_[id].next) node.worst = std::min(node.worst, all_[id].score);
  }

  const Space& space_;
  Index k_, width_;
  Counters& counters_;
  Agenda agenda_;
  Node* nodes_;  // [T][L]
  std::vector<Hypothesis> all_;
  Heed& heed_;  // not a member of its own, whose address would escape and keep all others out of registers
};

}  // namespace

CERTUS_SOLVER(kbest_astar) {
  using S = typename Tr::Score;
  const Index T = trellis.length, L = trellis.labels;
  const FullSpace<Tr> space(trellis, request.heuristic, answer.counters, arena);
  answer.counters.activated = 0;  // of the labels themselves, not of the heuristic's
  ++answer.counters.iterations;
  Heed heed;
  Hypotheses<FullSpace<Tr>> hypotheses(space, request.k, answer.counters, heed, arena);
  S* buffer = arena.get<S>(L);
  for (Index j = 0; j < L; ++j) hypotheses.offer(0, j, static_cast<double>(space.nodes(0)[j]), -1);
  while (answer.found < request.k && !hypotheses.empty()) {
    const Index id = hypotheses.take(), t = hypotheses.column(id);
    if (t == T - 1) {
      hypotheses.trace(id, answer.labels + answer.found++ * T);
      continue;
    }
    const S* links = space.links(t, hypotheses.label(id), buffer);
    const S* nodes = space.nodes(t + 1);
    const double score = hypotheses.score(id);
    for (Index j = 0; j < L; ++j)
      hypotheses.offer(t + 1, j, score + static_cast<double>(links[j]) + static_cast<double>(nodes[j]), id);
    answer.counters.edges += L;
  }
}

CERTUS_REGISTER(kbest_astar, "kbest-astar")

}  // namespace certus
