#include "relax/columns.hpp"

#include <algorithm>
#include <numeric>

#include "relax/mixture.hpp"

namespace certus::relax {
namespace {

constexpr Index kColumnMoves = 5000;  // of weight between two columns, for one mixture
constexpr Index kMostColumns = 1500;  // columns of all parts together
constexpr Index kPool = 2000;         // choices of each part that are kept for other states

template <class X>
void keep_rows(std::vector<X>& rows, const std::vector<Index>& kept) {
  for (std::size_t n = 0; n < kept.size(); ++n)
    if (kept[n] != static_cast<Index>(n)) rows[n] = std::move(rows[kept[n]]);
  rows.resize(kept.size());
}

}  // namespace

Columns::Columns(Dual& dual, Index most)
    : dual_(dual),
      problem_(dual.problem()),
      most_(most),
      pool_(problem_.parts()),
      by_variable_(problem_.variables(), 0.0),
      highest_(problem_.parts()),
      by_copy_(problem_.copies(), 0) {}

std::uint64_t Columns::hash(Index p, const std::vector<Index>& used) const {
  std::uint64_t sum = 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(p + 1);
  for (const Index c : used) {
    sum ^= static_cast<std::uint64_t>(c) + 0x9e3779b97f4a7c15ULL + (sum << 6) + (sum >> 2);
    sum *= 0xbf58476d1ce4e5b9ULL;
  }
  return sum ^ (sum >> 31);
}

bool Columns::is_possible(Index p, const std::vector<Index>& used) const {
  Index required = 0;
  for (const Index c : used) {
    const std::int8_t fixed = dual_.fixed()[problem_.variable(problem_.begin(p) + c)];
    if (fixed == 0) return false;
    required += fixed == 1;
  }
  for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy)
    required -= dual_.fixed()[problem_.variable(copy)] == 1;
  return required == 0;
}

void Columns::start() {
  part_.clear(), copies_.clear(), moving_.clear(), scores_.clear(), weights_.clear(), gram_.clear(), known_.clear();
  for (Index p = 0; p < problem_.parts(); ++p) {
    const std::vector<Choice>& pool = pool_[p];
    const Index count = static_cast<Index>(pool.size());
    for (Index n = std::max<Index>(0, count - most_ / 2); n < count; ++n)
      if (is_possible(p, pool[n].used)) append(p, pool[n].used, pool[n].score);
  }
}

void Columns::remember(Index p, const std::vector<Index>& used, double score) {
  if (static_cast<Index>(pool_[p].size()) < kPool && pooled_.insert(hash(p, used)).second)
    pool_[p].push_back({used, score});
}

bool Columns::append(Index p, const std::vector<Index>& used, double score) {
  if (!known_.insert(hash(p, used)).second) return false;
  const bool first = std::find(part_.begin(), part_.end(), p) == part_.end();
  part_.push_back(p);
  scores_.push_back(score);
  weights_.push_back(first ? 1.0 : 0.0);
  std::vector<Index>& all = copies_.emplace_back();
  std::vector<Index>& moving = moving_.emplace_back();
  for (const Index c : used) {
    const Index copy = problem_.begin(p) + c;
    all.push_back(copy);
    if (dual_.moves(problem_.variable(copy))) moving.push_back(copy);
  }
  fill_products(size() - 1);
  return true;
}

void Columns::fill_products(Index k) {
  for (const Index copy : moving_[k]) {
    const Index v = problem_.variable(copy);
    by_variable_[v] += 1 / static_cast<double>(problem_.count(v));
    by_copy_[copy] = 1;
  }
  gram_.emplace_back(k + 1);
  for (Index l = 0; l <= k; ++l) {
    double product = 0;
    for (const Index copy : moving_[l]) product += by_copy_[copy] - by_variable_[problem_.variable(copy)];
    gram_[k][l] = product;
    if (l < k) gram_[l].push_back(product);
  }
  for (const Index copy : moving_[k]) by_variable_[problem_.variable(copy)] = 0, by_copy_[copy] = 0;
}

bool Columns::add_choices() {
  bool news = false;
  for (Index p = 0; p < problem_.parts(); ++p) {
    news = append(p, dual_.used(p), dual_.score(p)) || news;
    remember(p, dual_.used(p), dual_.score(p));
  }
  if (size() > std::min(kMostColumns, most_ * problem_.parts())) forget();
  return news;
}

void Columns::add_whole(const Whole& whole) {
  for (Index p = 0; p < problem_.parts(); ++p)
    if (is_possible(p, whole.used[p])) append(p, whole.used[p], whole.scores[p]);
  std::vector<Index> sizes(problem_.parts(), 0);
  for (Index p = 0; p < problem_.parts(); ++p)
    for (const Index c : whole.used[p]) {
      const Index copy = problem_.begin(p) + c;
      if (!dual_.moves(problem_.variable(copy))) continue;
      by_copy_[copy] = 1;
      ++sizes[p];
    }
  distances_.resize(size());
  for (Index k = 0; k < size(); ++k) {
    Index common = 0;
    for (const Index copy : moving_[k]) common += by_copy_[copy];
    distances_[k] = static_cast<double>(static_cast<Index>(moving_[k].size()) + sizes[part_[k]] - 2 * common);
  }
  for (Index p = 0; p < problem_.parts(); ++p)
    for (const Index c : whole.used[p]) by_copy_[problem_.begin(p) + c] = 0;
}

// Drops the oldest columns without weight, a quarter of all.
void Columns::forget() {
  std::vector<Index> kept;
  Index left = size() / 4;
  for (Index k = 0; k < size(); ++k) {
    if (weights_[k] == 0 && left > 0) {
      --left;
      std::vector<Index> used(copies_[k]);
      for (Index& copy : used) copy -= problem_.begin(part_[k]);
      known_.erase(hash(part_[k], used));
    } else {
      kept.push_back(k);
    }
  }
  keep_rows(part_, kept), keep_rows(copies_, kept), keep_rows(moving_, kept), keep_rows(scores_, kept);
  keep_rows(weights_, kept), keep_rows(gram_, kept);
  for (std::vector<double>& row : gram_) keep_rows(row, kept);
}

void Columns::fill_values(const std::vector<double>& multipliers, std::vector<double>& values) const {
  values.resize(size());
  for (Index k = 0; k < size(); ++k) {
    double value = scores_[k];
    for (const Index copy : moving_[k]) value += multipliers[copy];
    values[k] = value;
  }
}

double Columns::model(const std::vector<double>& values) {
  std::fill(highest_.begin(), highest_.end(), kNever<double>);
  for (Index k = 0; k < size(); ++k) highest_[part_[k]] = std::max(highest_[part_[k]], values[k]);
  return std::accumulate(highest_.begin(), highest_.end(), 0.0);
}

void Columns::mix(const std::vector<double>& gain, double step, double enough, std::vector<double>& slopes) {
  relax::mix(gram_, step, gain, part_, problem_.parts(), enough, kColumnMoves, weights_, slopes);
}

void Columns::fill_average(std::vector<double>& average) const {
  average.assign(problem_.copies(), 0.0);
  for (Index k = 0; k < size(); ++k)
    if (weights_[k] > 0)
      for (const Index copy : copies_[k]) average[copy] += weights_[k];
}

}  // namespace certus::relax
