// First-order CRFs learned an epoch at a time, and what is kept between epochs: arrays in, arrays out.
#include "bindings/crf_trainer.hpp"
#include "bindings/state.hpp"

using namespace nb::literals;

namespace certus {
namespace {

// Passes over the sentences.
class Sgd {
 public:
  Sgd(CrfTrainer& trainer, const SgdOptions& options) : trainer_(trainer), sgd_(trainer.data(), options, trainer.w()) {}

  Index epochs = 0;
  bool done() const { return false; }

  double epoch(Flat<const Index> order) {
    check_order(order, trainer_.data().input.sentences());
    const nb::gil_scoped_release released;
    ++epochs;
    return sgd_.learn(order.data(), extent(order));
  }

  nb::dict state() {
    nb::dict out;
    out["weights"] = trainer_.weights();
    out["penalties"] = array(std::vector<double>(sgd_.state.got.begin(), sgd_.state.got.end()));
    out["numbers"] = numbers_.write();
    return out;
  }
  void restore(const nb::dict& state) {
    const Index size = trainer_.size();
    const auto weights = get<double>(state, "weights", size), penalties = get<double>(state, "penalties", size);
    const auto numbers = numbers_.find(state);
    trainer_.set_weights(weights);
    sgd_.state.got.assign(penalties.data(), penalties.data() + size);
    numbers_.restore(numbers);
  }

 private:
  CrfTrainer& trainer_;
  CrfSgd sgd_;
  Numbers numbers_{epochs, sgd_.state.learnt, sgd_.state.due};
};

// Iterations over the whole corpus: the order of sentences plays no part.
class Batch {
 public:
  Batch(CrfTrainer& trainer, const LbfgsOptions& options, double c2, Index threads)
      : trainer_(trainer),
        objective_(trainer.data(), c2, threads),
        memories_(options.memories),
        lbfgs_(make_lbfgs(
            trainer.w(), trainer.size(), [this](const double* x, double* g) { return objective_(x, g); }, options)) {}

  Index epochs = 0;
  bool stepped = false;  // whether the last epoch found a step that leads down
  bool done() const { return done_; }

  double epoch(Flat<const Index>) {
    const nb::gil_scoped_release released;
    stepped = !done_ && lbfgs_->step();
    done_ = done_ || lbfgs_->end();
    ++epochs;
    return lbfgs_->objective();
  }

  nb::dict state() {
    LbfgsState kept = lbfgs_->state();
    std::vector<double> steps, changes;
    for (const Doubles& s : kept.steps) steps.insert(steps.end(), s.begin(), s.end());
    for (const Doubles& y : kept.changes) changes.insert(changes.end(), y.begin(), y.end());
    nb::dict out;
    out["weights"] = trainer_.weights();
    out["steps"] = array(std::move(steps));
    out["changes"] = array(std::move(changes));
    out["past"] = array(std::move(kept.past));
    out["numbers"] = numbers_.write();
    return out;
  }
  void restore(const nb::dict& state) {
    const Index size = trainer_.size();
    const auto weights = get<double>(state, "weights", size), steps = get<double>(state, "steps");
    const auto changes = get<double>(state, "changes", static_cast<Index>(steps.shape(0)));
    const auto past = get<double>(state, "past"), numbers = numbers_.find(state);
    const Index all = static_cast<Index>(steps.shape(0));
    if (all % size != 0 || all / size > memories_ || past.shape(0) == 0) refuse(kOther);
    LbfgsState kept{{past.data(), past.data() + past.shape(0)}, {}, {}};
    for (Index begin = 0; begin < all; begin += size) {
      kept.steps.emplace_back(steps.data() + begin, steps.data() + begin + size);
      kept.changes.emplace_back(changes.data() + begin, changes.data() + begin + size);
    }
    trainer_.set_weights(weights);
    lbfgs_->restore(kept);
    numbers_.restore(numbers);
  }

 private:
  CrfTrainer& trainer_;
  CrfObjective objective_;
  Index memories_;
  std::unique_ptr<Lbfgs> lbfgs_;
  bool done_ = false;
  Numbers numbers_{epochs, done_};
};

template <class Learner>
nb::class_<Learner> bind_learner(nb::module_& m, const char* name) {
  return nb::class_<Learner>(m, name)
      .def("epoch", &Learner::epoch, "order"_a)
      .def("state", &Learner::state)
      .def("restore", &Learner::restore, "state"_a)
      .def_prop_ro("done", &Learner::done)
      .def_ro("epochs", &Learner::epochs);
}

}  // namespace

void bind_crf_learners(nb::module_& m) {
  bind_learner<Sgd>(m, "CrfSgd")
      .def(
          "__init__",
          [](Sgd* self, CrfTrainer& trainer, double c1, double eta, double decay) {
            if (trainer.data().latent > 1) refuse("labels with latent states are learned by lbfgs alone");
            new (self) Sgd(trainer, {c1, eta, decay});
          },
          "trainer"_a, nb::kw_only(), "c1"_a, "eta"_a, "decay"_a, nb::keep_alive<1, 2>());
  bind_learner<Batch>(m, "CrfLbfgs")
      .def_ro("stepped", &Batch::stepped)
      .def(
          "__init__",
          [](Batch* self, CrfTrainer& trainer, double c1, double c2, Index memories, double epsilon, Index period,
             double delta, int search, Index max_trials, Index threads) {
            new (self)
                Batch(trainer, {memories, epsilon, period, delta, static_cast<LineSearch>(search), max_trials, c1}, c2,
                      threads);
          },
          "trainer"_a, nb::kw_only(), "c1"_a, "c2"_a, "memories"_a, "epsilon"_a, "period"_a, "delta"_a, "search"_a,
          "max_trials"_a, "threads"_a, nb::keep_alive<1, 2>());
}

}  // namespace certus
