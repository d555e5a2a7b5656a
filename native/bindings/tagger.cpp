// Tagging with a trained model: sentences and constraints in, arrays out.
#include "scoring/tagger.hpp"
#include "base/limits.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <optional>

#include "base/parallel.hpp"
#include "bindings/text.hpp"
#include "bindings/vectors.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace scoring;

// The items of a list or tuple, of which there must be `expected`.
nb::object items(nb::handle list, std::size_t expected, const char* what, const Place& place) {
  if (!nb::isinstance<nb::list>(list) && !nb::isinstance<nb::tuple>(list))
    refuse(place.say() + "allowed must be a list, not " + nb::inst_name(list).c_str());
  if (nb::len(list) != expected)
    refuse(place.say() + "allowed has " + std::to_string(nb::len(list)) + " items, but there are " +
           std::to_string(expected) + " " + what);
  return nb::borrow(list);
}

// A copy of the labels that tokens may have.
class AllowedLabels {
 public:
  AllowedLabels(nb::handle allowed, const Texts& texts, Index labels) : labels_(labels) {
    if (allowed.is_none()) return;
    Index n = 0;
    for (nb::handle sentence : items(allowed, static_cast<std::size_t>(texts.size()), "sentences", {})) {
      firsts_.push_back(counts_.size());
      add(sentence, n, texts.at(n).length);
      ++n;
    }
    std::size_t first = 0;
    for (const Index count : counts_) {
      tokens_.push_back({flat_.data() + first, count});
      first += static_cast<std::size_t>(std::max<Index>(count, 0));
    }
  }

  const Allowed* at(Index n) const { return firsts_.empty() ? nullptr : tokens_.data() + firsts_[n]; }

 private:
  void add(nb::handle sentence, Index n, Index length) {
    if (sentence.is_none()) {
      counts_.resize(counts_.size() + static_cast<std::size_t>(length), -1);
      return;
    }
    Index t = 0;
    for (nb::handle token : items(sentence, static_cast<std::size_t>(length), "tokens", {n})) {
      if (token.is_none()) counts_.push_back(-1);
      else add(token, Place{n, -1, t});
      ++t;
    }
  }
  void add(nb::handle token, const Place& place) {
    Flat<const Label> ids;
    if (!nb::try_cast(token, ids))
      refuse(place.say() + "the allowed labels of a token must be None or a one-dimensional array of int32");
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(flat_.size());
    for (std::size_t i = 0; i < ids.shape(0); ++i) {
      const Label y = ids.data()[i];
      if (y < 0 || y >= labels_)
        refuse(place.say() + "label " + std::to_string(y) + " is not one of the " + std::to_string(labels_) +
               " labels");
      flat_.push_back(y);
    }
    std::sort(flat_.begin() + first, flat_.end());
    flat_.erase(std::unique(flat_.begin() + first, flat_.end()), flat_.end());
    counts_.push_back(static_cast<Index>(flat_.size()) - first);
  }

  const Index labels_;
  std::vector<std::size_t> firsts_;  // [sentence] its first token
  std::vector<Index> counts_;        // [token] its labels, or -1
  std::vector<Label> flat_;
  std::vector<Allowed> tokens_;
};

using Legal = std::optional<Table<const bool>>;

const std::uint8_t* check_legal(const Tagger& self, const Legal& legal) {
  if (!legal) return nullptr;
  if (self.has_chain())
    refuse("a chain takes no `legal`: give use_chain a model with -inf where a label may not follow another");
  const std::size_t wanted = static_cast<std::size_t>(self.tagset().labels) + 1;
  if (legal->shape(0) != wanted || legal->shape(1) != wanted)
    refuse("legal must have " + std::to_string(wanted) + " rows and columns: one per label, and one for the boundary");
  return reinterpret_cast<const std::uint8_t*>(legal->data());
}

// The answers for many sentences, one sentence after the other.
struct Tagged {
  std::vector<Index> first;                  // [sentences + 1]: tokens
  std::vector<Label> labels;                 // [k][T] of each sentence; -1 where fewer than k were found
  std::vector<Index> found;                  // [sentences]: how many there are, at most k
  std::vector<double> scores;                // [sentences][k]
  std::vector<double> bounds;                // [sentences]
  std::vector<std::uint8_t> optimal;         // [sentences]
  std::vector<std::uint8_t> stopped;         // [sentences]: which limit was met before, see Limit
  std::vector<float> confidences;            // [tokens], or nothing
  std::vector<double> log_partitions;        // [sentences], or nothing: of what pruning leaves,
  std::vector<double> log_partition_bounds;  // and of all sequences at most
  std::vector<double> roundings;             // [sentences], or nothing: see Rounding, of what pruning leaves,
  std::vector<double> dropped_roundings;     // and of what it has dropped
  std::vector<Index> rounds;                 // [sentences]: how often a cascade was built for the proof
  std::vector<Index> positions;              // [sentences]: the first that no path reaches, where none was found

