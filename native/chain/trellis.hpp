// One sentence under one model: the problem that every solver is given.
//
//   score(y) = start[y_0] + emission[0][y_0] + sum_t transition(t, y_t, y_t+1) + emission[t+1][y_t+1] + end[y_T-1]
#pragma once

#include "base/arena.hpp"
#include "chain/model.hpp"

namespace certus {

template <class Tr>
struct Trellis {
  using Score = typename Tr::Score;

  Index length;  // T >= 1
  Index labels;  // L >= 1
  const Score* data;
  Index stride;        // elements from position to position
  const Score* first;  // the row of position 0 with the start scores (and, if T = 1, the end scores) added
  const Score* last;   // the row of position T - 1 with the end scores added
  Tr transitions;
  const Model<Score>* model;

  // Builds the two rows that differ from the input; their memory is the arena's.
  Trellis(const Score* emissions, Index T, Index row_stride, const Model<Score>& m, const Tr& tr, Arena& arena)
      : length(T), labels(m.labels()), data(emissions), stride(row_stride), transitions(tr), model(&m) {
    first = plus(data, m.start(), arena);
    last = T == 1 ? (first = plus(first, m.end(), arena)) : plus(data + (T - 1) * stride, m.end(), arena);
  }

  // The same sentence with its transitions held the other way.
  template <class Other>
  Trellis(const Trellis<Other>& same, const Tr& tr)
      : length(same.length),
        labels(same.labels),
        data(same.data),
        stride(same.stride),
        first(same.first),
        last(same.last),
        transitions(tr),
        model(same.model) {}

  // [L]: what label y contributes at position t by itself.
  const Score* node(Index t) const { return t == 0 ? first : t == length - 1 ? last : data + t * stride; }
  Score at(Index t, Label i, Label j) const { return transitions.at(t, i, j); }

  // The score of a path, summed in double in the order of the sentence: what users are told.
  template <class Y>
  double score(const Y* path) const {
    const Score* start = model->start();
    const Score* end = model->end();
    double sum = start ? static_cast<double>(start[path[0]]) : 0.0;
    sum += static_cast<double>(data[path[0]]);
    for (Index t = 1; t < length; ++t) {
      sum += static_cast<double>(at(t - 1, static_cast<Label>(path[t - 1]), static_cast<Label>(path[t])));
      sum += static_cast<double>(data[t * stride + path[t]]);
    }
    return end ? sum + static_cast<double>(end[path[length - 1]]) : sum;
  }

 private:
  const Score* plus(const Score* row, const Score* more, Arena& arena) const {
    if (!more) return row;
    Score* out = arena.template get<Score>(labels);
    for (Index y = 0; y < labels; ++y) out[y] = row[y] + more[y];
    return out;
  }
};

}  // namespace certus
