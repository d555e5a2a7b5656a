// Between the bindings and the solvers: checks a sentence, runs a method on it, and settles the answer.
#pragma once

#include <string_view>
#include <vector>

#include "chain/solver.hpp"

namespace certus {

// The names of the methods, in the order of their numbers.
inline constexpr std::string_view kMethods[] = {"auto",
                                                "viterbi",
                                                "beam",
                                                "carpediem",
                                                "staggered",
                                                "astar",
                                                "iterative-astar",
                                                "kbest-viterbi",
                                                "kbest-astar",
                                                "viterbi-astar",
                                                "iterative-viterbi-astar"};
inline constexpr Index kAuto = 0, kViterbi = 1;

template <class S>
struct Sentence {
  const S* data;  // [T][L]
  Index length;
  Index stride;  // elements from position to position
};

// What one sentence came to. With `invalid`, `position` and `found` hold where the bad score is (t and y);
// with `infeasible`, `position` is the first one that no path reaches.
struct Result {
  Status status;
  Index found;
  double bound;
  Index position;
  Counters counters;
};

// Looks for NaN and +inf: `invalid` where there is one, otherwise `optimal`.
template <class S>
Result invalid(const Sentence<S>& sentence, Index labels) {
  for (Index t = 0; t < sentence.length; ++t) {
    const Index y = first_invalid(sentence.data + t * sentence.stride, labels);
    if (y >= 0) return {Status::invalid, y, 0, t, {}};
  }
  return {Status::optimal, 0, 0, -1, {}};
}

// labels is [k][T] and scores is [k]; `found` of each are written, best first.
template <class S>
Result run(const Model<S>& model, Index method, const Sentence<S>& sentence, const Request& request, Index* labels,
           double* scores);

// Many sentences on several threads; labels[b] and scores + b * k are as above. The answers do not depend
// on the number of threads.
template <class S>
void run_many(const Model<S>& model, Index method, const std::vector<Sentence<S>>& sentences, const Request& request,
              Index threads, const std::vector<Index*>& labels, double* scores, Result* results);

}  // namespace certus
