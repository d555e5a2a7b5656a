// First-order CRFs learned an epoch at a time, and what is kept between epochs: arrays in, arrays out.
#include "bindings/crf_trainer.hpp"
#include "bindings/state.hpp"

using namespace nb::literals;

namespace certus {
namespace {

nb::object copy(const double* values, Index count) { return as_array(std::vector<double>(values, values + count)); }

// Passes over the sentences.
class Sgd {
 public:
  Sgd(CrfTrainer& trainer, const SgdOptions& options) : trainer_(trainer), sgd_(trainer.data(), options, trainer.w()) {}

  Index epochs = 0;
  bool done() const { return false; }

  double epoch(Flat<const Index> order) {
    const Index sentences = trainer_.data().input.sentences(), count = static_cast<Index>(order.shape(0));
    for (Index n = 0; n < count; ++n)
      if (order.data()[n] < 0 || order.data()[n] >= sentences)
        refuse("there is no sentence " + std::to_string(order.data()[n]) + " among " + std::to_string(sentences));
    const nb::gil_scoped_release released;
    ++epochs;
    return sgd_.pass(order.data(), count);
  }

  nb::dict state() {
    nb::dict out;
    out["weights"] = trainer_.weights();
    out["penalties"] = copy(sgd_.state.got.data(), trainer_.size());
    const double numbers[] = {static_cast<double>(epochs), static_cast<double>(sgd_.state.learnt), sgd_.state.due};
    out["numbers"] = copy(numbers, 3);
    return out;
  }
  void restore(const nb::dict& state) {
    const Index size = trainer_.size();
    const auto weights = get<double>(state, "weights", size), penalties = get<double>(state, "penalties", size);
    const auto numbers = get<double>(state, "numbers", 3);
    trainer_.set_weights(weights);
    sgd_.state.got.assign(penalties.data(), penalties.data() + size);
    epochs = static_cast<Index>(numbers.data()[0]);
    sgd_.state.learnt = static_cast<Index>(numbers.data()[1]);
    sgd_.state.due = numbers.data()[2];
  }

 private:
  CrfTrainer& trainer_;
  CrfSgd sgd_;
};

// Iterations over the whole corpus: the order of sentences plays no part.
class Batch {
 public:
  Batch(CrfTrainer& trainer, const LbfgsOptions& options, double c2, Index threads)
      : trainer_(trainer),
        objective_(trainer.data(), c2, threads),
        memories_(options.memories),
        lbfgs_(trainer.w(), trainer.size(), [this](const double* x, double* g) { return objective_(x, g); }, options) {}

  Index epochs = 0;
  bool stepped = false;  // whether the last epoch found a step that leads down
  bool done() const { return done_; }

  double epoch(Flat<const Index>) {
    const nb::gil_scoped_release released;
    stepped = !done_ && lbfgs_.step();
    done_ = done_ || lbfgs_.end();
    ++epochs;
    return lbfgs_.objective();
  }

  nb::dict state() {
    const LbfgsState kept = lbfgs_.state();
    std::vector<double> steps, changes;
    for (const Doubles& s : kept.steps) steps.insert(steps.end(), s.begin(), s.end());
    for (const Doubles& y : kept.changes) changes.insert(changes.end(), y.begin(), y.end());
    nb::dict out;
    out["weights"] = trainer_.weights();
    out["steps"] = as_array(std::move(steps));
    out["changes"] = as_array(std::move(changes));
    out["past"] = as_array(std::vector<double>(kept.past));
    const double numbers[] = {static_cast<double>(epochs), static_cast<double>(done_)};
    out["numbers"] = copy(numbers, 2);
    return out;
  }
  void restore(const nb::dict& state) {
    const Index size = trainer_.size();
    const auto weights = get<double>(state, "weights", size), steps = get<double>(state, "steps");
    const auto changes = get<double>(state, "changes", static_cast<Index>(steps.shape(0)));
    const auto past = get<double>(state, "past"), numbers = get<double>(state, "numbers", 2);
    const Index all = static_cast<Index>(steps.shape(0));
    if (all % size != 0 || all / size > memories_ || past.shape(0) == 0) refuse(kOther);
    LbfgsState kept{{past.data(), past.data() + past.shape(0)}, {}, {}};
    for (Index begin = 0; begin < all; begin += size) {
      kept.steps.emplace_back(steps.data() + begin, steps.data() + begin + size);
      kept.changes.emplace_back(changes.data() + begin, changes.data() + begin + size);
    }
    trainer_.set_weights(weights);
    lbfgs_.restore(kept);
    epochs = static_cast<Index>(numbers.data()[0]);
    done_ = numbers.data()[1] != 0;
  }

 private:
  CrfTrainer& trainer_;
  CrfObjective objective_;
  Index memories_;
  Lbfgs lbfgs_;
  bool done_ = false;
};

template <class Learner>
nb::class_<Learner> bind(nb::module_& m, const char* name) {
  return nb::class_<Learner>(m, name)
      .def("epoch", &Learner::epoch, "order"_a)
      .def("state", &Learner::state)
      .def("restore", &Learner::restore, "state"_a)
      .def_prop_ro("done", &Learner::done)
      .def_ro("epochs", &Learner::epochs);
}

}  // namespace

void bind_crf_learners(nb::module_& m) {
  bind<Sgd>(m, "CrfSgd")
      .def(
          "__init__",
          [](Sgd* self, CrfTrainer& trainer, double c1, double eta, double decay) {
            if (trainer.data().latent > 1) refuse("labels with latent states are learned by lbfgs alone");
            SgdOptions options;
            options.c1 = c1, options.eta = eta, options.decay = decay;
            new (self) Sgd(trainer, options);
          },
          "trainer"_a, nb::kw_only(), "c1"_a, "eta"_a, "decay"_a, nb::keep_alive<1, 2>());
  bind<Batch>(m, "CrfLbfgs")
      .def_ro("stepped", &Batch::stepped)
      .def(
          "__init__",
          [](Batch* self, CrfTrainer& trainer, double c1, double c2, Index memories, double epsilon, Index period,
             double delta, int search, Index max_trials, Index threads) {
            LbfgsOptions options;
            options.memories = memories, options.epsilon = epsilon, options.period = period, options.delta = delta;
            options.search = static_cast<LineSearch>(search), options.max_trials = max_trials, options.l1 = c1;
            new (self) Batch(trainer, options, c2, threads);
          },
          "trainer"_a, nb::kw_only(), "c1"_a, "c2"_a, "memories"_a, "epsilon"_a, "period"_a, "delta"_a, "search"_a,
          "max_trials"_a, "threads"_a, nb::keep_alive<1, 2>());
}

}  // namespace certus
