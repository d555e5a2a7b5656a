// Between the bindings and the solvers: checks a sentence, runs a method on it, and settles the answer.
#pragma once

#include <vector>

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
  Index position = -1;    // `infeasible`: the first that no path reaches; `invalid`: where the bad score is,
  Index label = -1;       // and of which label
  bool deferred = false;  // nothing was done yet: see Request::defer
  Counters counters{};
};

// Looks for NaN and +inf: `invalid` where there is one, otherwise `optimal`.
template <class S>
Result check_scores(const Sentence<S>& sentence, Index labels) {
  for (Index t = 0; t < sentence.length; ++t) {
    const Index y = first_invalid(sentence.data + t * sentence.stride, labels);
    if (y >= 0) return {.status = Status::invalid, .position = t, .label = y};
  }
  return {};
}

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
