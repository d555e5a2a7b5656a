// The first of the two searches: nothing is known of the context of a node.
#include "translate/hierarchical/end_bounds.hpp"

namespace certus::translate {

void EndBounds::find_shapes() {
  const Automaton& automaton = problem_.model->automaton();
  const Index most = automaton.order - 1;
  const auto set_right = [&](Shape& shape, Word word) {
    shape.right = shape.known >= most ? scores_.end_in_state(shape.state) : scores_.end_in(word);
  };
  Shape& start = shape_[PrefixForest::kStart];
  start = {problem_.model->begin(), most, scores_.end_in_state(problem_.model->begin())};
  for (std::size_t q = 2; q < shape_.size(); ++q) {
    const auto [parent, symbol] = prefixes_.prefixes[q];
    if (is_node(symbol)) continue;
    const Word word = static_cast<Word>(symbol);
    const Shape& before = shape_[parent];
    Shape& shape = shape_[q];
    shape.state = automaton.advance(before.state, word).state;
    shape.known = std::min(before.known + 1, most);
    set_right(shape, word);
    shape.cost = before.right >= 0 ? scores_.row(before.right)[scores_.number(word)] : score_first_word(word);
  }
}

void EndBounds::run_without_context() {
  const TargetForest& forest = problem_.forest;
  shape_[PrefixForest::kAnywhere].inside = shape_[PrefixForest::kStart].inside = 0;
  for (Index v = 0; v < forest.nodes; ++v) {
    for (Index q = prefixes_.prefix_first[v]; q < prefixes_.prefix_first[v + 1]; ++q) {
      const auto [parent, symbol] = prefixes_.prefixes[q];
      if (is_node(symbol)) shape_[q].cost = inside_[~symbol];
      shape_[q].inside = shape_[parent].inside + shape_[q].cost;
    }
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e)
      raise(inside_[v], shape_[prefixes_.whole[e]].inside + forest.score[e]);
  }
  outside_[forest.goal] = score_first_word(kEnd);
  for (Index v = forest.goal; v >= 0; --v) {
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1] && outside_[v] > kLeast; ++e)
      raise(shape_[prefixes_.whole[e]].outside, outside_[v] + forest.score[e]);
    for (Index q = prefixes_.prefix_first[v + 1] - 1; q >= prefixes_.prefix_first[v]; --q) {
      const auto [parent, symbol] = prefixes_.prefixes[q];
      if (shape_[q].outside == kLeast || shape_[q].inside == kLeast) continue;
      raise(shape_[parent].outside, shape_[q].outside + shape_[q].cost);
      if (is_node(symbol)) raise(outside_[~symbol], shape_[q].outside + shape_[parent].inside);
    }
  }
}

}  // namespace certus::translate
