#include "relax/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace certus::relax {
namespace {

constexpr double kOften = 0.5;         // calls for completions per call for the dual; those of a part that
constexpr double kShare = 0.25;        // completes by itself count this much
constexpr Index kFew = 3;              // parts, whose completions are wholes often enough
constexpr Index kVotes = 20;           // rounds between two votes, once a whole is known
constexpr Index kVariables = 5000;     // the most for a vote
constexpr std::size_t kSeen = 200000;  // the most that are remembered as tried

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Rounding::Rounding(Dual& dual)
    : dual_(dual),
      problem_(dual.problem()),
      is_covering_(problem_.parts(), 0),
      is_covered_(problem_.parts(), 1),
      completions_(problem_.parts(), 0),
      wishes_(problem_.variables(), 0.0) {
  Index shared = 0;
  for (Index v = 0; v < problem_.variables(); ++v) shared += problem_.is_shared(v);
  for (Index p = 0; p < problem_.parts(); ++p) {
    Index own = 0;
    for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy) {
      const Index v = problem_.variable(copy);
      is_covered_[p] &= problem_.is_shared(v);
      own += problem_.is_shared(v);
    }
    for (const CellGroup& group : problem_.part(p).groups()) leaves_out_ = leaves_out_ && !has_to_choose(p, group);
    is_covering_[p] = own == shared && problem_.has_each_once(p);  // else its choice may contradict itself
    votes_ = votes_ && problem_.part(p).propagates();
  }
  votes_ = votes_ && problem_.parts() > kFew && problem_.variables() <= kVariables;
  found_.used.resize(problem_.parts());
  found_.scores.resize(problem_.parts());
  found_.kept.resize(problem_.parts());
}

// Whether one of the shared variables has to be on.
bool Rounding::has_to_choose(Index p, const CellGroup& group) const {
  bool shared = group.exactly_one;
  for (Index c = group.begin; c < group.end && shared; ++c)
    shared = problem_.is_shared(problem_.variable(problem_.begin(p) + c));
  return shared;
}

void Rounding::begin() { on_ = dual_.fixed(); }

// Keeps what was found if it is the best.
double Rounding::finish() {
  found_.score = std::accumulate(found_.scores.begin(), found_.scores.end(), 0.0);
  if (found_.score > best_.score) {
    best_ = found_;
    size_ = 0;
    for (const double score : best_.scores) size_ += std::abs(score);
    if (size_ == 0 && dual_.scale() == 0) size_ = dual_.largest();  // nothing else tells how large scores are
  }
  return found_.score;
}

void Rounding::take() {
  for (Index p = 0; p < problem_.parts(); ++p) {
    found_.used[p] = dual_.used(p);
    found_.scores[p] = dual_.score(p);
    found_.kept[p] = dual_.structure(p);
  }
  finish();
}

// Notes what a part sets. False: it contradicts what is known.
bool Rounding::know(Index p, const std::vector<Index>& used) {
  auto next = used.begin();
  const Index begin = problem_.begin(p), end = problem_.begin(p + 1);
  for (Index copy = begin; copy < end; ++copy) {
    const bool uses = next != used.end() && begin + *next == copy;
    if (uses) ++next;
    const Index v = problem_.variable(copy);
    if (problem_.is_reserve(v)) continue;
    if (on_[v] != Dual::kFree && on_[v] != static_cast<std::int8_t>(uses)) return false;
    on_[v] = uses;
  }
  return true;
}

// Sets the cells of a part to what is known, lets it choose the rest, and puts its adjustments back.
bool Rounding::choose(Index p) {
  Part& part = dual_.part(p);
  const Index begin = problem_.begin(p);
  for (Index c = 0; c < part.cells(); ++c) {
    const std::int8_t known = on_[problem_.variable(begin + c)];
    if (known == 0) part.adjust(c, kNever<double>);
    if (known != 1) continue;
    part.require(c, true);
    const CellGroup& group = part.group(c);
    for (Index other = group.begin; group.exactly_one && other < group.end; ++other)
      if (other != c) part.adjust(other, kNever<double>);
  }
  ++completions_[p];
  spent_ += 1;
  const double score = problem_.weight(p) * part.maximize(found_.used[p]);
  found_.kept[p] = part.structure();
  dual_.adjust_part(p);
  found_.scores[p] = score;
  return score != kNever<double> && know(p, found_.used[p]);
}

void Rounding::round(bool forward) {
  begin();
  for (Index i = 0; i < problem_.parts(); ++i) {
    const Index p = forward ? i : problem_.parts() - 1 - i;
    if (dual_.is_open(p)) {
      if (!choose(p)) return;
      continue;
    }
    found_.used[p] = dual_.used(p);
    found_.scores[p] = dual_.score(p);
    found_.kept[p] = dual_.structure(p);
  }
  finish();
}

void Rounding::complete(const std::vector<std::int8_t>& on) {
  begin();
  std::copy(on.begin(), on.end(), on_.begin());
  for (Index p = 0; p < problem_.parts(); ++p)
    if (!choose(p)) return;
  finish();
}

double Rounding::propose() {
  const Index parts = problem_.parts();
  earned_ += kOften * static_cast<double>(parts);
  double found = kNone;
  if (votes_ && spent_ <= earned_ && (best_.score == kNever<double> || rounds_ >= kVotes)) {
    rounds_ = 0;
    found = vote();
  }
  ++rounds_;
  const Index sources = parts + (leaves_out_ ? 1 : 0);
  for (Index offset = 0; offset < sources && spent_ <= earned_; ++offset)
    found = std::fmax(found, complete_from((turn_ + offset) % sources));
  turn_ = (turn_ + 1) % sources;
  return found;
}

