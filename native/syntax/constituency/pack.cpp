// Packing: outside scores from the widest spans down, of nothing but what reaches the threshold.
//
// The best derivation through an item scores its inside plus its outside score. If that reaches the threshold, so
// does it for all items above it in that derivation; outside scores need to be handed down from those only.
//
// This is not the hypergraph's own pruning, since the hypergraph of a whole chart would be larger by orders of
// magnitude than what is kept of it: rules are tried on whole rows of spans, and few of them ever become edges.
#include "syntax/constituency/pack.hpp"

#include <algorithm>
#include <numeric>

#include "syntax/constituency/rows.hpp"

namespace certus::syntax {
namespace {

constexpr float kNone = kNever<float>;
constexpr std::size_t kEdgeBytes = 100;  // of an edge, until it is in the forest

// What was found, in the order in which it was found: parents before children.
struct Found {
  struct Node {
    Label symbol;
    std::int32_t begin, level;  // 2 width + 1 of a top, 2 width of a bottom: tails are on lower levels than heads
  };
  struct Edge {
    std::int32_t head, left, right;  // right is -1 for a chain, both are -1 over a word
    double score;
  };
  std::vector<Node> nodes;  // the first is the goal
  std::vector<Edge> edges;
};

class Packing {
 public:
  Packing(Found& found, const Grammar& grammar, const Chart& chart, const Leaves& leaves, double margin)
      : found_(found),
        grammar_(grammar),
        chart_(chart),
        leaves_(leaves),
        length_(chart.length()),
        threshold_(chart.threshold(margin)) {
    for (Rows<float>* rows : {&top_, &bottom_}) rows->reset(length_, grammar.rules.symbols());
    for (Rows<std::int32_t>* rows : {&top_node_, &bottom_node_}) rows->reset(length_, grammar.rules.symbols());
    through_.resize(static_cast<std::size_t>(length_ + kLanes));
  }

  void run() {
    top_.make(length_, grammar_.start, kNone)[0] = 0;
    top(length_, grammar_.start, 0);
    if (chart_.best() == kNever<double>) return;
    for (Index width = length_; width >= 1; --width) {
      close(width);
      if (width > 1) expand(width);
      else end();
    }
  }

 private:
  std::int32_t top(Index width, Label symbol, Index i) { return node(top_node_, width, symbol, i, 2 * width + 1); }
  std::int32_t bottom(Index width, Label symbol, Index i) { return node(bottom_node_, width, symbol, i, 2 * width); }
  std::int32_t node(Rows<std::int32_t>& nodes, Index width, Label symbol, Index i, Index level) {
    std::int32_t& number = nodes.make(width, symbol, -1)[i];
    if (number < 0) {
      number = static_cast<std::int32_t>(found_.nodes.size());
      found_.nodes.push_back({symbol, static_cast<std::int32_t>(i), static_cast<std::int32_t>(level)});
    }
    return number;
  }

  // Takes out the tops of a width that do not reach the threshold, and hands the others' outside scores down to
  // its bottoms.
  void close(Index width) {
    const Index count = length_ - width + 1;
    std::sort(top_.listed(width).begin(), top_.listed(width).end());
    for (const Label symbol : top_.listed(width)) {
      float* outside = top_(width, symbol);
      const float* inside = chart_.tops()(width, symbol);
      for (Index i = 0; i < count; ++i)
        if (!(outside[i] + inside[i] >= threshold_)) outside[i] = kNone;
    }
    for (const Label symbol : chart_.bottoms().listed(width)) {
      hand_down(width, symbol, symbol, 0);
      const Rules& rules = grammar_.rules;
      for (const Rules::Chain* chain = rules.chains_begin(symbol); chain != rules.chains_end(symbol); ++chain)
        hand_down(width, chain->parent, symbol, chain->score);
    }
  }

  void hand_down(Index width, Label parent, Label child, double score) {
    if (!top_.has(width, parent)) return;
    heed_(length_ - width + 1);
    const float* above = top_(width, parent);
    const float* inside = chart_.bottoms()(width, child);
    const float added = static_cast<float>(score);
    for (Index i = 0; i <= length_ - width; ++i) {
      if (!(above[i] + added + inside[i] >= threshold_)) continue;
      float& outside = bottom_.make(width, child, kNone)[i];
      outside = std::max(outside, above[i] + added);
      const std::int32_t head = top(width, parent, i);
      found_.edges.push_back({head, bottom(width, child, i), -1, score});
    }
  }

  // Hands the outside scores of the bottoms of a width down to tops of smaller ones.
  void expand(Index width) {
    const Index count = blocks(length_ - width + 1);
    const Rules& rules = grammar_.rules;
    for (const Label parent : bottom_.listed(width)) {
      const float* above = bottom_(width, parent);
      const float most = largest(above, count);
      const Rules::Expansion* end = rules.expansions_end(parent);
      for (const Rules::Expansion* rule = rules.expansions_begin(parent); rule != end; ++rule)
        chart_.splits(rule->left, rule->right, width, [&](Index d) {
          heed_(1);
          const auto score = static_cast<float>(rule->score);
          // First the best of all spans of the widths, which rarely reaches the threshold; then span by span.
          const float best = chart_.most(d, rule->left) + chart_.most(width - d, rule->right);
          if (!((most + score) + best >= threshold_)) return;
          const float* left = chart_.tops()(d, rule->left);
          const float* right = chart_.tops()(width - d, rule->right) + d;
          if (sums_through(through_.data(), above, score, left, right, count) >= threshold_)
            add(width, d, parent, *rule);
        });
    }
  }