  Tagged(const Texts& texts, Index k, bool confidence) : first(texts.starts()) {
    const Index count = texts.size();
    labels.resize(first[count] * k, -1);
    scores.resize(count * k, kNever<double>);
    bounds.resize(count, kNever<double>);
    log_partitions.resize(confidence ? count : 0, kNever<double>);
    log_partition_bounds.resize(confidence ? count : 0, -kNever<double>);
    roundings.resize(confidence ? count : 0), dropped_roundings.resize(confidence ? count : 0);
    confidences.resize(confidence ? first[count] : 0);
    found.resize(count), positions.resize(count), optimal.resize(count), rounds.resize(count);
    stopped.resize(count);
  }

  void tag(const Tagger& tagger, const features::Sentence& sentence, Index n, const TagRequest& request,
           Tagger::Workspace& workspace) {
    const Index k = request.k;
    TagAnswer answer{labels.data() + first[n] * k, scores.data() + n * k,
                     request.confidence ? confidences.data() + first[n] : nullptr, kNever<double>};
    if (sentence.length == 0) {
      // There is one sequence of no labels, whatever may follow what.
      answer.found = 1, answer.optimal = true;
      answer.scores[0] = answer.bound = answer.log_partition = answer.log_partition_bound = 0;
    } else {
      tagger.tag(sentence, request, answer, workspace);
    }
    bounds[n] = answer.bound, found[n] = answer.found, positions[n] = answer.position, optimal[n] = answer.optimal;
    rounds[n] = answer.rounds, stopped[n] = static_cast<std::uint8_t>(answer.stopped);
    if (!request.confidence) return;
    log_partitions[n] = answer.log_partition, log_partition_bounds[n] = answer.log_partition_bound;
    roundings[n] = answer.rounding.kept, dropped_roundings[n] = answer.rounding.dropped;
  }
};

Tagged tag(const Tagger& self, nb::handle sentences, Index k, bool confidence, Index threads, nb::handle allowed,
           const Legal& legal, bool prove, double seconds, Index max_iterations) {
  if (!self.is_ready()) refuse("the tagger has no decoder yet: call use_chain or use_cascade");
  if (k < 1) refuse("k must be at least 1, not " + std::to_string(k));
  if (threads < 1) refuse("threads must be at least 1, not " + std::to_string(threads));
  const Texts texts(sentences, self.extractor().columns());
  const AllowedLabels labels(allowed, texts, self.tagset().labels);
  const std::uint8_t* const follows = check_legal(self, legal);
  Tagged answers(texts, k, confidence);
  {
    const nb::gil_scoped_release released;
    self.run_parallel(texts.size(), threads, [&](Index n, Tagger::Workspace& workspace) {
      const TagRequest request{k, confidence, labels.at(n), follows, prove, seconds, max_iterations};
      answers.tag(self, texts.at(n), n, request, workspace);
    });
  }
  return answers;
}

// The scores of all sentences, one after the other: [tokens][labels].
void emissions(const Tagger& self, nb::handle sentences, Table<float> out, Index threads) {
  const Texts texts(sentences, self.extractor().columns());
  if (extent(out) != texts.tokens() || extent(out, 1) != self.tagset().labels)
    refuse("out must have a row per token and a column per label");
  const std::vector<Index> first = texts.starts();
  const nb::gil_scoped_release released;
  self.run_parallel(texts.size(), threads, [&](Index n, Tagger::Workspace& workspace) {
    self.emissions(texts.at(n), out.data() + first[n] * self.tagset().labels, workspace);
  });
}

void make_tagger(Tagger* self, const features::Extractor& extractor, const Tagset& tagset,
                 Flat<const std::uint64_t> slots, Flat<const std::uint32_t> rows, float step) {
  const FeatureTable table{slots.data(), slots.shape(0) - 1, rows.data(), FeatureTable::needs_wide(tagset.units),
                           tagset.units};
  if (!table.is_sound(slots.shape(0), rows.shape(0)) || !std::isfinite(step))
    refuse("these arrays are not the compiled features of a model with this tag set");
  new (self) Tagger(extractor, tagset, table, step);
}

