// The methods: solvers that are known by name. Each registers itself at the end of its own file, so that a new one
// needs no edit of a list.
#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "chain/solver.hpp"

namespace certus {

struct Method {
  using Solvers =
      std::tuple<Solver<Dense<float>>, Solver<Dense<double>>, Solver<Sparse<float>>, Solver<Sparse<double>>>;

  std::string_view name;
  Solvers solvers;             // null where there is none: every method has those in double precision
  bool checks_scores = false;  // looks for NaN and +inf in the pass that it makes anyway: nobody has to look before

  template <class Tr>
  Solver<Tr> solver() const {
    return std::get<Solver<Tr>>(solvers);
  }
};

// All methods, in the order of their names. They are there once the module is loaded, and stay where they are.
const std::vector<Method>& all_methods();
const Method& find_method(std::string_view name);  // throws std::invalid_argument where there is none

// The method to take unless another is asked for.
inline const Method& auto_method() {
  static const Method& found = find_method("auto");
  return found;
}

struct Registration {
  explicit Registration(const Method& method);
};

// The solvers of a method that is compiled for these kinds of transitions.
template <class... Trs>
Method::Solvers make_solvers(Solver<Trs>... solvers) {
  Method::Solvers made{};
  ((std::get<Solver<Trs>>(made) = solvers), ...);
  return made;
}

#define CERTUS_REGISTER_SOLVERS(solver, text, made, ...) \
  static const Registration solver##_registration(Method{.name = text, .solvers = made __VA_OPT__(, ) __VA_ARGS__});

// Instantiated explicitly, since GCC optimises less what it takes to be local to the file.
#define CERTUS_INSTANTIATE(solver, ...) \
  template void solver(const Trellis<__VA_ARGS__>&, const Request&, Answer&, Arena&);

// At the end of a solver's file: makes it a method, compiled for both kinds of transitions in double precision. Scores
// in single precision are converted for it.
#define CERTUS_REGISTER(solver, text)        \
  CERTUS_INSTANTIATE(solver, Dense<double>)  \
  CERTUS_INSTANTIATE(solver, Sparse<double>) \
  CERTUS_REGISTER_SOLVERS(solver, text, make_solvers(solver<Dense<double>>, solver<Sparse<double>>))

// Compiled also for matrices in single precision, as weights are that are being learnt.
#define CERTUS_REGISTER_MATRICES(solver, text) \
  CERTUS_INSTANTIATE(solver, Dense<float>)     \
  CERTUS_INSTANTIATE(solver, Dense<double>)    \
  CERTUS_INSTANTIATE(solver, Sparse<double>)   \
  CERTUS_REGISTER_SOLVERS(solver, text,        \
                          make_solvers(solver<Dense<float>>, solver<Dense<double>>, solver<Sparse<double>>))

// Compiled for everything, and for other files to call. Further arguments set other fields of Method.
#define CERTUS_REGISTER_ALL(solver, text, ...)                                                              \
  CERTUS_INSTANTIATE(solver, Dense<float>)                                                                  \
  CERTUS_INSTANTIATE(solver, Dense<double>)                                                                 \
  CERTUS_INSTANTIATE(solver, Sparse<float>)                                                                 \
  CERTUS_INSTANTIATE(solver, Sparse<double>)                                                                \
  CERTUS_REGISTER_SOLVERS(solver, text,                                                                     \
                          (make_solvers(solver<Dense<float>>, solver<Dense<double>>, solver<Sparse<float>>, \
                                        solver<Sparse<double>>))__VA_OPT__(, ) __VA_ARGS__)

}  // namespace certus
