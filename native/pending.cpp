#include "solve.hpp"
namespace certus {
#define PENDING(name) CERTUS_SOLVER(name) { viterbi_astar(lattice, request, answer, arena); } CERTUS_INSTANTIATE(name)
PENDING(automatic)
PENDING(staggered)
PENDING(astar)
PENDING(iterative_astar)
PENDING(kbest_astar)
PENDING(iterative_viterbi_astar)
}
