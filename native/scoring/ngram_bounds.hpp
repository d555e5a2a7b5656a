// What sequences of labels may add at most where not all of their labels are known. With order n, position t adds for
// every m of 1 .. n the weight of the m + 1 labels that end there (fewer where the sentence begins), and of their
// coarse tags. An n-gram without a weight adds 0, so no bound is below 0.
#pragma once

#include <algorithm>
#include <vector>

#include "scoring/ngrams.hpp"
#include "scoring/tag_rows.hpp"
#include "scoring/tagset.hpp"

namespace certus::scoring {

// What labels score at most: by themselves, with n-grams of labels that end with them, and also with those that end
// with the next label.
struct RestScore {
  float own = kNever<float>, ending = kNever<float>, around = kNever<float>;

  void raise(const RestScore& other) {
    own = std::max(own, other.own), ending = std::max(ending, other.ending), around = std::max(around, other.around);
  }
  void add(float score) { own += score, ending += score, around += score; }
};

class NgramBounds {
 public:
  NgramBounds(const Tagset& tagset, Index order, const NgramTable& table);

  // Rows of order + 1 numbers, see SequenceCode: all sequences that the table has. False if they are not those.
  template <class Number>
  bool use_sequences(const Number* rows, Index count);

  // Of a label at position t, all that n-grams of labels may add which end with it, or with the next label; and of the
  // former and of both together, by place.
  float ending(Index t, Label y) const { return choose(t).ending[y]; }
  float leaving(Index t, Label y) const { return choose(t).leaving[y]; }
  const float* ending(Index t) const { return choose(t).ending_place.data(); }
  const float* around(Index t) const { return choose(t).around.data(); }
  // The largest of these over the labels of each coarse tag that is told apart, [stride()].
  const float* most_ending(Index t) const { return choose(t).most_ending.data(); }
  const float* most_around(Index t) const { return choose(t).most_around.data(); }
  // The same where the coarse tag of the label before is known, or that of the next; by place.
  const float* ending_after(Unit group) const { return ending_after_.data() + group * places(); }
  const float* leaving_to(Unit group) const { return leaving_to_.data() + group * places(); }
  // Of a coarse tag at position t, all that n-grams of coarse tags may add which end there, by the one before.
  TagPairs coarse(Index t) const { return view(choose(t).coarse); }
  // The same, and all that n-grams of labels may add which end with a label of that coarse tag after the former,
  TagPairs entering(Index t) const { return view(choose(t).entering); }
  // All of these by the later coarse tag, a row of the earlier ones for each; and what n-grams of labels may add which
  // end with a label of the later after one of the earlier.
  TagPairs coarse_into(Index t) const { return view(choose(t).coarse_into); }
  TagPairs entering_into(Index t) const { return view(choose(t).entering_into); }
  TagPairs departing_into(Index t) const { return view(choose(t).departing_into); }
  // The most that n-grams of coarse tags add which end with each of them after any, [stride()].
  const double* most_into(Index t) const { return choose(t).most_into.data(); }
  // Coarse tags that are told apart, and that of a label: there is one only where pairs of them would be too many.
  Index groups() const { return static_cast<Index>(width_) - 1; }
  // All that n-grams which end with one label may add, or take away.
  double heaviest() const { return heaviest_; }
  // How long rows are that have a number for each of them and the boundary.
  Index stride() const { return static_cast<Index>(stride_); }
  Unit group(Label y) const { return group_[y]; }
  // Where labels stand in rows of scores: those of a group beside each other, in the order of Tagset::members, each
  // group from a multiple of kBlock on; the places between are no label, -1.
  static constexpr Index kBlock = 16;
  Index places() const { return begin_.back(); }
  Index place(Label y) const { return place_[y]; }
  Label at(Index place) const { return label_[place]; }
  Index begin(Index group) const { return begin_[group]; }
  // Of a sequence, given by the key of its labels, all that longer n-grams of labels may add which end with it;
  float above_labels(Key full) const { return step_ * static_cast<float>(longer_[full & mask_]); }
  // the same with n-grams of coarse tags, given the key of those,
  float above(Key full, Key coarse) const {
    return step_ * static_cast<float>(longer_[full & mask_] + longer_[coarse & mask_]);
  }
  void prefetch(Key key) const { __builtin_prefetch(longer_.data() + (key & mask_)); }
  // the most that they are of any sequence by its last label, or by its last coarse tag,
  float most_above_labels(Label y) const { return most_longer_[y]; }
  float most_above_tags(Unit tag) const { return most_longer_tags_[tag]; }
  // and of coarse tags alone: of two with the last at position t, and of three.
  float above_tags(Index t, Unit before, Unit tag) const {
    return choose(t).above_pair[tell(before) * width_ + tell(tag)];
  }
  float above_tags(Unit first, Unit before, Unit tag) const {
    return above_labels(mix(mix(mix(2, first), before), tag));
  }
  // The weights of three coarse tags that differ in the first, with what longer n-grams may add, or null where they are
  // too many.
  const float* weigh_first_above(const Unit* tags) const {
    return triples_.empty() ? nullptr : triples_.data() + (tags[1] * told_ + tags[2]) * told_;
  }
  // The weight of an n-gram of coarse tags.
  float weigh_tags(const Unit* tags, Index length) const {
    Key key = 2;
    for (Index i = 0; i < length; ++i) key = mix(key, tags[i]);
    return table_.at(key);
  }

