#include "hypergraph/beam.hpp"
#include "base/limits.hpp"

#include <algorithm>
#include <memory>

#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"

namespace certus::hypergraph {
namespace {

constexpr std::size_t kAsk = 256;  // states between looks at the clock
constexpr Index kTries = 64;       // candidates looked at per state of the beam

}  // namespace

Beam::Beam(const Relaxation& relaxation, Signatures& signatures)
    : f_(relaxation.forest()),
      weights_(relaxation.adjusted()),
      signatures_(signatures),
      in_(static_cast<std::size_t>(f_.nodes)),
      out_(static_cast<std::size_t>(f_.nodes)),
      scratch_(static_cast<std::size_t>(std::max<Index>(1, f_.longest))) {}

bool Beam::run(const Settings& settings, const std::function<bool()>& is_late) {
  max_inside(f_, weights_.data(), in_.data());
  max_outside(f_, weights_.data(), in_.data(), out_.data());
  states_.clear();
  ways_.clear();
  tails_.clear();
  begin_.assign(1, 0);
  dropped_ = kNever<double>;
  goal_ = -1;
  full_ = false;
  std::size_t asked = 0;
  for (Node v = 0; v < f_.nodes; ++v) {
    if (states_.size() > asked + kAsk) {
      if (is_late()) return false;
      asked = states_.size();
    }
    if (v <= f_.goal() && out_[v] != kNever<double> && in_[v] + out_[v] >= settings.least) fill(v, settings);
    begin_.push_back(static_cast<std::int32_t>(states_.size()));
  }
  const std::int32_t first = begin_[f_.goal()];
  for (std::int32_t s = begin_[f_.goal() + 1]; s-- > first;)
    if (signatures_.is_target(states_[s].signature)) goal_ = s;
  return true;
}

// The states of a node, best first.
void Beam::fill(Node v, const Settings& settings) {
  least_ = settings.least - out_[v];
  begin(v);
  const Index tries = settings.width < kNoCountLimit / kTries ? kTries * settings.width : kNoCountLimit;
  const std::size_t first = states_.size();
  for (Index looked = 0; !heap_.empty(); ++looked) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Candidate candidate = heap_.back();
    heap_.pop_back();
    const Signatures::Id signature = sign(candidate);
    const bool fits = signatures_.fits(signature, v);
    const bool is_new = fits && find(signature) < 0;
    const bool wide = static_cast<Index>(states_.size() - first) >= settings.width;
    full_ |= static_cast<Index>(ways_.size()) >= settings.most_ways;
    if ((is_new && wide) || full_ || looked >= tries) {
      dropped_ = std::max(dropped_, candidate.value + out_[v]);
      break;
    }
    if (fits && (is_new || settings.keep_ways)) take(candidate, signature);
    add_neighbours(candidate);
  }
  for (const Signatures::Id id : seen_) state_of_[id] = -1;
  seen_.clear();
}

void Beam::begin(Node v) {
  heap_.clear();
  ranks_.clear();
  std::fill(scratch_.begin(), scratch_.end(), 0);
  for (Edge e = f_.begin[v]; e < f_.begin[v + 1]; ++e) {
    if (weights_[e] == kNever<double> || signatures_.of(e) == Signatures::kNone) continue;
    bool possible = true;
    for (Edge i = f_.tail_begin[e]; i < f_.tail_begin[e + 1]; ++i)
      possible &= begin_[f_.tail[i]] < begin_[f_.tail[i] + 1];
    if (possible) push(e, scratch_.data(), 0);
  }
}

// Each combination of ranks is reached in one way: by raising the last raised tail, or one after it.
void Beam::add_neighbours(const Candidate& candidate) {
  const Edge first = f_.tail_begin[candidate.edge], arity = f_.tail_begin[candidate.edge + 1] - first;
  for (std::int32_t i = candidate.raised; i < arity; ++i) {
    const Node tail = f_.tail[first + i];
    std::copy_n(ranks_.begin() + candidate.ranks, arity, scratch_.begin());
    if (begin_[tail] + ++scratch_[i] < begin_[tail + 1]) push(candidate.edge, scratch_.data(), i);
  }
}

