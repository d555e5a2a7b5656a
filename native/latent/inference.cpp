#include "latent/inference.hpp"

#include <cmath>
#include <optional>

#include "base/conclusion.hpp"
#include "base/parallel.hpp"
#include "base/stopwatch.hpp"
#include "chain/marginals/marginals.hpp"
#include "chain/solvers/viterbi_astar.hpp"
#include "latent/label_search.hpp"
#include "latent/sequences.hpp"

namespace certus::latent {
namespace {

constexpr Index kMostExpanded = Index{1} << 18;  // of label search: its memory is limited

// Everything that is known of a sentence while it is searched.
template <class Kind>
class Search {
 public:
  Search(const LatentModel& model, const Moves& moves, const double* emissions, Index T, const LatentRequest& wanted,
         Arena& arena)
      : model_(model),
        wanted_(wanted),
        arena_(arena),
        weights_(model, moves, emissions, T, arena),
        slack_(rounding(model, moves, emissions, T)) {}

  double log_partition() const { return total_ + weights_.taken(); }

  // A label sequence, unless it is known.
  void take(const Label* labels) {
    if (!sequences_.has(labels)) sequences_.add(labels, weights_.sum_of(labels, arena_) - total_);
  }

  // The labels of latent paths, best first, for as long as something better may be among those to come.
  template <class Paths>
  void follow(Paths& paths, Index T, LatentAnswer& found) {
    Index* states = arena_.get<Index>(T);
    Label* labels = arena_.get<Label>(T);
    const Stopwatch watch;
    while (wanted_.steps == 0 || found.paths < wanted_.steps) {
      found.stopped = found.paths > 0 && watch.elapsed() >= wanted_.seconds;
      if (found.stopped) return;
      if (!paths.next(states)) {
        exhausted_ = true;
        return;
      }
      ++found.paths;
      for (Index t = 0; t < T; ++t) labels[t] = model_.owner(states[t]);
      take(labels);
      if (wanted_.all) continue;
      if (std::exp(sequences_.least()) >= wanted_.share * remaining()) return;
      if (wanted_.bounded && improve_bound(T, labels)) return;
    }
  }

  void settle(LatentAnswer& found) {
    found.remaining = exhausted_ ? 0 : std::max(0.0, 1 - sequences_.mass());
    found.unseen = exhausted_ ? kNever<double> : std::log(remaining());
    if (labels_ && !exhausted_) found.unseen = std::min(found.unseen, bound_unfound() + slack_);
    found.log_partition = log_partition();
    found.sequences = sequences_.size();
    found.expanded = labels_ ? labels_->expanded : 0;
    const std::vector<Index> ranked = wanted_.all ? sequences_.ranked() : sequences_.best();
    for (const Index n : ranked) {
      const Label* y = sequences_.labels(n);
      found.labels.insert(found.labels.end(), y, y + weights_.length());
      found.log_probability.push_back(sequences_.log_probability(n));
    }
    // The k-th best, or the last one there is.
    const bool all = found.unseen == kNever<double> && !ranked.empty();
    const double last = all ? found.log_probability.back() : sequences_.least();
    found.allowance = 3 * slack_;  // of the score, of the bound, and of what label search forgets
    found.status = conclude(last, found.unseen, found.allowance).status;
  }

 private:
  // What the sequences that were not found have together, at most.
  double remaining() const { return std::max(0.0, 1 - sequences_.mass()) + 2 * slack_; }

  // Works on the bound for about as long as a latent path takes; tells whether it shows that nothing better is to come.
  // Prefixes whose bound is at most the k-th best are forgotten: that best is then a bound on them.
  bool improve_bound(Index T, Label* labels) {
    const auto least = [&] { return sequences_.least() + slack_; };
    Heed heed;
    if (!labels_) labels_.emplace(weights_, least() + total_, arena_);
    for (Index n = 0; n < T && labels_->bound() - total_ > least(); ++n) {
      if (labels_->expanded >= kMostExpanded) return false;
      double mass;
      if (labels_->expand(least() + total_, labels, &mass) && !sequences_.has(labels))
        sequences_.add(labels, mass - total_);
      heed(model_.states() * model_.states() + 16 * model_.labels());
    }
    return labels_->bound() - total_ <= least();
  }
  // What label search says of those it has not found: they are below what is on its agenda, or were forgotten.
  double bound_unfound() const { return std::max(sequences_.least(), labels_->bound() - total_); }

