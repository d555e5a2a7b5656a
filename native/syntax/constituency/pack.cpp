// Packing: outside scores from the widest spans down, of nothing but what reaches the threshold.
//
// The best derivation through an item scores its inside plus its outside score. If that reaches the threshold, so
// does it for all items above it in that derivation; outside scores need to be handed down from those only.
//
// This is not the hypergraph's own pruning, since the hypergraph of a whole chart would be larger by orders of
// magnitude than what is kept of it.
#include "syntax/constituency/pack.hpp"

#include <algorithm>
#include <numeric>

#include "syntax/constituency/rows.hpp"

namespace certus::syntax {
namespace {

constexpr float kForbidden = kNever<float>;
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
    for (Rows<std::int32_t>* rows : {&top_, &bottom_}) rows->reset(length_, grammar.rules.symbols());
    levels_.resize(static_cast<std::size_t>(2 * length_ + 2));
    for (auto& level : levels_) level.clear();
    outside_.clear();
  }

  void run() {
    outside_[find_top(0, grammar_.start, length_)] = 0;
    if (chart_.best() == kNever<double>) return;
    for (Index width = length_; width >= 1; --width) {
      for (const std::int32_t number : levels_[2 * width + 1]) descend(number, width);
      if (width > 1)
        for (const std::int32_t number : levels_[2 * width]) expand(number, width);
    }
    end();
  }

 private:
  std::int32_t find_top(Index i, Label symbol, Index width) { return find(top_, i, symbol, width, 2 * width + 1); }
  std::int32_t find_bottom(Index i, Label symbol, Index width) { return find(bottom_, i, symbol, width, 2 * width); }
  std::int32_t find(Rows<std::int32_t>& rows, Index i, Label symbol, Index width, Index level) {
    std::int32_t& number = rows.make(i, symbol, -1)[width];
    if (number < 0) {
      number = static_cast<std::int32_t>(found_.nodes.size());
      found_.nodes.push_back({symbol, static_cast<std::int32_t>(i), static_cast<std::int32_t>(level)});
      levels_[level].push_back(number);
      outside_.push_back(kForbidden);
    }
    return number;
  }
  void raise(std::int32_t number, float outside) { outside_[number] = std::max(outside_[number], outside); }

  // Hands the outside score of a top down to bottoms of its span.
  void descend(std::int32_t number, Index width) {
    const auto [symbol, i, level] = found_.nodes[number];
    hand_down(number, i, symbol, width, 0);
    const Rules& rules = grammar_.rules;
    heed_(1 + (rules.descents_end(symbol) - rules.descents_begin(symbol)));
    for (const Rules::Descent* chain = rules.descents_begin(symbol); chain != rules.descents_end(symbol); ++chain)
      hand_down(number, i, chain->child, width, chain->score);
  }

  void hand_down(std::int32_t number, Index i, Label child, Index width, double score) {
    const float* inside = chart_.bottoms()(i, child);
    if (!inside) return;
    const float above = outside_[number] + static_cast<float>(score);
    if (!(above + inside[width] >= threshold_)) return;
    const std::int32_t below = find_bottom(i, child, width);
    raise(below, above);
    found_.edges.push_back({number, below, -1, score});
  }

  // Hands the outside score of a bottom down to tops of smaller spans.
  void expand(std::int32_t number, Index width) {
    const auto [symbol, i, level] = found_.nodes[number];
    float most = kForbidden;  // of two tops side by side
    for (Index d = 1; d < width; ++d) most = std::max(most, chart_.most(i, d) + chart_.most(i + d, width - d));
    const Rules::Expansion* end = grammar_.rules.expansions_end(symbol);
    for (const Rules::Expansion* rule = grammar_.rules.expansions_begin(symbol); rule != end; ++rule) {
      heed_(1);
      const float above = outside_[number] + static_cast<float>(rule->score);
      if (!(above + most >= threshold_)) break;
      const float* left = chart_.tops()(i, rule->left);
      if (!left) continue;
      chart_.each_width(i, rule->left, width, [&](Index d) {
        heed_(1);
        // Whatever stands to the right scores at most so much, which rarely reaches the threshold.
        if (!(above + (left[d] + chart_.most(i + d, width - d)) >= threshold_)) return;
        const float* right = chart_.tops()(i + d, rule->right);
        if (!right || !(above + (left[d] + right[width - d]) >= threshold_)) return;
        const std::int32_t first = find_top(i, rule->left, d);
        const std::int32_t second = find_top(i + d, rule->right, width - d);
        raise(first, above + right[width - d]);
        raise(second, above + left[d]);
        found_.edges.push_back({number, first, second, rule->score});
      });
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
        const std::int32_t* numbers = bottom_(i, leaf.symbol);
        if (numbers && numbers[1] >= 0) found_.edges.push_back({numbers[1], -1, -1, leaf.score});
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
    Rows<std::int32_t> top, bottom;
    std::vector<std::vector<std::int32_t>> levels;
    std::vector<float> outside;
  };
  static Scratch& local() {
    thread_local Scratch scratch;
    return scratch;
  }
  Rows<std::int32_t>& top_ = local().top;  // the nodes, or -1
  Rows<std::int32_t>& bottom_ = local().bottom;
  std::vector<std::vector<std::int32_t>>& levels_ = local().levels;  // the nodes of each
  std::vector<float>& outside_ = local().outside;                    // [node]
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
