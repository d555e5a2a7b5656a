#include "latent/sequences.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/probing.hpp"

namespace certus::latent {

std::size_t Sequences::place(const Label* labels) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15ull;
  for (Index t = 0; t < length_; ++t) {
    hash = (hash ^ static_cast<std::uint64_t>(labels[t])) * 0xa0761d6478bd642full;
    hash ^= hash >> 29;
  }
  return find_slot(hash, slots_.size() - 1, [&](std::size_t at) {
    return slots_[at] < 0 || std::equal(labels, labels + length_, this->labels(slots_[at]));
  });
}

void Sequences::add(const Label* labels, double log_probability) {
  const Index number = size();
  slots_[asked_] = number;
  labels_.insert(labels_.end(), labels, labels + length_);
  log_.push_back(log_probability);
  mass_ += std::exp(log_probability);
  if (2 * log_.size() >= slots_.size()) grow();
  if (!(log_probability > least()) && static_cast<Index>(best_.size()) == k_) return;
  std::size_t n = best_.size();
  while (n > 0 && log_[best_[n - 1]] < log_probability) --n;
  best_.insert(best_.begin() + static_cast<std::ptrdiff_t>(n), number);
  if (static_cast<Index>(best_.size()) > k_) best_.pop_back();
}

void Sequences::grow() {
  slots_.assign(2 * slots_.size(), -1);
  for (Index n = 0; n < size(); ++n) slots_[place(labels(n))] = n;
}

std::vector<Index> Sequences::ranked() const {
  std::vector<Index> out(log_.size());
  std::iota(out.begin(), out.end(), Index{0});
  std::stable_sort(out.begin(), out.end(), [&](Index a, Index b) { return log_[a] > log_[b]; });
  return out;
}

}  // namespace certus::latent
