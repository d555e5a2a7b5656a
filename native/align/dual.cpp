#include "align/dual.hpp"

#include <algorithm>

namespace certus::align {
namespace {

// Of a value a, the edge to a itself gets the share of `same`, those to its two neighbours that of `before` and
// `after`, and at most three more edges, those near the best value, get that of what is elsewhere: 0.3 + 2 * 0.1 + 3 /
// 6 = 1.
constexpr double kShare[] = {1.0 / 6, 1.0 / 6, 0.1, 0.3, 0.1};

}  // namespace

Dual::Dual(const Agreed& problem) : problem_(problem), scale_(measure_scale(problem)) {
  price_ = {problem.prices.alone, problem.prices.apart, problem.prices.adjacent, 0, problem.prices.adjacent};
  for (int s = 0; s < 2; ++s) {
    const Side& side = problem.side[s];
    messages_[s].assign(problem.side[0].words * problem.side[1].words, Message{});
    allowed_[s].resize(side.words * side.values);
    for (Index k = 0; k < side.words * side.values; ++k) allowed_[s][k] = side.choice[k] > kNever<double>;
    classes_[s].resize(problem.side[0].words * problem.side[1].words);
    loss_[s].resize(side.words * side.values);
    path_[s].resize(side.words);
  }
}

// Which classes the allowed values of a word belong to, for each word of the other side.
void Dual::note_classes(int s) {
  const Side& side = problem_.side[s];
  const Index others = side.values - 1;
  for (Index word = 0; word < side.words; ++word) {
    const char* allowed = allowed_[s].data() + word * side.values;
    Index count = 0;
    for (Index value = 1; value <= others; ++value) count += allowed[value];
    for (Index other = 1; other <= others; ++other) {
      const bool near[3] = {other > 1 && allowed[other - 1], allowed[other] != 0, other < others && allowed[other + 1]};
      const bool elsewhere = count > near[0] + near[1] + near[2];
      classes_[s][word * others + other - 1] = static_cast<std::uint8_t>(
          (allowed[0] ? 1 << nothing : 0) | elsewhere << far | near[0] << before | near[1] << same | near[2] << after);
    }
  }
}

bool Dual::has_class(int s, Index word, Index other, Class c) const {
  return classes_[s][word * (problem_.side[s].values - 1) + other] >> c & 1;
}

// Takes from an edge all that it can give to a word.
void Dual::pull(int s, Index word, Index other) {
  double *own = edge_message(s, word, other), *others = edge_message(1 - s, other, word);
  // Seen from edge (word, other), the other word's value `same` is `word`.
  for (int c = 0; c < kClasses; ++c) {
    if (!has_class(s, word, other, static_cast<Class>(c))) continue;
    double best = kNever<double>;
    for (int o = 0; o < kClasses; ++o)
      if (has_class(1 - s, other, word, static_cast<Class>(o)))
        best = std::max(best, pay(static_cast<Class>(c), static_cast<Class>(o)) - others[o]);
    own[c] = std::max(best, -scale_);
  }
}

// Adds to the choices of a word what the edges have given: those of class far at all edges, but for three of each
// value.
void Dual::sum_messages(int s, Index word, double* scores) {
  const Side& side = problem_.side[s];
  const Index others = side.values - 1;
  double all = 0, none = 0;
  for (Index other = 0; other < others; ++other) {
    const double* m = edge_message(s, word, other);
    all += m[far];
    none += m[nothing];
  }
  for (Index value = 0; value <= others; ++value) {
    if (!is_allowed(s, word, value)) {
      scores[value] = kNever<double>;
      continue;
    }
    double sum = side.choice[word * side.values + value] + (value ? all : none);
    if (value)
      for (Index other = std::max<Index>(1, value - 1); other <= std::min(others, value + 1); ++other) {
        const double* m = edge_message(s, word, other - 1);
        sum += m[value < other ? before : value == other ? same : after] - m[far];
      }
    scores[value] = sum;
  }
}

void Dual::push(int s, Index word, const double* loss) {
  const Index others = problem_.side[s].values - 1;
  Index best = 0;  // elsewhere than at three edges near the best value, the class of what is elsewhere loses nothing
  for (Index value = 1; value <= others; ++value)
    if (loss[value] > loss[best]) best = value;
  for (Index other = 1; other <= others; ++other) {
    double* m = edge_message(s, word, other - 1);
    double elsewhere = loss[0];
    if (best == 0 || best < other - 1 || best > other + 1) {
      elsewhere = 0;
    } else {
      for (Index value = 1; value <= others; ++value)
        if (value < other - 1 || value > other + 1) elsewhere = std::max(elsewhere, loss[value]);
    }
    const auto give = [&](Class c, double amount) { m[c] -= kShare[c] * std::max(amount, -scale_); };
    give(nothing, elsewhere);
    give(far, elsewhere);
    if (other > 1) give(before, loss[other - 1]);
    give(same, loss[other]);
    if (other < others) give(after, loss[other + 1]);
  }
}

// ahead_[word][value]: the best of what follows a value.
void Dual::look_ahead(int s) {
  const Side& side = problem_.side[s];
  const Index words = side.words, values = side.values;
  ahead_.assign(words * values, 0);
  for (Index word = words - 1; word-- > 0;) {
    heed_(side.step ? values * values : values);
    const double *next = scores_.data() + (word + 1) * values, *later = ahead_.data() + (word + 1) * values;
    double *ahead = ahead_.data() + word * values, best = kNever<double>;
    for (Index to = 0; to < values; ++to) best = std::max(best, next[to] + later[to]);
    std::fill_n(ahead, values, side.step ? kNever<double> : best);
    for (Index from = 0; side.step && from < values; ++from)
      for (Index to = 0; to < values; ++to)
        ahead[from] = std::max(ahead[from], side.step[from * values + to] + next[to] + later[to]);
  }
}

// Max-marginals of a chain from left to right, less the best; returns the best. If `pushing`, what edges can give is
// taken first, and what is pushed at a word is gone from the chain when the next is reached.
double Dual::pass(int s, bool pushing) {
  const Side& side = problem_.side[s];
  const Index words = side.words, values = side.values;
  for (Index word = 0; pushing && word < words; ++word) {
    heed_(values * kClasses * kClasses);
    for (Index other = 0; other + 1 < values; ++other) pull(s, word, other);
  }
  scores_.resize(words * values);
  for (Index word = 0; word < words; ++word) sum_messages(s, word, scores_.data() + word * values);
  look_ahead(s);
  behind_.assign(2 * values, kNever<double>);
  double *reached = behind_.data(), *reaching = behind_.data() + values, total = 0;
  reached[0] = 0;  // before the first word is nothing
  for (Index word = 0; word < words; ++word) {
    heed_(side.step ? values * values : kClasses * values);
    double *row = loss_[s].data() + word * values, *scores = scores_.data() + word * values;
    std::fill_n(reaching, values, side.step ? kNever<double> : *std::max_element(reached, reached + values));
    for (Index from = 0; side.step && from < values; ++from)
      for (Index to = 0; to < values; ++to)
        reaching[to] = std::max(reaching[to], reached[from] + side.step[from * values + to]);
    for (Index value = 0; value < values; ++value)
      row[value] = reaching[value] + scores[value] + ahead_[word * values + value];
    const double* most = std::max_element(row, row + values);
    path_[s][word] = most - row;
    total = *most;
    if (total == kNever<double>) return total;
    for (Index value = 0; value < values; ++value) row[value] -= total;
    if (pushing) {
      push(s, word, row);
      sum_messages(s, word, scores);
    }
    for (Index value = 0; value < values; ++value) reaching[value] += scores[value];
    std::swap(reached, reaching);
  }
  return total;
}

double Dual::find_edges() {
  double sum = 0;
  for (Index i = 0; i < problem_.side[0].words; ++i)
    for (Index j = 0; j < problem_.side[1].words; ++j) {
      const double *own = message(0, i, j), *other = message(1, i, j);
      double best = kNever<double>;
      for (int c = 0; c < kClasses; ++c) {
        if (!has_class(0, i, j, static_cast<Class>(c))) continue;
        for (int o = 0; o < kClasses; ++o)
          if (has_class(1, j, i, static_cast<Class>(o)))
            best = std::max(best, pay(static_cast<Class>(c), static_cast<Class>(o)) - own[c] - other[o]);
      }
      sum += best;
    }
  return sum;
}

double Dual::ascend() {
  for (int s = 0; s < 2; ++s) note_classes(s);
  for (int s = 0; s < 2; ++s)
    if (pass(s, true) == kNever<double>) return kNever<double>;
  for (int s = 0; s < 2; ++s) value_[s] = pass(s, false);
  return value_[0] + value_[1] + find_edges();
}

Index Dual::prune(double score, double slack) {
  Index ruled_out = 0;
  const double bound = value_[0] + value_[1] + find_edges();
  for (int s = 0; s < 2; ++s)
    for (std::size_t k = 0; k < allowed_[s].size(); ++k)
      if (allowed_[s][k] && bound + loss_[s][k] <= score + slack) {
        allowed_[s][k] = 0;
        ++ruled_out;
      }
  return ruled_out;
}

}  // namespace certus::align
