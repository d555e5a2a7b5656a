// Answers to the problem of bidirectional.hpp that are valid, and good: after Chang et al. (2014), §6.2.
#pragma once

#include "align/dual.hpp"

namespace certus::align {

// The links that both directions have; a word with another one chooses nothing.
Choices intersect(const Choices& paths);

// Starts from valid choices and adds the link that raises the score most, in one direction or in both, for as long as
// there is one and time is left: the greedy algorithm of the paper.
Choices grow_greedily(const Agreed& problem, Choices choices, double seconds);

// Starts from valid choices and goes over the words for as long as that raises the score: each gets the best of a link
// of both directions, one of its own direction only, and none. Values that `dual` rules out are not tried. Stops after
// the pass in which the time runs out.
Choices improve_greedily(const Agreed& problem, Choices choices, const Dual& dual, double seconds);

}  // namespace certus::align
