// A language model on arrays of Python's.
#pragma once

#include "base/lazy.hpp"
#include "bindings/state.hpp"
#include "translate/hierarchical/boundaries.hpp"
#include "translate/language_model.hpp"

namespace certus {

// Runs without Python's lock; what is refused becomes InvalidInput.
template <class Work>
auto run_unlocked(const Work& work) {
  try {
    const nb::gil_scoped_release released;
    return work();
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

// A model on arrays of Python's, which it keeps. Their types, sizes and ranges were checked before.
class BoundModel {
 public:
  explicit BoundModel(const nb::dict& arrays)
      : bytes_(get<std::uint8_t>(arrays, "word_bytes")),
        word_begin_(get<Index>(arrays, "word_begin")),
        slots_(get<std::uint32_t>(arrays, "word_slots")),
        ends_(get<Index>(arrays, "state_ends")),
        begin_(get<std::uint32_t>(arrays, "arc_begin")),
        suffix_(get<translate::State>(arrays, "suffix")),
        word_(get<translate::Word>(arrays, "arc_word")),
        next_(get<translate::State>(arrays, "arc_next")),
        backoff_(get_scores(arrays, "backoff")),
        score_(get_scores(arrays, "arc_score")),
        model_(make_vocabulary(), make_automaton()) {}

  const translate::LanguageModel& operator*() const { return model_; }
  const translate::LanguageModel* operator->() const { return &model_; }
  const translate::WordBounds& bounds() const {
    return *run_unlocked([&] { return &model_.bounds(); });
  }
  const translate::BoundaryModel& boundaries() const {
    const translate::WordBounds& known = bounds();
    return boundaries_.get(
        [&] { return run_unlocked([&] { return std::make_unique<translate::BoundaryModel>(model_, known); }); });
  }

 private:
  static Flat<const float> get_scores(const nb::dict& arrays, const char* name) {
    Flat<const float> found;
    if (!arrays.contains(name) || !nb::try_cast(nb::object(arrays[name]), found))
      refuse(std::string("the model lacks the array ") + name);
    return found;
  }
  translate::Vocabulary make_vocabulary() const {
    return {bytes_.data(), word_begin_.data(), slots_.data(), extent(word_begin_) - 1, extent(slots_)};
  }
  translate::Automaton make_automaton() const {
    return {extent(ends_),  extent(suffix_), extent(word_), extent(word_begin_) - 1, ends_.data(), begin_.data(),
            suffix_.data(), backoff_.data(), word_.data(),  score_.data(),           next_.data()};
  }

  Flat<const std::uint8_t> bytes_;
  Flat<const Index> word_begin_;
  Flat<const std::uint32_t> slots_;
  Flat<const Index> ends_;
  Flat<const std::uint32_t> begin_;
  Flat<const translate::State> suffix_;
  Flat<const translate::Word> word_;
  Flat<const translate::State> next_;
  Flat<const float> backoff_, score_;
  translate::LanguageModel model_;
  Lazy<translate::BoundaryModel> boundaries_;
};

}  // namespace certus