 private:
  // Largest weights. Where a sentence begins, n-grams are cut off at the boundary: they count as longer ones, too.
  struct Tables {
    std::vector<float> ending, leaving;                              // [labels + 1]
    std::vector<float> ending_place;                                 // [places], and a block more
    std::vector<float> around;                                       // [places], and a block more
    std::vector<float> most_ending, most_around;                     // [stride]
    std::vector<double> coarse, entering;                            // [groups + 1][stride]
    std::vector<double> coarse_into, entering_into, departing_into;  // the same by the later coarse tag
    std::vector<double> most_into;                                   // [stride]
    std::vector<float> above_pair;  // [groups + 1]²: `coarse` without the weights of the pairs themselves
  };
  template <class Number>
  struct Row;
  // What longer n-grams may add which end with a sequence, where a sentence begins or anywhere, and past that.
  struct Longer {
    float early = 0, late = 0;
  };

  const Tables& choose(Index t) const { return t < order_ ? early_ : late_; }
  TagPairs view(const std::vector<double>& rows) const { return {rows.data(), stride()}; }
  void clear(Tables& tables, float value) const;
  void complete(Tables& tables) const;
  void lay_out();
  void list_triples();
  void find_group_pairs(Tables& tables) const;
  void set_longer(const std::vector<Longer>& longer);
  template <class Number>
  void find_longer(const Number* rows, Index count);
  template <class Number>
  void add_pair(const Row<Number>& row, float weight, const Longer& more);
  std::size_t tell(Index group) const {
    return groups() < tagset_.groups ? std::size_t{group == tagset_.groups} : static_cast<std::size_t>(group);
  }

  const Tagset& tagset_;
  const NgramTable& table_;
  Index order_;
  std::size_t width_;        // of tables of coarse tags: their number and 1,
  std::size_t stride_ = 0;   // and what makes vectors whole
  std::vector<Unit> group_;  // [labels + 1]
  // By the key of a sequence; those that share a place have the larger number, which bounds both.
  std::vector<std::uint8_t> longer_;  // [mask + 1], in steps, rounded up
  std::size_t mask_ = 0;
  float step_ = 1;
  double heaviest_ = 0;
  std::vector<float> most_longer_, most_longer_tags_;  // [labels + 1], [coarse tags of the tag set and 1]
  std::vector<float> ending_after_, leaving_to_;       // [groups + 1][places]
  std::size_t told_;                                   // coarse tags of the tag set, and 1
  std::vector<float> triples_;                         // [told]³, the first tag last, where they are few
  std::vector<Index> begin_{0}, place_;                // [groups + 1], [labels]
  std::vector<Label> label_;                           // [places]
  Tables early_, late_;
};

}  // namespace certus::scoring
