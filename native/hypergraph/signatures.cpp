#include "hypergraph/signatures.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/hash.hpp"
#include "base/probing.hpp"

namespace certus::hypergraph {
namespace {

constexpr Index kRanges = 1 << 24;  // rows times nodes up to which it is worth knowing what can surround a node

std::size_t count_words(bool bits, Index rows) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(bits ? (rows + 63) / 64 : rows));
}

}  // namespace

Signatures::Signatures(const Relaxation& relaxation)
    : r_(relaxation), bits_(choose_bits()), stride_(count_words(bits_, relaxation.rows().count)), slots_(64, kNone) {
  const Rows& rows = r_.rows();
  scratch_.assign(stride_, 0);
  target_.assign(stride_, 0);
  for (Index r = 0; r < rows.count; ++r)
    if (!bits_) target_[r] = std::bit_cast<Word>(rows.target[r] + 0.0);
    else if (rows.target[r] == 1) target_[r / 64] |= Word{1} << (r % 64);
  intern(scratch_.data());
  edges_.assign(static_cast<std::size_t>(r_.forest().edges), nothing());
  for (const Edge e : r_.coefficients().edge) edges_[e] = of_edge(e);
  if (rows.count * r_.forest().nodes <= kRanges) surround();
}

bool Signatures::choose_bits() const {
  const Coefficients& c = r_.coefficients();
  for (const double b : r_.rows().target)
    if (b != 0 && b != 1) return false;
  for (const double a : c.value)
    if (a != 0 && a != 1) return false;
  for (std::size_t t = 0; t < c.edge.size(); ++t)  // an edge that a row names twice counts twice
    for (Index i = c.begin[t] + 1; i < c.begin[t + 1]; ++i)
      if (c.row[i] == c.row[i - 1]) return false;
  return true;
}

void Signatures::surround() {
  const Index rows = r_.rows().count, nodes = r_.forest().nodes;
  low_ = r_.ranges(-1);
  high_ = r_.ranges(1);
  if (!bits_) return;
  reachable_.assign(static_cast<std::size_t>(nodes) * stride_, 0);
  forced_ = reachable_;
  for (Index r = 0; r < rows; ++r)
    for (Node v = 0; v < nodes; ++v) {
      const std::size_t word = static_cast<std::size_t>(v) * stride_ + static_cast<std::size_t>(r) / 64;
      if (high_[r * nodes + v] >= 1) reachable_[word] |= Word{1} << (r % 64);
      if (low_[r * nodes + v] >= 1) forced_[word] |= Word{1} << (r % 64);
    }
  low_ = {};
  high_ = {};
}

Signatures::Id Signatures::of_edge(Edge e) {
  const Coefficients& c = r_.coefficients();
  const std::int32_t t = c.of[e];
  std::fill(scratch_.begin(), scratch_.end(), 0);
  for (Index i = c.begin[t]; i < c.begin[t + 1]; ++i) {
    const auto r = static_cast<std::size_t>(c.row[i]);
    if (!bits_) scratch_[r] = std::bit_cast<Word>(std::bit_cast<double>(scratch_[r]) + c.value[i] + 0.0);
    else if (c.value[i] == 1) scratch_[r / 64] |= Word{1} << (r % 64);
  }
  if (bits_)
    for (std::size_t w = 0; w < stride_; ++w)
      if (scratch_[w] & ~target_[w]) return kNone;
  return intern(scratch_.data());
}

Signatures::Id Signatures::add(Id a, Id b) {
  if (a == kNone || b == kNone) return kNone;
  if (a == nothing()) return b;
  if (b == nothing()) return a;
  const Word *x = words_.data() + static_cast<std::size_t>(a) * stride_,
             *y = words_.data() + static_cast<std::size_t>(b) * stride_;
  if (bits_) {
    for (std::size_t w = 0; w < stride_; ++w) {
      if (x[w] & y[w]) return kNone;
      scratch_[w] = x[w] | y[w];
    }
  } else {
    for (std::size_t w = 0; w < stride_; ++w)  // + 0.0: there is one zero
      scratch_[w] = std::bit_cast<Word>(std::bit_cast<double>(x[w]) + std::bit_cast<double>(y[w]) + 0.0);
  }
  return intern(scratch_.data());
}

double Signatures::sum(Id id, Index r) const {
  return std::bit_cast<double>(words_[static_cast<std::size_t>(id) * stride_ + static_cast<std::size_t>(r)]);
}

bool Signatures::is_target(Id id) const {
  if (id == kNone) return false;
  const Word* words = words_.data() + static_cast<std::size_t>(id) * stride_;
  if (bits_) return std::equal(words, words + stride_, target_.begin());
  const Rows& rows = r_.rows();
  for (Index r = 0; r < rows.count; ++r)
    if (std::abs(sum(id, r) - rows.target[r]) > r_.tolerance(r)) return false;
  return true;
}

bool Signatures::fits(Id id, Node v) const {
  if (id == kNone) return false;
  if (bits_) {
    if (reachable_.empty()) return true;
    const std::size_t at = static_cast<std::size_t>(v) * stride_;
    const Word* words = words_.data() + static_cast<std::size_t>(id) * stride_;
    for (std::size_t w = 0; w < stride_; ++w)
      if ((target_[w] & ~words[w] & ~reachable_[at + w]) | (words[w] & forced_[at + w])) return false;
    return true;
  }
  if (low_.empty()) return true;
  const Rows& rows = r_.rows();
  for (Index r = 0; r < rows.count; ++r) {
    const double left = rows.target[r] - sum(id, r), off = r_.tolerance(r);
    const Index at = r * r_.forest().nodes + v;
    if (left < low_[at] - off || left > high_[at] + off) return false;
  }
  return true;
}

std::size_t Signatures::find(const Word* words) const {
  hashing::Key key = hashing::kRoot5;
  for (std::size_t w = 0; w < stride_; ++w) key = hashing::mix(key, words[w]);
  return find_slot(key, slots_.size() - 1, [&](std::size_t i) {
    return slots_[i] == kNone ||
           std::equal(words, words + stride_, words_.begin() + static_cast<std::ptrdiff_t>(slots_[i] * stride_));
  });
}

Signatures::Id Signatures::intern(const Word* words) {
  const std::size_t slot = find(words);
  if (slots_[slot] != kNone) return slots_[slot];
  const Id id = slots_[slot] = static_cast<Id>(count_++);
  words_.insert(words_.end(), words, words + stride_);
  if (2 * count_ > slots_.size()) grow();
  return id;
}

void Signatures::grow() {
  slots_.assign(2 * slots_.size(), kNone);
  for (std::size_t id = 0; id < count_; ++id) {
    const std::size_t slot = find(words_.data() + id * stride_);
    slots_[slot] = static_cast<Id>(id);
  }
}

}  // namespace certus::hypergraph
