#include "translate/hierarchical/boundaries.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "base/probing.hpp"

namespace certus::translate {

BoundaryModel::BoundaryModel(const LanguageModel& model, const WordBounds& bounds)
    : automaton_(model.automaton()), bounds_(bounds), begin_(model.begin()), extends_(automaton_.arcs) {
  Heed heed;
  for (Index s = 1; s < automaton_.states; ++s) {
    const Index first = automaton_.begin[s], last = automaton_.begin[s + 1];
    for (Index arc = first; arc < last; ++arc) {
      const Index other = automaton_.find(automaton_.suffix[s], automaton_.word[arc]);
      if (other >= 0) extends_[other] = 1;
    }
    heed(64 * (last - first) + 16);
  }
}

std::uint64_t LeftTable::hash(std::span<const Word> words, bool closed) {
  std::uint64_t key = closed ? 1 : 0;
  for (const Word word : words) key = hashing::mix(key, word);
  return hashing::spread(key);
}

void LeftTable::rebuild(std::size_t slots) {
  slots_.assign(slots, 0);
  for (std::uint32_t id = 0; id < closed_.size(); ++id) {
    const std::size_t at =
        find_slot(hash(words(id), closed_[id] != 0), slots - 1, [&](std::size_t i) { return slots_[i] == 0; });
    slots_[at] = id + 1;
  }
}

LeftId LeftTable::add(std::span<const Word> sought, bool closed) {
  const std::size_t at = find_slot(hash(sought, closed), slots_.size() - 1, [&](std::size_t i) {
    return slots_[i] == 0 || (is_closed(slots_[i] - 1) == closed && std::ranges::equal(words(slots_[i] - 1), sought));
  });
  if (slots_[at] != 0) return slots_[at] - 1;
  const LeftId id = static_cast<LeftId>(closed_.size());
  slots_[at] = id + 1;
  words_.insert(words_.end(), sought.begin(), sought.end());
  first_.push_back(static_cast<Index>(words_.size()));
  closed_.push_back(closed);
  double bound = 0;
  State state = kEmpty;
  for (std::size_t i = 0; i < sought.size(); ++i) {
    bound += model_.bounds().find(model_.automaton(), sought.first(i), sought[i]);
    state = model_.automaton().advance(state, sought[i]).state;
  }
  if (closed) bound += model_.bounds().slack(state);
  bound_.push_back(weight_ == 0 ? 0 : weight_ * bound);
  const double first = sought.empty() ? 0 : model_.bounds().find(model_.automaton(), sought.first(0), sought[0]);
  rest_.push_back(weight_ == 0 ? 0 : weight_ * (bound - first));
  if (2 * closed_.size() > slots_.size()) rebuild(2 * slots_.size());
  return id;
}

void Joiner::add(Word word) {
  const Automaton& automaton = model_.automaton();
  const Step step = automaton.advance(state_, word);
  if (!closed_) {
    const Index count = static_cast<Index>(left_.size());
    const Index arc = automaton.measure_context(state_) == count ? automaton.find(state_, word) : -1;
    if (arc >= 0 && model_.extends(arc)) {
      left_.push_back(word);
      closed_ = count + 1 == automaton.order - 1;
      state_ = step.state;
      return;
    }
    closed_ = true;
  }
  score_ += weigh(step.score);
  state_ = step.state;
}

void Joiner::add(const Piece& piece) {
  const Automaton& automaton = model_.automaton();
  const std::span<const Word> words = lefts_.words(piece.left);
  for (const Word word : words) add(word);
  if (lefts_.is_closed(piece.left)) {
    double cost = 0;
    for (; automaton.measure_context(state_) > static_cast<Index>(words.size()); state_ = automaton.suffix[state_])
      cost += automaton.backoff[state_];
    score_ += weigh(cost);
    closed_ = true;
    state_ = piece.right;
  }
  score_ += piece.score;
}

}  // namespace certus::translate