void use_chain(Tagger& self, const Model<float>& chain) {
  if (chain.labels() != self.tagset().labels || chain.positions() != 0)
    refuse("the chain must have the tagger's " + std::to_string(self.tagset().labels) +
           " labels, and transitions that are the same at all positions");
  self.use_chain(chain);
}

// Calls use(rows, count) for rows of order + 1 numbers of either width; false if they are none, or if that is false.
template <class Use>
bool read_sequences(nb::handle sequences, Index order, const Use& use) {
  const auto split = [&](const auto& rows) {
    return extent(rows) % (order + 1) == 0 && use(rows.data(), extent(rows) / (order + 1));
  };
  Flat<const std::uint16_t> narrow;
  Flat<const std::uint32_t> wide;
  if (nb::try_cast(sequences, narrow)) return split(narrow);
  return nb::try_cast(sequences, wide) && split(wide);
}

// The weights of sequences, [rows]; 0 of what has none.
nb::object weigh_sequences(const Tagger& self, nb::handle sequences) {
  std::vector<float> weights;
  const SequenceCode code{self.tagset().labels, self.tagset().groups};
  const Index width = self.order() + 1;
  const auto weigh = [&](const auto* rows, Index count) {
    for (Index i = 0; i < count; ++i) weights.push_back(self.ngrams().at(code.find_key(rows + i * width, width)));
    return true;
  };
  if (self.has_chain() || !self.is_ready() || !read_sequences(sequences, self.order(), weigh))
    refuse("there must be a cascade, and rows of as many numbers as its order and 1");
  return nb::cast(array(std::move(weights)));
}

void use_cascade(Tagger& self, Index order, Flat<const Key> keys, Flat<const float> weights,
                 const std::vector<float>& thresholds, nb::handle sequences) {
  if (order < 1 || order > kMostOrder)
    refuse("order must be between 1 and " + std::to_string(kMostOrder) + ", not " + std::to_string(order));
  const NgramTable ngrams{keys.data(), weights.data(), keys.shape(0) - 1};
  if (keys.shape(0) != weights.shape(0) || !ngrams.is_sound(keys.shape(0)))
    refuse("these arrays are not the compiled label sequences of a model");
  if (thresholds.size() != static_cast<std::size_t>(order) + 1)
    refuse("there must be " + std::to_string(order + 1) +
           " thresholds: of coarse tags, labels, and lattices below the order");
  for (const float x : thresholds)
    if (!(x >= 0 && x <= 1)) refuse("thresholds must be between 0 and 1");
  Thresholds t;
  t.groups = thresholds[0];
  std::copy(thresholds.begin() + 1, thresholds.end(), t.states);
  self.use_cascade(order, ngrams, t);
  const auto use = [&](const auto* rows, Index count) { return self.use_sequences(rows, count); };
  if (!sequences.is_none() && !read_sequences(sequences, order, use))
    refuse("these sequences are not those that the table has weights of");
}

}  // namespace

void bind_tagger(nb::module_& m) {
  define_arrays(nb::class_<Tagged>(m, "Tagged"), "labels", &Tagged::labels, "found", &Tagged::found, "scores",
                &Tagged::scores, "bounds", &Tagged::bounds, "optimal", &Tagged::optimal, "stopped", &Tagged::stopped,
                "confidences", &Tagged::confidences, "log_partitions", &Tagged::log_partitions, "log_partition_bounds",
                &Tagged::log_partition_bounds, "roundings", &Tagged::roundings, "dropped_roundings",
                &Tagged::dropped_roundings, "positions", &Tagged::positions, "rounds", &Tagged::rounds);
  nb::class_<Tagger>(m, "Tagger")
      .def("__init__", &make_tagger, "extractor"_a, "tagset"_a, "slots"_a, "rows"_a, "step"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def("use_chain", &use_chain, "chain"_a, nb::keep_alive<1, 2>())
      .def("use_cascade", &use_cascade, "order"_a, "keys"_a, "weights"_a, "thresholds"_a, "sequences"_a = nb::none(),
           nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def("weigh_sequences", &weigh_sequences, "sequences"_a)
      .def("tag", &tag, "sentences"_a, nb::kw_only(), "k"_a = 1, "confidence"_a = false, "threads"_a = 1,
           "allowed"_a = nb::none(), "legal"_a = nb::none(), "prove"_a = true, "seconds"_a = kNoTimeLimit,
           "max_iterations"_a = std::numeric_limits<Index>::max())
      .def("emissions", &emissions, "sentences"_a, "out"_a, "threads"_a = 1);
}

}  // namespace certus
