// Which optimiser to take.
#pragma once

#include <memory>

#include "relax/optimizer.hpp"

namespace certus::relax {

// What is asked for; for `automatic`, what certified problems of the kind soonest when all were compared.
std::unique_ptr<Optimizer> make_optimizer(Dual& dual, const OptimizerOptions& options);

}  // namespace certus::relax