void Beam::push(Edge e, const std::int32_t* ranks, std::int32_t raised) {
  const Edge first = f_.tail_begin[e], arity = f_.tail_begin[e + 1] - first;
  heed_(8 + 2 * arity);
  double value = weights_[e];
  for (Edge i = 0; i < arity; ++i) value += states_[begin_[f_.tail[first + i]] + ranks[i]].value;
  if (value < least_) return;
  heap_.push_back({value, e, static_cast<std::int32_t>(ranks_.size()), raised});
  std::push_heap(heap_.begin(), heap_.end());
  ranks_.insert(ranks_.end(), ranks, ranks + arity);
}

Signatures::Id Beam::sign(const Candidate& candidate) {
  const Edge first = f_.tail_begin[candidate.edge], arity = f_.tail_begin[candidate.edge + 1] - first;
  Signatures::Id id = signatures_.of(candidate.edge);
  for (Edge i = 0; i < arity; ++i)
    id = signatures_.add(id, states_[begin_[f_.tail[first + i]] + ranks_[candidate.ranks + i]].signature);
  return id;
}

std::int32_t Beam::find(Signatures::Id signature) const {
  return static_cast<std::size_t>(signature) < state_of_.size() ? state_of_[signature] : -1;
}

void Beam::take(const Candidate& candidate, Signatures::Id signature) {
  std::int32_t state = find(signature);
  if (state < 0) {
    state = static_cast<std::int32_t>(states_.size());
    states_.push_back({candidate.value, signature, static_cast<std::int32_t>(ways_.size())});
    if (state_of_.size() <= static_cast<std::size_t>(signature)) state_of_.resize(2 * signature + 16, -1);
    state_of_[signature] = state;
    seen_.push_back(signature);
  }
  const Edge first = f_.tail_begin[candidate.edge], arity = f_.tail_begin[candidate.edge + 1] - first;
  ways_.push_back({candidate.edge, state, static_cast<std::int32_t>(tails_.size())});
  for (Edge i = 0; i < arity; ++i) tails_.push_back(begin_[f_.tail[first + i]] + ranks_[candidate.ranks + i]);
}

bool Beam::derivation(std::vector<Edge>& edges) const {
  std::vector<std::int32_t> stack;
  return derive(goal_, edges, stack, [&](std::int32_t state) {
    const Way& way = ways_[states_[state].way];
    const Edge arity = f_.tail_begin[way.edge + 1] - f_.tail_begin[way.edge];
    for (Edge i = arity; i-- > 0;) stack.push_back(tails_[way.tails + i]);
    return way.edge;
  });
}

Beam::Product Beam::make_product() const {
  std::vector<Index> heads, offsets{0}, tails, goals;
  for (const Way& way : ways_) {
    const Edge arity = f_.tail_begin[way.edge + 1] - f_.tail_begin[way.edge];
    heads.push_back(way.state);
    tails.insert(tails.end(), tails_.begin() + way.tails, tails_.begin() + way.tails + arity);
    offsets.push_back(static_cast<Index>(tails.size()));
  }
  for (std::int32_t s = begin_[f_.goal()]; s < begin_[f_.goal() + 1]; ++s)
    if (signatures_.is_target(states_[s].signature)) goals.push_back(s);
  Product product;
  product.forest =
      std::make_unique<Forest>(Given{static_cast<Index>(states_.size()), static_cast<Index>(heads.size()), heads.data(),
                                     offsets.data(), tails.data(), goals.data(), static_cast<Index>(goals.size())});
  product.edge.assign(static_cast<std::size_t>(product.forest->edges), kCrown);
  for (Edge e = 0; e < product.forest->edges; ++e)
    if (product.forest->edge_id[e] < product.forest->given_edges)
      product.edge[e] = ways_[product.forest->edge_id[e]].edge;
  return product;
}

}  // namespace certus::hypergraph
