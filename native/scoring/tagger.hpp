// A trained model, ready to tag: features from text, scores from features, labels from scores.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/lazy.hpp"
#include "base/limits.hpp"
#include "base/parallel.hpp"
#include "base/stopwatch.hpp"
#include "chain/run.hpp"
#include "features/extractor.hpp"
#include "scoring/cascade.hpp"
#include "scoring/detours.hpp"
#include "scoring/emissions.hpp"
#include "scoring/feature_table.hpp"
#include "scoring/rounding.hpp"
#include "scoring/sequence_scores.hpp"

namespace certus::scoring {

// What is wanted of a sentence, and where it goes.
struct TagRequest {
  Index k = 1;
  bool confidence = false;
  const Allowed* allowed = nullptr;     // [T], or null where all tokens may have all labels
  const std::uint8_t* legal = nullptr;  // [labels + 1][labels + 1], see Cascade, or null; not for chains
  bool prove = true;                    // whether to bound what a cascade has dropped
  // After so long, or after so many rounds, no further search begins; what was found by then is bounded.
  double seconds = kNoTimeLimit;
  Index max_rounds = std::numeric_limits<Index>::max();
};
enum class Limit : std::uint8_t { none, seconds, rounds };
struct TagAnswer {
  Label* labels;                                 // [k][T]
  double* scores;                                // [k]
  float* confidence;                             // [T], the posteriors of the best labels, or null
  double log_partition;                          // with confidence: of what the last lattice has,
  double log_partition_bound = -kNever<double>;  // and of all sequences at most, but for
  Rounding rounding;                             // how far both may be off because scores are rounded
  double bound = kNever<double>;
  Index rounds = 0;     // how often a cascade was built, or what it had dropped was searched
  Index found = 0;      // how many were written
  Index position = -1;  // if none: the first position that no path reaches
  bool optimal = false;
  Limit stopped = Limit::none;  // which was met before it was
};

// What is wanted of a lattice that is decoded again and again.
struct LatticeRequest {
  float pruning = 1;    // what thresholds are multiplied by
  bool bounded = true;  // whether what it lacks is to be bounded
  // How far below the best sequence all those have to be that it lacks: less is pruned until they are, or until the
  // lattice would be too large.
  double margin = 0;
  bool further = false;  // whether to find out if they are further below it
};

class Tagger {
 public:
  struct Workspace;

  // All that it is given must outlive it.
  Tagger(const features::Extractor& extractor, const Tagset& tagset, const FeatureTable& table, float step)
      : extractor_(extractor), tagset_(tagset), table_(table), step_(step) {}

  // Decodes with the chain engine,
  void use_chain(const Model<float>& chain) { chain_ = &chain; }
  bool has_chain() const { return chain_ != nullptr; }
  // or with a cascade of pruned lattices.
  void use_cascade(Index order, const NgramTable& ngrams, const Thresholds& thresholds);
  // The sequences that the n-grams are of, see NgramBounds: proofs then cost less. False if they are not those.
  template <class Number>
  bool use_sequences(const Number* rows, Index count) {
    return bounds_->use_sequences(rows, count);
  }
  bool is_ready() const { return chain_ || order_; }

  void tag(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer,
           Workspace& workspace) const;
  // The scores of all labels at all positions, [T][labels].
  void emissions(const features::Sentence& sentence, float* out, Workspace& workspace) const;

  // The last lattice of the cascade, which lives in the workspace until the next call. `outside` becomes a bound of the
  // scores of all sequences that it lacks: -inf if there are none, infinite if none is wanted.
  const lattice::Lattice& search_lattice(const features::Sentence& sentence, const LatticeRequest& request,
                                         double& outside, Workspace& workspace) const;