// Fixes what one part chose and asks the others in turn, each under what is known by then. One more source than there
// are parts: a variable is 1 where all choose it, else 0. That is one wherever leaving things out is allowed, but no
// whole where something has to be chosen: then that source is left out.
double Rounding::complete_from(Index source) {
  if (!is_new(source)) return kNone;
  if (source < problem_.parts()) {
    bool offered = true;
    if (is_covering_[source] && complete_known(source, &offered)) return finish();
    if (is_covering_[source] && offered) return kNone;
  }
  begin();
  if (source == problem_.parts()) {
    for (Index v = 0; v < problem_.variables(); ++v)
      if (problem_.is_shared(v) && dual_.is_free(v)) on_[v] = dual_.on(v) == problem_.count(v);
  } else if (!know(source, dual_.used(source))) {
    return kNone;
  }
  return complete_rest(source) ? finish() : kNone;
}

bool Rounding::is_new(Index source) {
  std::uint64_t sum = static_cast<std::uint64_t>(source) + 1;
  const auto add = [&](Index x) {
    sum ^= static_cast<std::uint64_t>(x) + 0x9e3779b97f4a7c15ULL + (sum << 6) + (sum >> 2);
    sum *= 0xbf58476d1ce4e5b9ULL;
  };
  const Index parts = problem_.parts();
  for (Index p = source < parts ? source : 0; p < (source < parts ? source + 1 : parts); ++p)
    for (const Index c : dual_.used(p)) {
      const Index v = problem_.variable(problem_.begin(p) + c);
      if (source < parts || dual_.on(v) == problem_.count(v)) add(v);
    }
  if (seen_.size() >= kSeen) seen_.clear();
  return seen_.insert(sum).second;
}

// Where the source has all shared variables, the other parts have nothing left to choose.
bool Rounding::complete_known(Index source, bool* offered) {
  for (Index p = 0; p < problem_.parts(); ++p) *offered = *offered && (p == source || is_covered_[p]);
  if (!*offered) return false;
  const std::vector<Index>& used = dual_.used(source);
  for (Index p = 0; p < problem_.parts(); ++p) {
    if (p == source) {
      found_.used[p] = used;
      found_.scores[p] = dual_.score(p);
      found_.kept[p] = dual_.structure(p);
      continue;
    }
    cells_.clear();
    for (const Index c : used) {
      const Index v = problem_.variable(problem_.begin(source) + c);
      if (!problem_.is_shared(v)) continue;
      for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy)
        if (problem_.owner(*copy) == p) cells_.push_back(*copy - problem_.begin(p));
    }
    std::sort(cells_.begin(), cells_.end());
    cells_.erase(std::unique(cells_.begin(), cells_.end()), cells_.end());
    double score = kNever<double>;
    *offered = problem_.part(p).complete(cells_, &score);
    if (!*offered) return false;
    ++completions_[p];
    spent_ += kShare;
    if (score == kNever<double>) return false;
    found_.used[p] = cells_;
    found_.scores[p] = problem_.weight(p) * score;
    found_.kept[p] = problem_.part(p).structure();
  }
  return true;
}

bool Rounding::complete_rest(Index source) {
  for (Index p = 0; p < problem_.parts(); ++p) {
    if (p != source) {
      if (!choose(p)) return false;
      continue;
    }
    found_.used[p] = dual_.used(p);
    found_.scores[p] = dual_.score(p);
    found_.kept[p] = dual_.structure(p);
  }
  return true;
}

void Rounding::decide() {
  if (!votes_) return;
  dual_.find_worths(dual_.largest(), worths_);
  for (Index v = 0; v < problem_.variables(); ++v) {
    wishes_[v] = 0;
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy)
      wishes_[v] += worths_[*copy];
  }
  fix_in_order();
}

double Rounding::vote() {
  for (Index v = 0; v < problem_.variables(); ++v)
    wishes_[v] = static_cast<double>(dual_.on(v)) / static_cast<double>(std::max<Index>(problem_.count(v), 1)) - 0.5;
  return fix_in_order();
}

// Fixes one variable after the other as the parts wish, those first of which they are most sure, and what follows from
// that; where nothing is left, the variable gets the other value. With dozens of small parts, what one of them
// chose hardly ever completes to a whole; this often does.
double Rounding::fix_in_order() {
  const std::vector<std::int8_t> before = dual_.fixed();
  order_.clear();
  for (Index v = 0; v < problem_.variables(); ++v)
    if (dual_.is_free(v) && problem_.is_shared(v)) order_.push_back(v);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](Index a, Index b) { return std::abs(wishes_[a]) > std::abs(wishes_[b]); });
  bool possible = dual_.propagate();
  for (const Index v : order_) {
    if (!possible) break;
    if (!dual_.is_free(v)) continue;
    const std::vector<std::int8_t> here = dual_.fixed();
    const bool on = wishes_[v] >= 0;
    if (dual_.fix(v, on) && dual_.propagate()) continue;
    dual_.restore_fixed(here);
    possible = dual_.fix(v, !on) && dual_.propagate();
  }
  double found = kNone;
  if (possible) {
    begin();
    if (complete_rest(-1)) found = finish();
  }
  dual_.restore_fixed(before);
  dual_.evaluate();
  return found;
}

}  // namespace certus::relax
