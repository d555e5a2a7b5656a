#include "chain/search/degenerate_labels.hpp"

#include <bit>

namespace certus {
namespace {

// log sum_i exp(transition(i, y)) for every y.
template <class S>
std::vector<double> popularity(const Dense<S>& m) {
  const Index L = m.labels;
  std::vector<double> most(L, kNever<double>), sum(L, 0.0);
  Heed heed;
  for (Label i = 0; i < L; ++i, heed(L))
    for (Label y = 0; y < L; ++y) most[y] = std::max(most[y], static_cast<double>(m.at(0, i, y)));
  for (Label i = 0; i < L; ++i, heed(4 * L))
    for (Label y = 0; y < L; ++y)
      if (most[y] != kNever<double>) sum[y] += std::exp(static_cast<double>(m.at(0, i, y)) - most[y]);
  for (Label y = 0; y < L; ++y) sum[y] = most[y] + std::log(sum[y]);
  return sum;
}

template <class S>
std::vector<double> popularity(const Sparse<S>& m) {
  std::vector<double> out(m.labels);
  const double fallback = static_cast<double>(m.fallback);
  for (Index y = 0; y < m.labels; ++y) {
    const Index begin = m.column_begin[y], end = m.column_begin[y + 1], unlisted = m.labels - (end - begin);
    double most = unlisted ? fallback : kNever<double>;
    for (Index n = begin; n < end; ++n) most = std::max(most, static_cast<double>(m.column_score[n]));
    out[y] = most;
    if (most == kNever<double>) continue;
    double sum = unlisted ? static_cast<double>(unlisted) * std::exp(fallback - most) : 0.0;
    for (Index n = begin; n < end; ++n) sum += std::exp(static_cast<double>(m.column_score[n]) - most);
    out[y] += std::log(sum);
  }
  return out;
}

template <class S>
std::vector<Label> ranking(const Model<S>& model) {
  if (!model.order.empty()) return model.order;
  return rank_labels(model.only_sparse() ? popularity(model.sparse()) : popularity(model.ceiling()));
}

// A label of rank r becomes active at level bit_width(r), so it belongs to the rests of the levels below. The
// maxima over the labels that become active at level m + 1 are written into level m; then each level takes
// those of the next.
template <class S>
void accumulate_levels(std::vector<S>& table, Index levels, Index labels) {
  for (Index m = levels - 2; m >= 0; --m)
    for (Index y = 0; y < labels; ++y)
      table[m * labels + y] = std::max(table[m * labels + y], table[(m + 1) * labels + y]);
}

template <class S>
void fill(DegenerateTables<S>& tables, const Dense<S>& m) {
  const Index L = tables.labels;
  Heed heed;
  for (Index r = 0; r < L; ++r, heed(2 * L)) {
    const Label i = tables.order[r];
    const S* row = m.row(0, i, nullptr);
    for (Index level = 0; level < tables.levels; ++level) {
      const Index begin = tables.active(level), end = tables.active(level + 1);
      tables.leave[level * L + i] = largest_at(row, tables.order.data() + begin, end - begin);
    }
    if (r == 0) continue;
    S* enter = tables.enter.data() + (std::bit_width(static_cast<std::uint64_t>(r)) - 1) * L;
    for (Index y = 0; y < L; ++y) enter[y] = std::max(enter[y], row[y]);
  }
  accumulate_levels(tables.leave, tables.levels, L);
  accumulate_levels(tables.enter, tables.levels, L);
}

// Lists only: the shared score counts where some member of the rest is not listed.
template <class S>
void fill_listed(DegenerateTables<S>& tables, std::vector<S>& table, const std::vector<Index>& rank, S fallback,
                 const Index* begin, const Label* other, const S* score) {
  const Index L = tables.labels;
  std::vector<Index> listed(tables.levels + 1);
  for (Index y = 0; y < L; ++y) {
    std::fill(listed.begin(), listed.end(), 0);
    for (Index n = begin[y]; n < begin[y + 1]; ++n) {
      const Index level = std::bit_width(static_cast<std::uint64_t>(rank[other[n]])) - 1;
      if (level < 0) continue;
      S& most = table[level * L + y];
      most = std::max(most, score[n]);
      ++listed[level];
    }
    for (Index level = tables.levels - 1; level >= 0; --level) {
      listed[level] += listed[level + 1];
      S& most = table[level * L + y];
      if (listed[level] < L - tables.active(level)) most = std::max(most, fallback);
    }
  }
  accumulate_levels(table, tables.levels, L);
}

template <class S>
void fill(DegenerateTables<S>& tables, const Sparse<S>& m) {
  std::vector<Index> rank(tables.labels);
  for (Index r = 0; r < tables.labels; ++r) rank[tables.order[r]] = r;
  fill_listed(tables, tables.leave, rank, m.fallback, m.row_begin, m.row_to, m.row_score);
  fill_listed(tables, tables.enter, rank, m.fallback, m.column_begin, m.column_from, m.column_score);
}

template <class S>
void rank_transitions(DegenerateTables<S>& tables, const Dense<S>& m) {
  tables.stride = padded(tables.labels);
  tables.ranked.assign(tables.labels * tables.stride, kNever<S>);
  Heed heed;
  for (Index r = 0; r < tables.labels; ++r, heed(tables.labels))
    gather(tables.ranked.data() + r * tables.stride, m.row(0, tables.order[r], nullptr), tables.order.data(),
           tables.labels);
}

template <class S>
std::shared_ptr<DegenerateTables<S>> build(const Model<S>& model) {
  const Index L = model.labels(), levels = std::bit_width(static_cast<std::uint64_t>(L - 1));
  const std::vector<S> never(levels * L, kNever<S>);
  const std::vector<S> pairs(levels * levels, kNever<S>);
  auto tables = std::make_shared<DegenerateTables<S>>(
      DegenerateTables<S>{L, levels, ranking(model), never, never, pairs, {}, 0, {}});
  tables->rank.resize(L);
  for (Index r = 0; r < L; ++r) tables->rank[tables->order[r]] = static_cast<Label>(r);
  if (model.only_sparse()) fill(*tables, model.sparse());
  else fill(*tables, model.ceiling());
  if (!model.only_sparse() && model.positions() == 0) rank_transitions(*tables, model.dense());
  for (Index a = 0; a < levels; ++a)
    for (Index b = 0; b < levels; ++b)
      tables->between[a * levels + b] =
          largest_at(tables->leaving(b), tables->order.data() + tables->active(a), L - tables->active(a));
  return tables;
}

}  // namespace

template <class S>
const DegenerateTables<S>& degenerate_tables(const Model<S>& model) {
  using Shared = std::shared_ptr<DegenerateTables<S>>;
  return *model.degenerate.get([&] { return std::make_unique<Shared>(build(model)); });
}

template const DegenerateTables<float>& degenerate_tables(const Model<float>&);
template const DegenerateTables<double>& degenerate_tables(const Model<double>&);

}  // namespace certus