  const features::Extractor& extractor() const { return extractor_; }
  const Tagset& tagset() const { return tagset_; }
  const NgramTable& ngrams() const { return ngrams_; }
  Index order() const { return order_; }
  std::unique_ptr<Workspace> workspace() const;
  // Calls use(n, workspace) for n of [0, count), on several threads.
  template <class Use>
  void run_parallel(Index count, Index threads, const Use& use) const {
    std::vector<std::unique_ptr<Workspace>> spaces(std::clamp<Index>(count, 1, threads));
    for (auto& space : spaces) space = workspace();
    parallel(count, static_cast<Index>(spaces.size()), [&](Index n, Index thread) { use(n, *spaces[thread]); });
  }

 private:
  void find_rows(const features::Sentence& sentence, Workspace& w) const;
  const float* score_token(Index t, Workspace& w) const;
  double find_magnitude(const float* units, Workspace& w) const;
  Rounding bound_rounding(Index length, Workspace& w) const;
  void expand_groups(const float* units, Workspace& w, float* labels) const;
  void tag_chain(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer, Workspace& w) const;
  void tag_cascade(const features::Sentence& sentence, const TagRequest& request, TagAnswer& answer,
                   Workspace& w) const;
  double bound_outside(const LatticeRequest& request, Workspace& w) const;
  void prune_by(float first, float later, Workspace& w, float edges = 0) const;
  const Level* search(Index length, const TagRequest& request, Workspace& w, Index& position) const;
  const Level* climb(const NgramTable& ngrams, Workspace& w, Index& position) const;
  const NgramTable& filter_ngrams() const;
  const RestTables& prepare_rests() const;
  void find_confidence(const Level& level, const TagRequest& request, TagAnswer& answer, Workspace& w) const;
  double bound_mass(const TagRequest& request, Workspace& w) const;
  const Level* search_with(const TagAnswer& answer, const TagRequest& request, Workspace& w) const;
  void write_paths(const Level& level, const TagRequest& request, TagAnswer& answer, Workspace& w) const;
  bool is_wide_enough(const TagAnswer& answer, Workspace& w) const;
  void prove(const TagRequest& request, float pruning, const Stopwatch& watch, TagAnswer& answer, Workspace& w) const;
  void merge(const std::vector<Detours::Found>& better, Index length, const TagRequest& request,
             TagAnswer& answer) const;
  void add_up_scores(const TagRequest& request, TagAnswer& answer, Workspace& w) const;

  const features::Extractor& extractor_;
  const Tagset& tagset_;
  FeatureTable table_;
  float step_;
  Expansion expansion_{tagset_};
  Index parts_ = tagset_.count_parts();  // that a label has at most
  const Model<float>* chain_ = nullptr;
  Index order_ = 0;
  NgramTable ngrams_;
  std::vector<float> coarse_pairs_, coarse_triples_;  // see NgramTable
  // The same n-grams for wide lattices, and what sums over labels need; made when they are wanted first.
  struct FilteredNgrams {
    std::vector<std::uint64_t> filter;
    NgramTable ngrams;
  };
  Lazy<FilteredNgrams> filtered_;
  Lazy<RestTables> rests_;
  std::optional<NgramBounds> bounds_;
  std::optional<GroupBounds> group_bounds_;
  Thresholds thresholds_;
};

struct Tagger::Workspace {
  features::Scratch scratch;
  std::vector<Key> keys;
  std::vector<std::uint32_t> ends, rows;
  std::vector<std::int32_t> sums;  // [units]
  std::size_t stride = 0;          // units + 1, the last of which scores 0
  std::vector<float> units;        // [stride], or [T][stride] while what is dropped is bounded
  std::vector<float> nodes;        // sums on the way to labels
  std::vector<float> magnitudes;   // of units, of sums on the way to labels, and of labels
  std::vector<float> scores;       // [T][labels]
  std::vector<double> marginals;
  std::vector<Index> labels;
  std::optional<Cascade> cascade;
  Onward onward;
  RestSums rests;
  Detours detours;
  SequenceScores sequence_scores;
  std::vector<Cascade::Taken> taken;  // labels that are no candidates, and may be

  const float* kept_units(Index t) const { return units.data() + static_cast<std::size_t>(t) * stride; }
};

}  // namespace certus::scoring
