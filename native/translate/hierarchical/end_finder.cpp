#include "translate/hierarchical/end_finder.hpp"

namespace certus::translate {

void EndFinder::look_at(const EndBounds::Table& table) {
  // What is after <s> is closed.
  const auto number = [&](Opening left) { return left == scores_.start() ? scores_.closed() : left; };
  if (table_) {
    for (Index r = 0; r < table_->rows; ++r) row_[number(table_->left[r])] = -1;
    for (Index c = 0; c < table_->columns; ++c) column_[table_->right[c]] = -1;
  }
  table_ = &table;
  for (Index r = 0; r < table.rows; ++r) row_[number(table.left[r])] = r;
  for (Index c = 0; c < table.columns; ++c) column_[table.right[c]] = c;
}

void EndFinder::learn(LeftId left) {
  const Automaton& automaton = problem_.model->automaton();
  for (LeftId id = static_cast<LeftId>(opening_.size()); id <= left; ++id) {
    const std::span<const Word> words = lefts_.words(id);
    opening_.push_back(words.empty() ? scores_.closed() : scores_.number(words[0]));
    rest_.push_back(lefts_.rest(id));
    if (words.size() > 1)  // the words of the forest, and not all, may be before the first
      rest_.back() += scores_.row(scores_.end_in(words[0]))[scores_.number(words[1])] -
                      problem_.weigh(problem_.model->bounds().find(automaton, words.first(1), words[1]));
  }
}

}  // namespace certus::translate
