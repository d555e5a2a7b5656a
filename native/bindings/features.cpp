#include "features/extractor.hpp"

#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "base/interrupt.hpp"
#include "bindings/text.hpp"
#include "bindings/vectors.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using features::Extractor;
using features::Key;

// The keys of all sentences, one after the other, and the ends of their tokens in them.
nb::tuple keys_of_all(const Extractor& self, nb::handle sentences) {
  const Texts texts(sentences, self.columns());
  std::vector<Key> keys;
  std::vector<std::uint64_t> all_ends;
  {
    const nb::gil_scoped_release released;
    features::Scratch scratch;
    std::vector<std::uint32_t> ends;
    Heed heed;
    for (Index n = 0; n < texts.size(); ++n) {
      heed(16 * self.most() * texts.at(n).length);
      const std::size_t before = keys.size();
      self.extract(texts.at(n), keys, ends, scratch);
      for (const std::uint32_t end : ends) all_ends.push_back(before + end);
    }
  }
  return nb::make_tuple(array(std::move(keys)), array(std::move(all_ends)));
}

auto word_keys(const nb::list& words) {
  std::vector<Key> keys;
  keys.reserve(words.size());
  for (nb::handle word : words) {
    const Place place{-1, -1, static_cast<Index>(keys.size())};
    keys.push_back(features::word_key(utf8(word, place)));
  }
  return array(std::move(keys));
}

}  // namespace

void bind_features(nb::module_& m) {
  nb::class_<Extractor>(m, "Extractor")
      .def(
          "__init__",
          [](Extractor* self, Flat<const std::int32_t> program, Index columns, Flat<const Key> frequent, int bits,
             const std::optional<Flat<const Key>>& seen) {
            if (seen && seen->shape(0) != frequent.shape(0)) refuse("seen must have an element for each frequent word");
            const std::vector<std::int32_t> numbers = copy(program);
            try {
              new (self)
                  Extractor(numbers, columns, frequent.data(), seen ? seen->data() : nullptr, frequent.shape(0), bits);
            } catch (const std::invalid_argument& e) {
              refuse(e.what());
            }
          },
          "program"_a, "columns"_a, "frequent"_a, "bits"_a = 0, "seen"_a = nb::none())
      .def("keys_of_all", &keys_of_all, "sentences"_a)
      .def_prop_ro("columns", &Extractor::columns)
      .def_prop_ro("most", &Extractor::most);
  m.def("word_keys", &word_keys, "words"_a);
}

}  // namespace certus
