#include "corpus/subgradient.hpp"

#include <algorithm>
#include <limits>

namespace certus::corpus {

Subgradient::Subgradient(Field& field, double rate, bool lazy) : field_(field), rate_(rate), lazy_(lazy) {
  const Mrf& mrf = field.mrf();
  for (Region& region : field.components(field.everything())) {
    Component component;
    component.region = std::move(region);
    component.last = component.best = std::numeric_limits<double>::infinity();
    components_.push_back(std::move(component));
  }
  u_.assign(mrf.candidate_label.size(), 0);
  minus_u_ = u_;
  for (Index i = 0; i < field.blocks().slots(); ++i)  // words of nodes that are fixed: what they add does not change
    for (std::size_t k = mrf.candidates[i]; field.fixed(mrf.node_of[i]) && k < mrf.candidates[i + 1]; ++k)
      minus_u_[k] = mrf.agreement(mrf.candidate_label[k], field.consensus(mrf.node_of[i]));
  block_value_.assign(field.blocks().size(), 0);
  node_value_.assign(field.nodes(), 0);
  block_dirty_.assign(field.blocks().size(), 1);
  node_dirty_.assign(field.nodes(), 1);
  by_block_.assign(field.blocks().slots(), 0);
  by_node_ = by_block_;
  label_.assign(field.nodes(), 0);
}

// Solves what has changed, and sums the bound up.
void Subgradient::solve(Component& component, Step& step) {
  const Blocks& blocks = field_.blocks();
  const Mrf& mrf = field_.mrf();
  double bound = 0;
  for (const Index b : component.region.blocks) {
    if (block_dirty_[b] || !lazy_) {
      labels_.resize(blocks.length(b));
      block_value_[b] = field_.best(b, minus_u_.data() + mrf.candidates[blocks.slot[b]], labels_.data());
      for (Index p = 0; p < blocks.length(b); ++p) {
        const Index slot = blocks.slots_of(b)[p];
        if (slot < 0) continue;
        const auto first = mrf.candidate_label.begin() + static_cast<std::ptrdiff_t>(mrf.candidates[slot]);
        by_block_[slot] = static_cast<std::int32_t>(std::find(first, mrf.candidate_label.end(), labels_[p]) - first);
      }
      block_dirty_[b] = 0;
      ++step.blocks;
    }
    bound += block_value_[b];
  }
  for (const Index c : component.region.nodes) {
    if (node_dirty_[c] || !lazy_) {
      node_value_[c] = mrf.maximize(c, u_.data(), by_node_.data(), label_[c]);
      node_dirty_[c] = 0;
      ++step.nodes;
    }
    bound += node_value_[c];
  }
  if (bound > component.last) ++component.risen;
  component.last = bound;
  component.best = std::min(component.best, bound);
}

// Moves multipliers where words differ; returns how many do.
Index Subgradient::update(Component& component) {
  const Mrf& mrf = field_.mrf();
  const Blocks& blocks = field_.blocks();
  const double rate = rate_ / (1.0 + static_cast<double>(component.risen));
  Index disagree = 0;
  for (const Index b : component.region.blocks)
    for (std::size_t i = blocks.slot[b]; i < blocks.slot[b + 1]; ++i) {
      const Index c = mrf.node_of[i];
      if (by_block_[i] == by_node_[i] || field_.fixed(c)) continue;
      ++disagree;
      const std::size_t y = mrf.candidates[i] + by_block_[i], z = mrf.candidates[i] + by_node_[i];
      u_[y] += rate, u_[z] -= rate;
      minus_u_[y] = -u_[y], minus_u_[z] = -u_[z];
      block_dirty_[b] = node_dirty_[c] = 1;
    }
  return disagree;
}

Subgradient::Step Subgradient::iterate() {
  Step step;
  for (Component& component : components_) {
    if (!component.done) {
      solve(component, step);
      const Index disagree = update(component);
      component.done = disagree == 0;
      step.disagree += disagree;
    }
    step.bound += component.best;
  }
  return step;
}

Region Subgradient::finish() {
  Region open;
  for (Component& component : components_) {
    for (const Index c : component.region.nodes) field_.choose(c, label_[c]);
    if (component.done) {
      field_.fix(component.region);
    } else {
      field_.improve(component.region);
      open.add(component.region);
    }
  }
  return open;
}

}  // namespace certus::corpus
