#include "syntax/dependency/head_automaton.hpp"

#include <algorithm>

#include "base/vector.hpp"

namespace certus::syntax {
namespace {

// F above, in place; out[k] is the value. From a state no candidate is passed over that is required.
CERTUS_CLONES void run_forward(const double* table, const double* weight, const Label* limit, Index k, double* out) {
  const Index K = k + 1;
  for (Index i = 0; i < K; ++i) out[i] = i <= limit[0] ? table[i] : kNever<double>;
  for (Index s = 0; s < k; ++s) {
    const double from = out[s] += weight[s];
    const double* row = table + (s + 1) * K;
    const Index end = limit[s + 1];
    for (Index i = s + 1; i <= end; ++i) {
      const double sum = from + row[i];
      out[i] = sum > out[i] ? sum : out[i];
    }
  }
}

// out[s + 1]: the best that can follow candidate s, and, at 0, START.
CERTUS_CLONES void run_backward(const double* table, const double* weight, const Label* limit, Index k, double* out) {
  const Index K = k + 1;
  for (Index s = k; s >= 0; --s) {
    const double* row = table + s * K;
    double best = kNever<double>;
    for (Index i = s; i <= limit[s]; ++i) {
      const double sum = row[i] + (i < k ? weight[i] + out[i + 1] : 0);
      best = sum > best ? sum : best;
    }
    out[s] = best;
  }
}

// skip[a]: the best pick that passes over candidate a.
void run_skips(const double* table, const double* weight, const Label* limit, Index k, const double* forward,
               const double* backward, double* skip) {
  const Index K = k + 1;
  std::fill(skip, skip + k, kNever<double>);
  for (Index s = 0; s < k; ++s) {  // START is 0, candidate c is c + 1
    const double from = s == 0 ? 0 : forward[s - 1];
    double best = kNever<double>;
    for (Index a = k - 1; a >= s; --a) {
      const Index i = a + 1;
      if (i <= limit[s]) best = std::max(best, from + table[s * K + i] + (i < k ? weight[i] + backward[i + 1] : 0));
      skip[a] = std::max(skip[a], best);
    }
  }
}

}  // namespace

void HeadAutomaton::assign_side(const Arcs& arcs, const TreeScores<double>& scores, Index side, const LiveArcs& live,
                                Side& out) {
  const Index all = arcs.candidates(side);
  std::vector<Index>& kept = kept_;
  kept.clear();
  out.arc.clear();
  for (Index i = 0; i < all; ++i) {
    const Label a = live.place[arcs.candidate(side, i)];
    if (a < 0) continue;
    kept.push_back(i);
    out.arc.push_back(a);
  }
  const Index k = out.size(), K = k + 1, parents = static_cast<Index>(parent_place_.size());
  out.limit.assign(K, static_cast<Label>(k));
  for (Index s = k - 1; s >= 0; --s)
    out.limit[s] = live.required[out.arc[s]] ? static_cast<Label>(s) : out.limit[s + 1];
  out.tables = scores.grandsiblings ? parents : 1;
  out.table.assign(out.tables * K * K, 0);
  for (Index p = 0; p < out.tables; ++p)
    for (Index s = 0; s < K; ++s)
      for (Index i = s; i < K; ++i) {
        const Index previous = s == 0 ? 0 : kept[s - 1] + 1, next = i == k ? all : kept[i];
        double& cell = out.table[(p * K + s) * K + i];
        if (scores.siblings) cell += scores.siblings[arcs.sibling(side, previous, next)];
        if (scores.grandsiblings)
          cell += scores.grandsiblings[arcs.grandsibling(side, parent_place_[p], previous, next)];
      }
  out.grandparent.assign(has_parents_ ? parents * k : 0, 0);
  for (Index p = 0; has_parents_ && p < parents; ++p)
    for (Index i = 0; i < k; ++i) {
      const Label arc = live.id[out.arc[i]];
      double& cell = out.grandparent[p * k + i];
      if (scores.grandparents) cell = scores.grandparents[arcs.grandparent(parent_place_[p], arc)];
      if (head_ > 0 && arcs.head(live.id[parent_[p]]) == arcs.modifier(arc)) cell = kNever<double>;
    }
  for (std::vector<double>* scratch : {&out.weight, &out.forward, &out.backward, &out.skip}) scratch->resize(K + 1);
}

void HeadAutomaton::assign(const Arcs& arcs, const TreeScores<double>& scores, Index head, const LiveArcs& live) {
  head_ = static_cast<Label>(head);
  has_parents_ = scores.has_parents();
  parent_.clear();
  parent_place_.clear();
  if (head > 0 && has_parents_) {
    for (Label i = arcs.into_begin(head); i < arcs.into_begin(head + 1); ++i) {
      const Label a = live.place[arcs.into(i)];
      if (a < 0) continue;
      parent_.push_back(a);
      parent_place_.push_back(i - arcs.into_begin(head));
    }
  } else {
    parent_place_.push_back(0);
  }
  for (const bool right : {false, true}) assign_side(arcs, scores, Arcs::side(head, right), live, side_[right]);
}

void HeadAutomaton::set_weights(Side& side, Index parent, const double* weights) const {
  const Index k = side.size();
  const double* more = side.grandparent.empty() ? nullptr : side.grandparent.data() + parent * k;
  for (Index i = 0; i < k; ++i) side.weight[i] = weights[side.arc[i]] + (more ? more[i] : 0);
}

double HeadAutomaton::pick(Side& side, Index parent, const double* weights) const {
  set_weights(side, parent, weights);
  run_forward(side.table_of(parent), side.weight.data(), side.limit.data(), side.size(), side.forward.data());
  return side.forward[side.size()];
}

// Lists the candidates of the best pick, outermost first; `forward` is that of the parent.
void HeadAutomaton::trace(Side& side, Index parent) const {
  const Index k = side.size(), K = k + 1;
  const double* table = side.table_of(parent);
  side.chosen.clear();
  Index at = k;
  while (true) {
    const double value = at == k ? side.forward[k] : side.forward[at];
    Index found = -1;  // START
    for (Index s = at - 1; s >= 0; --s) {
      if (at > side.limit[s + 1]) break;
      const double sum = side.forward[s] + table[(s + 1) * K + at];
      if ((at == k ? sum : sum + side.weight[at]) == value) {
        found = s;
        break;
      }
    }
    if (found < 0) return;
    side.chosen.push_back(static_cast<Label>(found));
    at = found;
  }
}

double HeadAutomaton::maximize(const double* weights, const double* parent_weights) {
  const Index parents = static_cast<Index>(parent_place_.size());
  double best = kNever<double>;
  best_parent_ = 0;
  for (Index p = 0; p < parents; ++p) {
    const double own = parent_.empty() ? 0 : parent_weights[parent_[p]];
    const double value = own + pick(side_[0], p, weights) + pick(side_[1], p, weights);
    if (value > best) best = value, best_parent_ = p;
  }
  if (best == kNever<double>) return best;
  for (Side& side : side_) {
    if (best_parent_ != parents - 1) pick(side, best_parent_, weights);
    trace(side, best_parent_);
  }
  return best;
}

void HeadAutomaton::list_chosen(std::vector<Label>& modifiers, Label* parent) const {
  modifiers.clear();
  for (const Side& side : side_)
    for (const Label i : side.chosen) modifiers.push_back(side.arc[i]);
  *parent = parent_.empty() ? -1 : parent_[best_parent_];
}

void HeadAutomaton::max_marginals(const double* weights, const double* parent_weights, double* with, double* without,
                                  double* parent_with) {
  for (const Side& side : side_)
    for (const Label a : side.arc) with[a] = without[a] = kNever<double>;
  for (Index p = 0; p < static_cast<Index>(parent_place_.size()); ++p) {
    const double own = parent_.empty() ? 0 : parent_weights[parent_[p]];
    const double value[2] = {pick(side_[0], p, weights), pick(side_[1], p, weights)};
    if (!parent_.empty()) parent_with[parent_[p]] = own + value[0] + value[1];
    for (const bool right : {false, true}) {
      Side& side = side_[right];
      const double rest = own + value[!right];
      const Index k = side.size();
      const double* table = side.table_of(p);
      run_backward(table, side.weight.data(), side.limit.data(), k, side.backward.data());
      run_skips(table, side.weight.data(), side.limit.data(), k, side.forward.data(), side.backward.data(),
                side.skip.data());
      for (Index i = 0; i < k; ++i) {
        const Label a = side.arc[i];
        with[a] = std::max(with[a], rest + side.forward[i] + side.backward[i + 1]);
        without[a] = std::max(without[a], rest + side.skip[i]);
      }
    }
  }
}

}  // namespace certus::syntax
