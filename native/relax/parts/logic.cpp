#include "relax/parts/logic.hpp"

#include <algorithm>
#include <cmath>

namespace certus::relax {

LogicPart::LogicPart(std::vector<double> scores, std::vector<std::uint8_t> negated)
    : Part(std::move(scores)),
      negated_(std::move(negated)),
      gains_(negated_.size()),
      forced_(negated_.size()),
      true_(negated_.size()) {}

double LogicPart::largest_term(Index cell) const {
  const double score = scores_[cell];
  return negated_[cell] && std::isfinite(score) ? std::abs(score) : std::max(score, 0.0);
}

bool LogicPart::read() {
  base_ = 0;
  for (Index c = 0; c < cells(); ++c) {
    const double sum = sums_[c];
    if (sum == kNever<double>) {
      if (required_[c]) return false;
      forced_[c] = negated_[c] ? Truth::yes : Truth::no;
      gains_[c] = 0;
    } else if (required_[c]) {
      forced_[c] = negated_[c] ? Truth::no : Truth::yes;
      gains_[c] = 0;
      base_ += sum;
    } else {
      forced_[c] = Truth::open;
      gains_[c] = negated_[c] ? -sum : sum;
      if (negated_[c]) base_ += sum;
    }
  }
  return true;
}

double LogicPart::choose(std::vector<Index>& used) const {
  used.clear();
  double score = 0;
  for (Index c = 0; c < cells(); ++c)
    if (true_[c] != negated_[c]) {
      used.push_back(c);
      score += scores_[c];
    }
  return score;
}

double LogicPart::take(const std::vector<Index>& used) {
  true_ = negated_;
  double score = 0;
  for (const Index c : used) {
    true_[c] = !negated_[c];
    score += scores_[c];
  }
  return score;
}

void LogicPart::turn(double* with, double* without) const {
  for (Index c = 0; c < cells(); ++c)
    if (negated_[c]) std::swap(with[c], without[c]);
}

CountPart::CountPart(std::vector<double> scores, std::vector<std::uint8_t> negated, Index least, Index most)
    : LogicPart(std::move(scores), std::move(negated)), least_(least), most_(most) {
  const bool plain = std::find(negated_.begin(), negated_.end(), 1) == negated_.end();
  if (least == 1 && most == 1 && plain) add_group(0, cells(), true);
  else
    for (Index c = 0; c < cells(); ++c) add_group(c, c + 1, false);
}

bool CountPart::split() {
  if (!read()) return false;
  order_.clear();
  Index sure = 0;
  for (Index c = 0; c < cells(); ++c) {
    if (forced_[c] == Truth::open) order_.push_back(c);
    else sure += forced_[c] == Truth::yes;
  }
  const Index size = static_cast<Index>(order_.size());
  fewest_ = std::max<Index>(least_ - sure, 0);
  largest_ = std::min(most_ - sure, size);
  if (fewest_ > largest_) return false;
  const auto gains_more = [this](Index a, Index b) { return gains_[a] != gains_[b] ? gains_[a] > gains_[b] : a < b; };
  const auto select = [&](Index first, Index count, Index last) {
    if (count == 1) std::iter_swap(&order_[first], std::min_element(&order_[first], order_.data() + last, gains_more));
    else std::nth_element(&order_[first], &order_[first] + count, order_.data() + last, gains_more);
  };
  const auto likely = std::partition(order_.begin(), order_.end(), [this](Index c) { return gains_[c] > 0; });
  count_ = likely - order_.begin();
  if (count_ > largest_ && largest_ > 0) select(0, largest_, count_);
  if (count_ < fewest_ && fewest_ < size) select(count_, fewest_ - count_, size);
  count_ = std::clamp(count_, fewest_, largest_);
  sum_ = 0;
  last_ = -kNever<double>;
  next_ = kNever<double>;
  for (Index i = 0; i < count_; ++i) sum_ += gains_[order_[i]], last_ = std::min(last_, gains_[order_[i]]);
  for (Index i = count_; i < size; ++i) next_ = std::max(next_, gains_[order_[i]]);
  return true;
}

double CountPart::maximize(std::vector<Index>& used) {
  if (!split()) return kNever<double>;
  for (Index c = 0; c < cells(); ++c) true_[c] = forced_[c] == Truth::yes;
  for (Index i = 0; i < count_; ++i) true_[order_[i]] = 1;
  return choose(used);
}

bool CountPart::complete(const std::vector<Index>& used, double* score) {
  const double sum = take(used);
  const Index count = std::count(true_.begin(), true_.end(), std::uint8_t{1});
  *score = least_ <= count && count <= most_ ? sum : kNever<double>;
  return true;
}

// How many literals are true, in parts, where all aims fall by `shift`.
static double count_shifted(const std::vector<double>& aims, double shift) {
  double count = 0;
  for (const double aim : aims) count += std::clamp(aim - shift, 0.0, 1.0);
  return count;
}

// The shift at which so many literals are true: the count falls along straight lines between the shifts at which an aim
// meets 0 or 1.
static double find_shift(const std::vector<double>& aims, std::vector<double>& shifts, double count) {
  shifts.clear();
  for (const double aim : aims) shifts.push_back(aim), shifts.push_back(aim - 1);
  std::sort(shifts.begin(), shifts.end());
  const auto enough = [&](double shift) { return count_shifted(aims, shift) >= count; };
  const auto after = std::partition_point(shifts.begin(), shifts.end(), enough);
  if (after == shifts.begin()) return shifts.front();
  if (after == shifts.end()) return shifts.back();
  const double low = *(after - 1), high = *after;
  const double most = count_shifted(aims, low), least = count_shifted(aims, high);
  return most > least ? low + (high - low) * (most - count) / (most - least) : low;
}

bool CountPart::project(const double* toward, double* point) {
  if (!read()) return false;
  aims_.clear();
  Index sure = 0;
  for (Index c = 0; c < cells(); ++c) {
    if (forced_[c] == Truth::open) aims_.push_back(negated_[c] ? 1 - toward[c] : toward[c]);
    else sure += forced_[c] == Truth::yes;
  }
  const double least = static_cast<double>(least_ - sure), most = static_cast<double>(most_ - sure);
  const double now = count_shifted(aims_, 0);
  double shift = 0;
  if (!aims_.empty() && now < least) shift = find_shift(aims_, shifts_, least);
  if (!aims_.empty() && now > most) shift = find_shift(aims_, shifts_, most);
  auto aim = aims_.begin();
  for (Index c = 0; c < cells(); ++c) {
    const double part = forced_[c] == Truth::open ? std::clamp(*aim++ - shift, 0.0, 1.0) : forced_[c] == Truth::yes;
    point[c] = negated_[c] ? 1 - part : part;
  }
  return true;
}

bool CountPart::max_marginals(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  std::fill_n(without, cells(), kNever<double>);
  if (!split()) return true;
  const Index size = static_cast<Index>(order_.size());
  const double best = base_ + sum_;
  for (Index c = 0; c < cells(); ++c)
    if (forced_[c] != Truth::open) (forced_[c] == Truth::yes ? with : without)[c] = best;
  // Without a true one, the next in line comes in where it gains or where too few would be left.
  const bool next = count_ < size && (count_ - 1 < fewest_ || next_ > 0);
  for (Index i = 0; i < count_; ++i) {
    const Index c = order_[i];
    with[c] = best;
    if (count_ - 1 >= fewest_ || next) without[c] = best - gains_[c] + (next ? next_ : 0);
  }
  // With another one, the last in line goes where there would be too many, or where it costs and enough are left.
  const bool last = count_ > 0 && (count_ + 1 > largest_ || (count_ + 1 > fewest_ && last_ <= 0));
  for (Index i = count_; i < size; ++i) {
    const Index c = order_[i];
    without[c] = best;
    if (count_ + 1 <= largest_ || last) with[c] = best + gains_[c] - (last ? last_ : 0);
  }
  turn(with, without);
  return true;
}

OrOutputPart::OrOutputPart(std::vector<double> scores, std::vector<std::uint8_t> negated)
    : LogicPart(std::move(scores), std::move(negated)) {
  for (Index c = 0; c < cells(); ++c) add_group(c, c + 1, false);
}

bool OrOutputPart::read_inputs(Inputs* into) {
  if (!read()) return false;
  Inputs& inputs = *into;
  for (Index c = 0; c + 1 < cells(); ++c) {
    if (forced_[c] == Truth::no) continue;
    if (forced_[c] == Truth::yes) {
      inputs.forced = true;
      continue;
    }
    if (gains_[c] > 0) inputs.gains += gains_[c], ++inputs.likely;
    if (inputs.first < 0 || gains_[c] > gains_[inputs.first]) inputs.second = inputs.first, inputs.first = c;
    else if (inputs.second < 0 || gains_[c] > gains_[inputs.second]) inputs.second = c;
  }
  return true;
}

double OrOutputPart::value(const Inputs& inputs, bool output, Index but) const {
  const Index last = cells() - 1;
  if (forced_[last] == (output ? Truth::no : Truth::yes)) return kNever<double>;
  const double gain = output ? gains_[last] : 0;
  if (!output) return inputs.forced ? kNever<double> : base_;
  const bool likes = but >= 0 && gains_[but] > 0;
  const double gains = inputs.gains - (likes ? gains_[but] : 0);
  if (inputs.forced || inputs.likely - likes > 0) return base_ + gain + gains;
  const Index chosen = inputs.first == but ? inputs.second : inputs.first;
  return chosen < 0 ? kNever<double> : base_ + gain + gains_[chosen];
}

double OrOutputPart::maximize(std::vector<Index>& used) {
  Inputs inputs;
  if (!read_inputs(&inputs)) return kNever<double>;
  const Index last = cells() - 1;
  const double on = value(inputs, true, -1), off = value(inputs, false, -1);
  if (std::max(on, off) == kNever<double>) return kNever<double>;
  const bool output = on > off;
  for (Index c = 0; c < last; ++c)
    true_[c] = forced_[c] == Truth::yes || (output && forced_[c] == Truth::open && gains_[c] > 0);
  true_[last] = output;
  if (output && !inputs.forced && inputs.likely == 0) true_[inputs.first] = 1;
  return choose(used);
}

bool OrOutputPart::complete(const std::vector<Index>& used, double* score) {
  const double sum = take(used);
  const bool any = std::find(true_.begin(), true_.end() - 1, std::uint8_t{1}) != true_.end() - 1;
  *score = any == (true_.back() != 0) ? sum : kNever<double>;
  return true;
}

bool OrOutputPart::max_marginals(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  std::fill_n(without, cells(), kNever<double>);
  Inputs inputs;
  if (!read_inputs(&inputs)) return true;
  const Index last = cells() - 1;
  const double off = value(inputs, false, -1), on = value(inputs, true, -1);
  with[last] = on;
  without[last] = off;
  for (Index c = 0; c < last; ++c) {
    if (forced_[c] != Truth::open) {
      (forced_[c] == Truth::yes ? with : without)[c] = std::max(on, off);
      continue;
    }
    without[c] = std::max(off, value(inputs, true, c));
    // With it the output is true, and the other inputs are as they like.
    const double gains = inputs.gains + std::min(gains_[c], 0.0);
    with[c] = forced_[last] == Truth::no ? kNever<double> : base_ + gains_[last] + gains;
  }
  turn(with, without);
  return true;
}

KnapsackPart::KnapsackPart(std::vector<double> scores, std::vector<std::uint8_t> negated, std::vector<Index> weights,
                           Index capacity)
    : LogicPart(std::move(scores), std::move(negated)), weights_(std::move(weights)), capacity_(capacity) {
  for (Index c = 0; c < cells(); ++c) add_group(c, c + 1, false);
}

void KnapsackPart::extend(const double* from, double* to, Index literal) const {
  const Index weight = weights_[literal];
  const double gain = gains_[literal];
  for (Index w = 0; w <= capacity_; ++w) {
    const double with = weight <= w ? from[w - weight] + gain : kNever<double>;
    to[w] = forced_[literal] == Truth::yes ? with : forced_[literal] == Truth::no ? from[w] : std::max(from[w], with);
  }
}

void KnapsackPart::fill(std::vector<double>& best, bool backward) {
  const Index width = capacity_ + 1;
  best.assign((cells() + 1) * width, 0.0);
  for (Index i = 0; i < cells(); ++i) {
    const Index c = backward ? cells() - 1 - i : i, from = backward ? c + 1 : c, to = backward ? c : c + 1;
    extend(best.data() + from * width, best.data() + to * width, c);
    heed_(width);
  }
}

double KnapsackPart::maximize(std::vector<Index>& used) {
  if (!read()) return kNever<double>;
  fill(forward_, false);
  const Index width = capacity_ + 1;
  if (forward_[cells() * width + capacity_] == kNever<double>) return kNever<double>;
  for (Index c = cells() - 1, w = capacity_; c >= 0; --c) {
    const double* before = forward_.data() + c * width;
    const bool can = weights_[c] <= w && forced_[c] != Truth::no;
    true_[c] = can && (forced_[c] == Truth::yes || before[w - weights_[c]] + gains_[c] > before[w]);
    if (true_[c]) w -= weights_[c];
  }
  return choose(used);
}

bool KnapsackPart::complete(const std::vector<Index>& used, double* score) {
  const double sum = take(used);
  Index weight = 0;
  for (Index c = 0; c < cells(); ++c) weight += true_[c] ? weights_[c] : 0;
  *score = weight <= capacity_ ? sum : kNever<double>;
  return true;
}

bool KnapsackPart::max_marginals(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  std::fill_n(without, cells(), kNever<double>);
  if (!read()) return true;
  fill(forward_, false);
  fill(backward_, true);
  const Index width = capacity_ + 1;
  for (Index c = 0; c < cells(); ++c) {
    const double *before = forward_.data() + c * width, *after = backward_.data() + (c + 1) * width;
    for (Index w = 0; w <= capacity_; ++w) {
      if (forced_[c] != Truth::yes) without[c] = std::max(without[c], base_ + before[w] + after[capacity_ - w]);
      const Index rest = capacity_ - w - weights_[c];
      if (forced_[c] != Truth::no && rest >= 0)
        with[c] = std::max(with[c], base_ + before[w] + after[rest] + gains_[c]);
    }
    heed_(2 * width);
  }
  turn(with, without);
  return true;
}

// Leaving literals false is always possible; one may be true if the forced ones leave room for it.
bool KnapsackPart::find_possible(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  std::fill_n(without, cells(), kNever<double>);
  if (!read()) return true;
  Index room = capacity_;
  for (Index c = 0; c < cells(); ++c) room -= forced_[c] == Truth::yes ? weights_[c] : 0;
  for (Index c = 0; c < cells() && room >= 0; ++c) {
    if (forced_[c] == Truth::yes || (forced_[c] == Truth::open && weights_[c] <= room)) with[c] = 0;
    if (forced_[c] != Truth::yes) without[c] = 0;
  }
  turn(with, without);
  return true;
}

}  // namespace certus::relax
