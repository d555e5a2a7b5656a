#include "features/extractor.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "features/affixes.hpp"

namespace certus::features {
namespace {

constexpr std::uint8_t kNotAsked = 255;
constexpr Key kRare = 1;  // what rare words were seen with

// What stands `distance` positions outside a sentence: before it if negative.
Key boundary(std::int64_t distance) { return mix(kRoot11, spread(static_cast<Key>(distance))); }

template <class X>
X* at_least(std::vector<X>& buffer, Index size) {
  if (buffer.size() < static_cast<std::size_t>(size)) buffer.resize(size);
  return buffer.data();
}

// One sentence on its way through.
class Run {
 public:
  Run(const Plan& plan, const KeyMap& frequent, const Sentence& s, Scratch& scratch)
      : plan_(plan), frequent_(frequent), s_(s), scratch_(scratch) {
    fill_looks();
    fill_lowered(scratch.bytes);
    for (std::size_t v = 0; v < plan.views.size(); ++v) fill_values(plan.views[v], row(v));
    std::size_t n = 0;
    for (const Operand& operand : plan.operands) starts_[n++] = operand.view * stride_ + plan.margin + operand.offset;
    std::fill_n(known_, affixed_, kNotAsked);
  }

  Key word(Index t) const { return row(0)[t]; }

  // Writes the keys of a token and returns their end.
  Key* write(const std::vector<Instruction>& code, Index t, Key* out) const {
    const Key* const values = values_ + t;
    for (const Instruction& i : code) {
      Key key = i.seed;
      for (std::uint32_t n = i.first; n < i.last; ++n) key = mix(key, values[starts_[n]]);
      if (i.several == kOne) *out++ = key;
      else out = write_several(plan_.severals[i.several], key, t, out);
    }
    return out;
  }

 private:
  Key* row(std::size_t view) const { return values_ + static_cast<Index>(view) * stride_ + plan_.margin; }

  Index columns() const { return static_cast<Index>(plan_.looked.size()); }  // that templates know

  std::string_view text(bool lower, std::int32_t column, Index t) const {
    return lower ? lowered_[plan_.lowered[column] * s_.length + t] : s_.column(column)[t];
  }

  const Look& look(std::int32_t column, Index t) const { return looks_[plan_.looked[column] * s_.length + t]; }

  void fill_looks() {
    for (Index c = 0; c < columns(); ++c)
      for (Index t = 0; plan_.looked[c] >= 0 && t < s_.length; ++t)
        looks_[plan_.looked[c] * s_.length + t] = look_at(s_.column(c)[t]);
  }

  // Cells without a capital are their own lower case.
  void fill_lowered(std::vector<char>& bytes) {
    Index room = 0;
    for (Index c = 0; c < columns(); ++c)
      for (Index t = 0; plan_.lowered[c] >= 0 && t < s_.length; ++t)
        if (look(c, t).has(Kind::upper)) room += 2 * s_.column(c)[t].size();
    char* place = at_least(bytes, room);
    for (Index c = 0; c < columns(); ++c)
      for (Index t = 0; plan_.lowered[c] >= 0 && t < s_.length; ++t) {
        std::string_view& lowered = lowered_[plan_.lowered[c] * s_.length + t];
        lowered = s_.column(c)[t];
        if (!look(c, t).has(Kind::upper)) continue;
        char* const end = lower_case(lowered, place);
        lowered = {place, static_cast<std::size_t>(end - place)};
        place = end;
      }
  }

  // into[t] for each token, and the boundaries on both sides.
  void fill_values(const View& view, Key* into) {
    for (Index t = 0; t < s_.length; ++t) into[t] = value(view, t);
    for (std::int32_t d = 1; d <= plan_.margin; ++d) {
      into[-d] = boundary(-d);
      into[s_.length + d - 1] = boundary(d);
    }
  }

  Key value(const View& view, Index t) const {
    switch (view.function) {
      case Function::shape: return look(view.column, t).shape;
      case Function::flags: return spread(look(view.column, t).flags());
      case Function::length: return spread(std::min(look(view.column, t).characters, kLongestLength));
      case Function::seen: return frequent_.value(word(t), kRare);
      default: break;
    }
    if (view.lower && !look(view.column, t).has(Kind::upper)) return row(view.plain)[t];
    return hash(text(view.lower, view.column, t));
  }

  Key* write_several(const Several& several, Key key, Index t, Key* out) const {
    const Index at = t + several.term.offset;
    if (at < 0 || at >= s_.length) return out;
    return several.term.is_affix() ? write_affixes(several, key, at, out) : write_each(several.term, key, at, out);
  }

  Key* write_affixes(const Several& several, Key key, Index t, Key* out) const {
    const Index place = static_cast<Index>(several.affix) * s_.length + t;
    Key* const keys = affixes_ + place * plan_.longest;
    if (known_[place] == kNotAsked) {
      const Affix& affix = plan_.affixes[several.affix];
      const std::string_view whole = text(affix.lower, affix.column, t);
      known_[place] = static_cast<std::uint8_t>(affix.suffix ? suffixes(whole, affix.longest, keys)
                                                             : prefixes(whole, affix.longest, keys));
    }
    const std::int32_t high = std::min<std::int32_t>(several.term.high, known_[place]);
    for (std::int32_t n = several.term.low; n <= high; ++n) *out++ = mix(key, keys[n - 1]);
    return out;
  }

  // The parts of a cell between bars, without empty ones.
  Key* write_each(const Term& term, Key key, Index t, Key* out) const {
    std::string_view rest = text(term.lower, term.column, t);
    for (std::int32_t n = 0; n < kMostValues && !rest.empty();) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      if (bar > 0) {
        *out++ = mix(key, hash(rest.substr(0, bar)));
        ++n;
      }
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    return out;
  }

  const Plan& plan_;
  const KeyMap& frequent_;
  const Sentence& s_;
  Scratch& scratch_;
  Index stride_ = s_.length + Index{2} * plan_.margin;  // of the rows of values
  Index affixed_ = static_cast<Index>(plan_.affixes.size()) * s_.length;
  Look* looks_ = at_least(scratch_.looks, plan_.looked_count* s_.length);
  std::string_view* lowered_ = at_least(scratch_.lowered, plan_.lowered_count* s_.length);
  Key* values_ = at_least(scratch_.values, static_cast<Index>(plan_.views.size()) * stride_);
  std::size_t* starts_ = at_least(scratch_.starts, static_cast<Index>(plan_.operands.size()));
  Key* affixes_ = at_least(scratch_.affixes, affixed_* plan_.longest);
  std::uint8_t* known_ = at_least(scratch_.known, affixed_);
};

}  // namespace

void Extractor::extract(const Sentence& s, std::vector<Key>& keys, std::vector<std::uint32_t>& ends,
                        Scratch& scratch) const {
  const Run run(plan_, frequent_, s, scratch);
  Key* const first = at_least(scratch.keys, s.length * plan_.most);
  Key* out = first;
  ends.resize(s.length);
  Heed heed;
  for (Index t = 0; t < s.length; ++t) {
    heed(16 * plan_.most);
    const bool rare = plan_.conditional && is_rare(run.word(t));
    out = run.write(plan_.code[rare], t, out);
    ends[t] = static_cast<std::uint32_t>(out - first);
  }
  if (bits_)
    for (Key* key = first; key < out; ++key) *key = spread(*key >> (64 - bits_));
  keys.insert(keys.end(), first, out);
}

}  // namespace certus::features
