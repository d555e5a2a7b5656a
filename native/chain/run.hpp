// Between the bindings and the solvers: checks a sentence, runs a method on it, and settles the answer.
#pragma once

#include <vector>

#include "base/interrupt.hpp"
#include "chain/method.hpp"

namespace certus {

template <class S>
struct Sentence {
  const S* data;  // [T][L]
  Index length;
  Index stride;  // elements from position to position
};

// What one sentence came to.
struct Result {
  Status status = Status::optimal;
  Index found = 0;        // paths written
  double score = 0;       // of the best of them
  double bound = 0;       // no path scores more
  Index position = -1;    // `infeasible`: the first that no path reaches; `invalid`: where a score is that is not
                          // a number, or too large,
  Index label = -1;       // and of which label
  bool deferred = false;  // nothing was done yet: see Request::defer
  Counters counters{};
};

// Looks for NaN, +inf and scores that may add up beyond the range of `Sum`: `invalid` where there is one, otherwise
// `optimal`. Nearly always one quick pass says that all scores are moderate.
template <class Sum, class S>
Result check_scores(const Sentence<S>& sentence, const Model<S>& model) {
  constexpr Index kBlock = Index{1} << 16;  // scores between two looks at whether to stop
  const Index L = model.labels(), T = sentence.length;
  const Index rows = T * L <= kBlock ? T : std::max<Index>(1, kBlock / L);
  const bool quick = sentence.stride == L && model.allows_moderate(T);
  Heed heed;
  for (Index begin = 0; begin < T; begin += rows, heed(rows * L)) {
    const Index end = std::min(T, begin + rows);
    if (quick && is_moderate(sentence.data + begin * L, (end - begin) * L)) continue;
    const S limit = model.template limit<Sum>(T);
    for (Index t = begin; t < end; ++t) {
      const Index y = first_beyond(sentence.data + t * sentence.stride, L, limit);
      if (y >= 0) return {.status = Status::invalid, .position = t, .label = y};
    }
  }
  return {};
}

// How many paths there are, at most: exactly for a dense matrix, up to rounding; at least as many as there are
// otherwise.
template <class S>
double count_paths(const Model<S>& model, const Sentence<S>& sentence);

// labels is [k][T] and scores is [k]; `found` of each are written, best first.
template <class S>
Result run(const Model<S>& model, const Method& method, const Sentence<S>& sentence, const Request& request,
           Index* labels, double* scores);

// Many sentences on several threads; labels[b] and scores + b * k are as above. The answers do not depend
// on the number of threads.
template <class S>
void run_many(const Model<S>& model, const Method& method, const std::vector<Sentence<S>>& sentences,
              const Request& request, Index threads, const std::vector<Index*>& labels, double* scores,
              Result* results);

}  // namespace certus
