#include <algorithm>

#include "chain/marginals/marginals.hpp"
#include "chain/marginals/max_marginals.hpp"
#include "lattice/lattices.hpp"

namespace certus::lattice {

void ChainLattices::add_up(Index n, const Adjustments& adjust, std::vector<double>& scores) const {
  const Index T = length(n), L = labels_;
  const float* const emission = emissions_ + first_[n] * L;
  scores.assign(emission, emission + T * L);
  for (Index i = 0; i < adjust.count; ++i) {
    double* const row = scores.data() + (adjust.tokens[i] - first_[n]) * L;
    for (Index y = 0; y < L; ++y) row[y] += adjust.scores[i * L + y];
  }
}

double ChainLattices::search(Index n, const Adjustments& adjust, Label* labels, Scratch& w) const {
  const Index T = length(n), L = labels_;
  add_up(n, adjust, w.scores);
  w.path.resize(T);
  double score = kNever<double>;
  const certus::Sentence<double> sentence{w.scores.data(), T, L};
  const Result result = run(chain_, auto_method(), sentence, Request{}, w.path.data(), &score);
  if (!result.found || result.status != Status::optimal) return kNever<double>;
  std::copy(w.path.begin(), w.path.end(), labels);
  if (adjust.count) {
    add_up(n, {}, w.scores);
    path_scores(chain_, {w.scores.data(), T, L}, w.path.data(), 1, &score);
  }
  return score;
}

void ChainLattices::search_through(Index n, const Adjustments& adjust, double* best, Scratch& w) const {
  add_up(n, adjust, w.scores);
  certus::max_marginals(chain_, {w.scores.data(), length(n), labels_}, best);
}

template <class Edge>
void ChainLattices::spell_out(Index n, LatticeOf<Edge>& lattice) const {
  const Index T = length(n), L = labels_;
  const Dense<double>& transitions = chain_.dense();
  const auto join = [&](double score) { lattice.edge.push_back(static_cast<Edge>(score)); };
  lattice.clear();
  lattice.add_state(static_cast<Label>(L), 0, 0);
  lattice.end_position();
  for (Index t = 0; t < T; ++t) {
    const std::size_t before = lattice.begin[t];
    for (Index y = 0; y < L; ++y) {
      if (t == 0) join(chain_.start() ? chain_.start()[y] : 0);
      for (Index i = 0; t > 0 && i < L; ++i) join(transitions.data[i * transitions.stride + y]);
      lattice.add_state(static_cast<Label>(y), emissions_[(first_[n] + t) * L + y], before);
    }
    lattice.end_position();
  }
  for (Index y = 0; y < L; ++y) join(chain_.end() ? chain_.end()[y] : 0);
  lattice.add_state(static_cast<Label>(L), 0, lattice.begin[T]);
  lattice.end_position();
}

const Lattice& ChainLattices::get(Index n, Lattice& room) const {
  spell_out(n, room);
  return room;
}

LatticeOf<double> ChainLattices::copy_lattice(Index n) const {
  LatticeOf<double> lattice;
  spell_out(n, lattice);
  return lattice;
}

}  // namespace certus::lattice
