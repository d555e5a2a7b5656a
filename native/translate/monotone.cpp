#include "translate/monotone.hpp"

#include <algorithm>
#include <tuple>

namespace certus::translate {
namespace {

// All derivations that end at one place translate the same words, so a narrow beam by score alone does well.
class Monotone {
 public:
  explicit Monotone(const PhraseGraph& graph)
      : graph_(graph),
        problem_(graph.problem()),
        layers_(problem_.words() + 1),
        least_(problem_.words() + 1, kNever<double>) {}

  std::vector<Option> run() {
    layers_[0].push_back({0, 0, 0, -1, 0});
    for (Index n = 0; n < problem_.words(); ++n) {
      narrow(layers_[n]);
      for (std::size_t k = 0; k < layers_[n].size(); ++k)
        for (const bool is_open : {false, true}) extend(n, k, is_open);
    }
    for (Item& item : layers_.back()) item.score += graph_.nodes[item.row].final;
    return trace();
  }

 private:
  static constexpr std::size_t kWidth = 10, kLooked = 40;
  struct Item {
    double score;
    Row row;
    Index parent_layer;
    Option option;
    std::size_t parent;

    auto rank() const { return std::tuple(-score, parent_layer, parent, option); }
  };

  // Adds an item. Where a layer has many, those that narrow would not look at go; the last layer stays whole.
  void add(Index n, const Item& item) {
    std::vector<Item>& layer = layers_[n];
    if (item.score < least_[n]) return;
    layer.push_back(item);
    if (n == problem_.words() || layer.size() < 4 * kLooked) return;
    std::nth_element(layer.begin(), layer.begin() + kLooked - 1, layer.end(), is_better);
    layer.resize(kLooked);
    least_[n] = layer.back().score;
  }
  static bool is_better(const Item& a, const Item& b) { return a.rank() < b.rank(); }

  // Keeps the best ones, one for each row.
  void narrow(std::vector<Item>& layer) const {
    const auto first = layer.begin(), last = first + std::min<Index>(kLooked, layer.end() - first);
    std::partial_sort(first, last, layer.end(), is_better);
    std::vector<Item> kept;
    for (auto one = first; one != last && kept.size() < kWidth; ++one)
      if (std::none_of(kept.begin(), kept.end(), [&](const Item& other) { return other.row == one->row; }))
        kept.push_back(*one);
    layer = std::move(kept);
  }

  // Appends all phrases that begin where an item ends.
  void extend(Index n, std::size_t from, bool is_open) {
    const Item item = layers_[n][from];
    const PhraseGraph::Node& node = graph_.nodes[item.row];
    const PhraseGraph::Reach& reach = graph_.reaches[node.reach];
    const std::int32_t place = (is_open ? reach.open_place : reach.closed_place)[n];
    if (place < 0) return;
    const std::vector<Column>& begin = is_open ? graph_.open_begin : graph_.closed_begin;
    const auto count = begin[n + 1] - begin[n];
    const double* base = graph_.cost.get() + graph_.nodes[node.base].cost + place;
    costs_.assign(base, base + count);
    for (double& cost : costs_) cost += node.backoff;
    for (std::size_t k = node.arc_begin; k < node.arc_end; ++k)
      if (const auto at = graph_.arcs[k].place - place; at >= 0 && at < count) costs_[at] = graph_.arcs[k].cost;
    const std::size_t next = graph_.nodes[node.base].next + place - reach.closed_count;
    for (Column k = 0; k < count; ++k) {
      const PhraseGraph::Phrases& one = graph_.phrases[begin[n] + k];
      for (Index m = one.first; m < one.last; ++m) {
        const Option o = graph_.members[m];
        const Row row = is_open ? graph_.next[next + k] : graph_.row_of[o];
        add(one.end, {item.score + costs_[k] + problem_.base(o), row, n, o, from});
      }
    }
  }

  std::vector<Option> trace() {
    std::vector<Option> options;
    auto& last = layers_.back();
    const auto best =
        std::max_element(last.begin(), last.end(), [](const Item& a, const Item& b) { return a.score < b.score; });
    if (best == last.end() || best->score == kNever<double>) return options;
    for (Item item = *best; item.option >= 0; item = layers_[item.parent_layer][item.parent])
      options.push_back(item.option);
    std::reverse(options.begin(), options.end());
    return options;
  }

  const PhraseGraph& graph_;
  const PhraseProblem& problem_;
  std::vector<std::vector<Item>> layers_;  // [words translated]
  std::vector<double> least_;              // [words translated] what an item must score to be looked at
  std::vector<double> costs_;
};

}  // namespace

std::vector<Option> find_monotone(const PhraseGraph& graph) { return Monotone(graph).run(); }

}  // namespace certus::translate
