// Block coordinate descent on the dual: each part in turn gives what its cells are worth to the parts after it.
#pragma once

#include <vector>

#include "relax/dual.hpp"
#include "relax/separators.hpp"
#include "relax/watch.hpp"

namespace certus::relax {

// One pass over the open parts, forwards or backwards. For one group of cells at a time, what a part loses by using a
// cell (of a group with exactly one: against the best cell; of another: against doing without it) goes from the part to
// the other parts of the variable that are still to come, in equal shares. That never raises the dual. It is the order
// of TRW-S (Kolmogorov 2006) with the updates of MPLP (Globerson & Jaakkola 2007); like all coordinate descent it may
// stall above the minimum.
void descend(Dual& dual, bool forward, Watch& watch);

// The same by separators, forwards or backwards: at each, all parts give away all that its cells are worth to them, and
// the sum goes in equal shares to the parts that have separators still to come, as many shares as the larger of them
// and those that have separators before; what is left stays with the latter. For tables of two variables this is TRW-S
// (Kolmogorov 2006), for larger ones close to SRMP (Kolmogorov 2015).
void descend(Dual& dual, const std::vector<Separator>& separators, bool forward, Watch& watch);

}  // namespace certus::relax
