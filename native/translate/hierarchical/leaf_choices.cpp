#include "translate/hierarchical/leaf_choices.hpp"

namespace certus::translate {

void LeafChoices::run(const std::vector<Multipliers>& multipliers) {
  entries_.clear();
  first_.assign(1, 0);
  best_.clear();
  set_.clear();
  known_.clear();
  place_.assign(partition_.contexts(), -1);
  for (Index l = 0; l < graph_.leaves(); ++l) {
    const Index step = graph_.enters[l], before = graph_.from[step];
    const Opening word = scores_.number(graph_.leaf[l]);
    shift_[l] = -multipliers[0].step[step];
    if (graph_.is_leaf(before)) {
      set_.push_back(make_set(step, word));
      continue;
    }
    std::int32_t& known = known_.find(static_cast<std::uint64_t>(before * scores_.openings() + word));
    if (known < 0) known = make_set(step, word);
    set_.push_back(known);
  }
  run_end();
}

void LeafChoices::raise(Label label, double value) {
  Index& place = place_[ways_.find_context(label)];
  if (place < 0) {
    place = static_cast<Index>(entries_.size());
    entries_.push_back({ways_.find_context(label), {value, label}});
  } else if (value > entries_[place].choice.value) {
    entries_[place].choice = {value, label};
  }
}

std::int32_t LeafChoices::close_set() {
  const auto begin = entries_.begin() + first_.back();
  double best = kNever<double>;
  for (auto entry = begin; entry != entries_.end(); ++entry) {
    place_[entry->context] = -1;
    best = std::max(best, entry->choice.value);
  }
  std::sort(begin, entries_.end(), [](const Entry& a, const Entry& b) { return a.context < b.context; });
  first_.push_back(static_cast<Index>(entries_.size()));
  best_.push_back(best);
  return static_cast<std::int32_t>(best_.size()) - 1;
}

std::int32_t LeafChoices::make_set(Index step, Opening word) {
  ways_.visit(step, [&](Label label, double value) { raise(label, value + ways_.find_row(label)[word]); });
  return close_set();
}

const LeafChoice* LeafChoices::find_entry(std::int32_t set, Index context) const {
  const auto begin = entries_.begin() + first_[set], end = entries_.begin() + first_[set + 1];
  const auto place =
      std::lower_bound(begin, end, context, [](const Entry& entry, Index sought) { return entry.context < sought; });
  return place == end || place->context != context ? nullptr : &place->choice;
}

void LeafChoices::run_end() {
  const Index out = LeafGraph::leave(problem_.forest.goal);
  best_end_ = 0;
  for (int place = 0; place < ways_.places(); ++place) {
    const Arrivals& arrivals = ways_.find_arrivals(place, out);
    for (std::size_t i = 0; i < arrivals.label.size(); ++i) {
      const double cost = place == 0 ? ways_.find_row(arrivals.label[i])[scores_.number(kEnd)] : 0;
      raise(arrivals.label[i], arrivals.value[i] + cost);
    }
    end_set_[place] = close_set();
    best_end_ += best_.back();
  }
}

double LeafChoices::find_end(Index context) const {
  double sum = 0;
  for (int place = 0; place < ways_.places(); ++place) {
    const LeafChoice* choice = find_entry(end_set_[place], shorten(place, context));
    sum += choice == nullptr ? kNever<double> : choice->value;
  }
  return sum;
}

Label LeafChoices::find_end_label(int place, Index context) const {
  const LeafChoice* choice = find_entry(end_set_[place], shorten(place, context));
  return choice == nullptr ? -1 : choice->label;
}

}  // namespace certus::translate
