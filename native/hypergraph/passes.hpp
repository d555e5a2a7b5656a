// The questions that one or two passes over a forest answer. Scores are in the forest's own order (see Weights).
#pragma once

#include <vector>

#include "base/arena.hpp"
#include "hypergraph/forest.hpp"

namespace certus::hypergraph {

// The user's scores in the forest's order, as doubles. They are read where they lie if they are so already.
class Weights {
 public:
  template <class S>
  Weights(const Forest& forest, const S* scores, Arena& arena);
  const double* data() const { return data_; }
  Index invalid() const { return invalid_; }  // the first score that is NaN or +inf, or -1
  bool is_huge() const { return huge_; }      // whether sums of scores might overflow

 private:
  const double* data_ = nullptr;
  Index invalid_ = -1;
  bool huge_ = false;
};

// Whether a score, forbidden ones apart, is so large that no sum of them is sure to be in the range of doubles. Below
// that it takes derivations of more edges than could ever be written down.
bool is_huge(const double* scores, Index n);
// Whether some sum of an edge and what is below it is beyond the range of doubles.
bool overflows(const Forest& f, const double* weights);

void max_inside(const Forest& f, const double* weights, double* in);
void log_inside(const Forest& f, const double* weights, double* in);
void max_outside(const Forest& f, const double* weights, const double* in, double* out);
void log_outside(const Forest& f, const double* weights, const double* in, double* out);

// The best score of any derivation that uses an edge, [edges] in the forest's order.
void max_marginals(const Forest& f, const double* weights, const double* in, const double* out, double* edges);

// How often derivations use each edge [edges] and node [nodes] on average, given what log_inside found.
void marginals(const Forest& f, const double* weights, const double* in, double* edges, double* nodes);

bool feasible(const Forest& f, const double* weights);
// Whether each edge, in the forest's order, is part of a derivation of the goal.
std::vector<std::uint8_t> useful(const Forest& f, const double* weights);
// The number of derivations modulo a number, or modulo 2^64 for 0.
std::uint64_t count(const Forest& f, const double* weights, std::uint64_t modulus);

// The node that explains why the goal has no derivation: it has no edge, or none with a score above -inf.
Node missing(const Forest& f, const double* weights);

// No derivation's score, however its terms are added, is off by more than this, and neither is a maximum of such
// sums. Zero where all scores are whole numbers that add up exactly.
double rounding(const Forest& f, const double* weights);
// The same in two parts: the most edges of a derivation, and the largest sum of absolute scores of one.
double most_edges(const Forest& f, const double* weights);
double most_mass(const Forest& f, const double* weights);
bool whole_numbers(const double* weights, Index n);

}  // namespace certus::hypergraph
