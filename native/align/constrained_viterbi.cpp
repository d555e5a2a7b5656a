#include "align/constrained_viterbi.hpp"

#include <algorithm>

namespace certus::align {

ConstrainedViterbi::ConstrainedViterbi(const RelaxedLattice& lattice, Index limit)
    : lattice_(lattice),
      limit_(limit),
      index_((lattice.rows() + 1) * (lattice.columns() + 1), -1),
      of_row_(lattice.rows() + 1),
      layers_(lattice.rows() + lattice.columns() + 1),
      options_(lattice.columns() + 1) {}

bool ConstrainedViterbi::add(Index row, Index column) {
  if (size() >= kMost) return false;
  index_[row * (lattice_.columns() + 1) + column] = size();
  of_row_[row].set(size());
  rows_.push_back(row);
  return true;
}

// The ways to have a link: from each row whose constraint is active, and from the best of all others.
void ConstrainedViterbi::list_options(Index row, Index column, std::vector<Option>& options) const {
  options.clear();
  Option other{kNever<double>, -1, -1};
  for (Index before = 0; before <= lattice_.rows(); ++before) {
    const double score = lattice_.link(before, row, column);
    if (score == kNever<double>) continue;
    if (const Index constraint = find_constraint(before, column - 1); constraint >= 0)
      options.push_back({score, before, constraint});
    else if (score > other.score) other = {score, before, -1};
  }
  if (other.before >= 0) options.push_back(other);
  std::sort(options.begin(), options.end(), [](const Option& a, const Option& b) { return a.score > b.score; });
}

// Notes a link and where its step comes from; false if no answer can hold both.
bool ConstrainedViterbi::take(Index row, Index column, const Option& option, Hypothesis& made) const {
  if (const Index own = column < lattice_.columns() ? find_constraint(row, column) : -1; own >= 0) {
    if (made.owed[own]) made.owed.reset(own);
    else made.open.set(own);
  }
  if (option.constraint < 0) return true;
  if (made.open[option.constraint]) {
    made.open.reset(option.constraint);
    return true;
  }
  if (option.before <= row || made.owed[option.constraint]) return false;
  made.owed.set(option.constraint);
  return true;
}

void ConstrainedViterbi::start_layer() {
  layers_[++layer_].clear();
  std::fill(slots_.begin(), slots_.end(), -1);
}

// Adds a hypothesis to the last layer unless a better one carries the same; false if there are too many.
bool ConstrainedViterbi::keep(const Hypothesis& made) {
  std::vector<Hypothesis>& layer = layers_[layer_];
  if (2 * (layer.size() + 1) > slots_.size()) {
    slots_.assign(std::max<std::size_t>(1024, 4 * slots_.size()), -1);
    std::vector<Hypothesis> all;
    all.swap(layer);
    kept_ -= static_cast<Index>(all.size());
    for (const Hypothesis& one : all) keep(one);
  }
  const std::hash<Set> hash;
  std::size_t slot = (hash(made.open) * 31 + hash(made.owed)) * 31 +
                     static_cast<std::size_t>(made.column * 16 + made.state) * 0x9E3779B97F4A7C15ULL;
  for (slot &= slots_.size() - 1; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
    Hypothesis& other = layer[slots_[slot]];
    if (other.column != made.column || other.state != made.state || other.open != made.open || other.owed != made.owed)
      continue;
    if (made.score > other.score) other = made;
    return true;
  }
  slots_[slot] = static_cast<Index>(layer.size());
  layer.push_back(made);
  is_full_ = ++kept_ > limit_;
  return !is_full_;
}

// Links of target words to nothing, column by column.
bool ConstrainedViterbi::run_nothing(double least) {
  double rest = lattice_.ahead(0, 0, 0);
  for (Index column = 1; column <= lattice_.columns(); ++column) rest += std::max(0.0, lattice_.best_link(0, column));
  Hypothesis first{{}, {}, lattice_.start(), -1, 0, 0, {-1, -1, -1}};
  if (const Index constraint = find_constraint(0, 0); constraint >= 0) first.open.set(constraint);
  layer_ = 0;
  layers_[0].assign(1, first);
  for (Index column = 1; column <= lattice_.columns(); ++column) {
    rest -= std::max(0.0, lattice_.best_link(0, column));
    heed_(4 * lattice_.rows());
    list_options(0, column, options_[column]);
    start_layer();
    const std::vector<Hypothesis>& before = layers_[layer_ - 1];
    for (std::size_t n = 0; n < before.size(); ++n) {
      heed_(16);
      Hypothesis made = before[n];
      made.parent = static_cast<Index>(n);
      made.before[1] = -1;
      if (made.score + rest > least && !keep(made)) return false;
      for (const Option& option : options_[column]) {
        Hypothesis with = made;
        with.score += option.score;
        with.before[1] = option.before;
        if (with.score + rest <= least || !take(0, column, option, with)) continue;
        if (!keep(with)) return false;
      }
    }
  }
  std::erase_if(layers_[layer_], [&](const Hypothesis& one) { return (one.owed & of_row_[0]).any(); });
  return true;
}

// Adds the links of a state from `offset` on, in all ways. The score has the relaxed scores of those to come.
void ConstrainedViterbi::expand(Index row, const Hypothesis& made, Index offset, double least) {
  if (is_full_) return;
  const RelaxedLattice::State& state = lattice_.states()[made.state];
  while (offset < 3 && !(made.column > 0 && state.has[offset])) ++offset;
  if (offset == 3) {
    if ((made.owed & of_row_[row]).none()) keep(made);
    return;
  }
  const Index column = made.column + offset - 1;
  for (const Option& option : options_[column]) {
    heed_(16);
    Hypothesis with = made;
    with.score += option.score - lattice_.best_link(row, column);
    if (with.score + lattice_.ahead(row, made.column, made.state) <= least) break;  // options are by score
    with.before[offset] = option.before;
    if (take(row, column, option, with)) expand(row, with, offset + 1, least);
  }
}

bool ConstrainedViterbi::run_row(Index row, double least) {
  for (Index column = 1; column <= lattice_.columns(); ++column) {
    heed_(4 * lattice_.rows());
    list_options(row, column, options_[column]);
  }
  start_layer();
  const std::vector<Hypothesis>& before = layers_[layer_ - 1];
  const std::vector<RelaxedLattice::Edge>& edges = lattice_.edges(row);
  const auto width = static_cast<Index>(lattice_.states().size());
  for (std::size_t n = 0; n < before.size() && !is_full_; ++n) {
    const Hypothesis& from = before[n];
    auto edge = std::lower_bound(edges.begin(), edges.end(), from.column,
                                 [](const RelaxedLattice::Edge& one, Index column) { return one.from < column; });
    for (; edge != edges.end() && edge->from == from.column; ++edge)
      for (Index s = 0; s < (edge->to ? width : 1); ++s) {
        heed_(4);
        if (!lattice_.is_alive(row, edge->to, s) || !lattice_.are_compatible(from.column, from.state, edge->to, s))
          continue;
        const double score = from.score + edge->score + lattice_.gain(row, edge->to, s);
        if (score + lattice_.ahead(row, edge->to, s) <= least) continue;
        expand(row, {from.open, from.owed, score, static_cast<Index>(n), edge->to, s, {-1, -1, -1}}, 0, least);
      }
  }
  return !is_full_;
}

bool ConstrainedViterbi::maximize(double least, RelaxedAnswer& answer) {
  answer.value = kNever<double>;
  kept_ = 0;
  is_full_ = false;
  if (!run_nothing(least)) return false;
  for (Index row = 1; row <= lattice_.rows(); ++row)
    if (!run_row(row, least)) return false;
  find_answer(answer);
  return true;
}

void ConstrainedViterbi::find_answer(RelaxedAnswer& answer) const {
  Index best = -1;
  const std::vector<Hypothesis>& last = layers_[layer_];
  for (std::size_t n = 0; n < last.size(); ++n)
    if (last[n].open.none() && last[n].owed.none() && last[n].score > answer.value) {
      answer.value = last[n].score;
      best = static_cast<Index>(n);
    }
  answer.source.assign(lattice_.rows(), 0);
  answer.links.clear();
  for (Index layer = layer_; best >= 0 && layer > 0; --layer) {
    const Hypothesis& one = layers_[layer][best];
    const Index row = layer - lattice_.columns();  // up to 0: layers of nothing's links
    if (row > 0) answer.source[row - 1] = one.column;
    for (Index k = 0; k < 3; ++k)
      if (one.before[k] >= 0)
        answer.links.push_back(row > 0 ? RelaxedLink{row, one.column + k - 1, one.before[k]}
                                       : RelaxedLink{0, layer, one.before[k]});
    best = one.parent;
  }
}

}  // namespace certus::align