  const LatentModel& model_;
  const LatentRequest& wanted_;
  Arena& arena_;
  Weights<Kind> weights_;
  double total_ = weights_.sum(arena_);  // log Z, less what was taken out
  double slack_;
  Sequences sequences_{weights_.length(), wanted_.k};
  std::optional<LabelSearch<Kind>> labels_;
  bool exhausted_ = false;
};

LatentAnswer marginals_in(const LatentModel& model, const Moves& moves, const double* emissions, Index T,
                          double* probabilities) {
  LatentAnswer found;
  const Index H = model.states(), L = model.labels();
  const LocalArena arena;
  double* of_states = arena.get<double>(T * H);
  Summary summary;
  if (spans_little(model, moves, emissions, T)) {
    const Weights<PowersOfTwo> weights(model, moves, emissions, T, arena);
    summary.position = weights.posteriors(of_states, &summary.log_partition, arena);
    summary.log_partition += weights.taken();
    if (summary.position >= 0) summary.status = Status::infeasible;
  } else {
    summary = marginals(moves.chain(), Sentence<double>{emissions, T, H}, of_states);
  }
  found.status = summary.status, found.position = summary.position, found.log_partition = summary.log_partition;
  std::fill_n(probabilities, T * L, 0.0);
  if (summary.status != Status::optimal) return found;
  for (Index t = 0; t < T; ++t)
    for (Index h = 0; h < H; ++h) probabilities[t * L + model.owner(h)] += of_states[t * H + h];
  return found;
}

template <class Kind>
void infer_in(const LatentModel& model, const Moves& moves, const double* emissions, Index T,
              const LatentRequest& wanted, Arena& arena, LatentAnswer& found) {
  const Trellis<Dense<double>> trellis(emissions, T, model.states(), moves.chain(), moves.chain().dense(), arena);
  Search<Kind> search(model, moves, emissions, T, wanted, arena);
  if (wanted.inference == Inference::bmp) {
    double* probabilities = arena.get<double>(T * model.labels());
    found = marginals_in(model, moves, emissions, T, probabilities);
    if (found.status == Status::infeasible) return;
    Label* labels = arena.get<Label>(T);
    for (Index t = 0; t < T; ++t) {
      const double* row = probabilities + t * model.labels();
      labels[t] = static_cast<Label>(std::max_element(row, row + model.labels()) - row);
    }
    search.take(labels);
    return search.settle(found);
  }
  const Forward<double> reach = forward(trellis, arena);
  if (reach.died >= 0) {
    found.status = Status::infeasible, found.position = reach.died;
    return;
  }
  NextBest<FullColumns<Dense<double>>> paths(FullColumns<Dense<double>>(trellis, reach, arena));
  search.follow(paths, T, found);
  search.settle(found);
}

// Puts the sequence that gains most in front.
void rerank(const Gain& gain, Index T, LatentAnswer& found) {
  const Index count = static_cast<Index>(found.log_probability.size());
  const Index best = gain.find_best(found.labels.data(), found.log_probability.data(), count, T, &found.gain);
  std::rotate(found.labels.begin(), found.labels.begin() + best * T, found.labels.begin() + (best + 1) * T);
  std::rotate(found.log_probability.begin(), found.log_probability.begin() + best,
              found.log_probability.begin() + best + 1);
  if (best != 0) found.status = Status::feasible;  // it is not the most probable, and does not mean to be
}

// k, or the number of label sequences if that is smaller.
Index limit_sequences(Index k, Index labels, Index T) {
  Index sequences = 1;
  for (Index t = 0; t < T && sequences < k; ++t) sequences *= labels;
  return std::min(k, sequences);
}

// There is one sequence of no labels.
LatentAnswer answer_empty() {
  LatentAnswer found;
  found.log_probability.push_back(0.0);
  found.sequences = 1;
  found.gain = 1;
  return found;
}

// Whether a score is NaN or +inf, or may add up with others to more than a double holds; says where.
bool find_bad_score(const Moves& moves, const double* emissions, Index T, LatentAnswer& found) {
  const Result bad = check_scores<double>(Sentence<double>{emissions, T, moves.chain().labels()}, moves.chain());
  if (bad.status != Status::invalid) return false;
  found.status = Status::invalid, found.position = bad.position, found.state = bad.label;
  return true;
}

// Calls use(moves): the model's own, or those of the sentence.
template <class Use>
void with_moves(const LatentModel& model, const Pairs& pairs, Index T, const Use& use) {
  if (pairs && T > 1) use(model.moves(pairs, T));
  else use(model.moves());
}

LatentAnswer infer(const LatentModel& model, const double* emissions, const Pairs& pairs, Index T,
                   const LatentRequest& asked) {
  if (T == 0) return answer_empty();
  LatentRequest wanted = asked;
  wanted.k = limit_sequences(asked.k, model.labels(), T);
  LatentAnswer found;
  const LocalArena arena;
  with_moves(model, pairs, T, [&](const Moves& moves) {
    if (find_bad_score(moves, emissions, T, found)) return;
    if (spans_little(model, moves, emissions, T))
      infer_in<PowersOfTwo>(model, moves, emissions, T, wanted, arena, found);
    else infer_in<Logarithms>(model, moves, emissions, T, wanted, arena, found);
  });
  if (found.status == Status::infeasible || found.status == Status::invalid) return found;
  if (wanted.gain) rerank(*wanted.gain, T, found);
  return found;
}

LatentAnswer label_marginals(const LatentModel& model, const double* emissions, const Pairs& pairs, Index T,
                             double* probabilities) {
  LatentAnswer found;
  if (T == 0) return found;
  with_moves(model, pairs, T, [&](const Moves& moves) {
    if (!find_bad_score(moves, emissions, T, found)) found = marginals_in(model, moves, emissions, T, probabilities);
  });
  return found;
}

// Calls use(emissions, pairs, T, first token) for every sentence.
template <class Use>
std::vector<LatentAnswer> answer_all(const LatentModel& model, const LatentBatch& batch, Index threads,
                                     const Use& use) {
  std::vector<LatentAnswer> answers(batch.sentences);
  parallel(batch.sentences, threads, [&](Index n, Index) {
    const Index begin = batch.first[n], T = batch.first[n + 1] - begin;
    answers[n] = use(batch.emissions + begin * model.states(), batch.pairs.into(begin + 1), T, begin);
  });
  return answers;
}

}  // namespace

std::vector<LatentAnswer> infer_all(const LatentModel& model, const LatentBatch& batch, const LatentRequest& wanted,
                                    Index threads) {
  return answer_all(model, batch, threads, [&](const double* emissions, const Pairs& pairs, Index T, Index) {
    return infer(model, emissions, pairs, T, wanted);
  });
}

std::vector<LatentAnswer> find_label_marginals(const LatentModel& model, const LatentBatch& batch,
                                               double* probabilities, Index threads) {
  return answer_all(model, batch, threads, [&](const double* emissions, const Pairs& pairs, Index T, Index begin) {
    return label_marginals(model, emissions, pairs, T, probabilities + begin * model.labels());
  });
}

LatentAnswer log_probability(const LatentModel& model, const double* emissions, const Pairs& pairs, Index T,
                             const Label* labels) {
  if (T == 0) return answer_empty();
  LatentAnswer found;
  const LocalArena arena;
  const auto in = [&](const auto& weights) { return weights.sum_of(labels, arena) - weights.sum(arena); };
  with_moves(model, pairs, T, [&](const Moves& moves) {
    if (find_bad_score(moves, emissions, T, found)) return;
    found.log_probability.push_back(spans_little(model, moves, emissions, T)
                                        ? in(Weights<PowersOfTwo>(model, moves, emissions, T, arena))
                                        : in(Weights<Logarithms>(model, moves, emissions, T, arena)));
  });
  return found;
}

}  // namespace certus::latent
