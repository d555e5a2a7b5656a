// Products of several vectors with one matrix: each entry of each result is added up in an order of its own, so that it
// does not depend on which vectors are multiplied together.
#pragma once

#include "base/types.hpp"

namespace certus::latent::refinement {

// to[g] = from[g] M for g < count; M is [n][n], n a multiple of 8.
void forward_products(double* const* to, const double* const* from, Index count, const double* M, Index n);

// to[g] = M from[g].
void backward_products(double* const* to, const double* const* from, Index count, const double* M, Index n);

}  // namespace certus::latent::refinement