  void add(Index width, Index d, Label parent, const Rules::Expansion& rule) {
    const float* left = chart_.tops()(d, rule.left);
    const float* right = chart_.tops()(width - d, rule.right) + d;
    heed_(4 * length_);
    float* left_outside = top_.make(d, rule.left, kNone);
    float* right_outside = top_.make(width - d, rule.right, kNone) + d;
    for (Index i = 0; i <= length_ - width; ++i) {
      if (!(through_[i] >= threshold_)) continue;
      const float above = bottom_(width, parent)[i] + static_cast<float>(rule.score);
      left_outside[i] = std::max(left_outside[i], above + right[i]);
      right_outside[i] = std::max(right_outside[i], above + left[i]);
      const std::int32_t head = bottom(width, parent, i);
      const std::int32_t first = top(d, rule.left, i);
      const std::int32_t second = top(width - d, rule.right, i + d);
      found_.edges.push_back({head, first, second, rule.score});
    }
    if (found_.edges.size() * kEdgeBytes > kMostBytes) throw TooLarge(find_most_bytes());
  }

  // If every rule derives every span from every two parts of it.
  double find_most_bytes() const {
    const auto n = static_cast<double>(length_);
    return kEdgeBytes * static_cast<double>(grammar_.rules.binary_count()) * n * n * n / 6;
  }

  void end() {
    for (Index i = 0; i < length_; ++i)
      for (std::int32_t n = leaves_.first[i]; n < leaves_.first[i + 1]; ++n) {
        const Leaf& leaf = leaves_.leaves[n];
        if (!bottom_node_.has(1, leaf.symbol)) continue;
        const std::int32_t number = bottom_node_(1, leaf.symbol)[i];
        if (number >= 0) found_.edges.push_back({number, -1, -1, leaf.score});
      }
  }

  Found& found_;
  const Grammar& grammar_;
  const Chart& chart_;
  const Leaves& leaves_;
  const Index length_;
  const float threshold_;
  Heed heed_;
  struct Scratch {
    Rows<float> top, bottom;
    Rows<std::int32_t> top_node, bottom_node;
    std::vector<float> through;
  };
  static Scratch& local() {
    thread_local Scratch scratch;
    return scratch;
  }
  Rows<float>& top_ = local().top;  // outside scores
  Rows<float>& bottom_ = local().bottom;
  Rows<std::int32_t>& top_node_ = local().top_node;  // nodes, or -1
  Rows<std::int32_t>& bottom_node_ = local().bottom_node;
  std::vector<float>& through_ = local().through;
};

// The places of nodes by level, so that tails come before heads.
std::vector<Index> order_nodes(const std::vector<Found::Node>& nodes) {
  std::vector<Index> next(static_cast<std::size_t>(nodes[0].level) + 2, 0), place;
  for (const Found::Node& node : nodes) ++next[node.level + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (const Found::Node& node : nodes) place.push_back(next[node.level]++);
  return place;
}

// The edges of a node come last found first: of those that score the same, a derivation takes the first.
hypergraph::Forest make_graph(const Found& found, const std::vector<Index>& place) {
  std::vector<Index> heads, offsets{0}, tails;
  for (auto edge = found.edges.rbegin(); edge != found.edges.rend(); ++edge) {
    heads.push_back(place[edge->head]);
    for (const std::int32_t tail : {edge->left, edge->right})
      if (tail >= 0) tails.push_back(place[tail]);
    offsets.push_back(static_cast<Index>(tails.size()));
  }
  return hypergraph::Forest({static_cast<Index>(found.nodes.size()), static_cast<Index>(heads.size()), heads.data(),
                             offsets.data(), tails.data(), &place[0], 1});
}

}  // namespace

ParseForest pack(const Grammar& grammar, const Chart& chart, const Leaves& leaves, double margin) {
  Found found;
  Packing(found, grammar, chart, leaves, margin).run();
  const std::vector<Index> place = order_nodes(found.nodes);
  ParseForest out{make_graph(found, place), {}, {}, {}, {}, {}};
  const std::size_t nodes = found.nodes.size(), edges = found.edges.size();
  out.symbols.resize(nodes), out.begin.resize(nodes), out.end.resize(nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    const auto& [symbol, begin, level] = found.nodes[n];
    const auto v = static_cast<std::size_t>(place[n]);
    out.symbols[v] = symbol, out.begin[v] = begin, out.end[v] = begin + level / 2;
  }
  for (const hypergraph::Edge e : out.graph.edge_id) {
    const Found::Edge& edge = found.edges[edges - 1 - static_cast<std::size_t>(e)];
    if (edge.left < 0) {
      const Found::Node& node = found.nodes[edge.head];
      const auto at = static_cast<hypergraph::Edge>(out.scores.size());
      out.words.push_back({static_cast<hypergraph::Node>(place[edge.head]), at, node.begin, grammar.tag[node.symbol]});
    }
    out.scores.push_back(edge.score);
  }
  return out;
}

}  // namespace certus::syntax
