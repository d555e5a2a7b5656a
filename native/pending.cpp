#include "solve.hpp"
namespace certus {
#define PENDING(name) CERTUS_SOLVER(name) { viterbi_astar(lattice, request, answer, arena); } CERTUS_INSTANTIATE(name)
PENDING(beam)
PENDING(carpediem)
PENDING(kbest_viterbi)
}
