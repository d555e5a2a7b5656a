// Chu & Liu (1965), Edmonds (1967), in the form for dense graphs that takes O(n^2) steps (Tarjan 1977): a path grows
// backwards along the best edge into its last node; where it bites its tail, the cycle becomes one node; where it
// reaches what is connected to the root, it is connected, too.
//
// A node has a row with the scores of the edges into it, by the *word* they come from, so that only rows are ever
// joined, which vectors do:
//
//     row(cycle)[w] = max over its nodes v of  row(v)[w] - best(v),   best(v) = max over w of row(v)[w]
//
// and -inf for the words inside. Which node of the cycle an edge leads to is found when the tree is read off: the one
// whose difference is the maximum.
//
// Trees with one child of the root are the best where each edge from the root costs a large enough price, which rises
// from 0 (Gabow & Tarjan 1984): at each moment, of the nodes that hang on the root, the one moves elsewhere that loses
// the least by it, and where it moves below itself, the cycle becomes one node, which hangs on the root. No edge of a
// cycle comes from the root, so prices never enter the rows.
//
// For bounds the price is infinite from the start: an edge from the root is taken only where a node has no other.
//
// best(v) of all nodes are a solution of the dual. With S over the nodes, contracted ones included, that an edge from h
// to m enters, score(h, m) <= sum of best(S), and the sum of all best is the score of the best tree; so a tree that
// uses the edge loses at least the difference, its reduced cost.
#include "relax/spanning_tree.hpp"

#include <algorithm>
#include <limits>

#include "base/arena.hpp"
#include "base/interrupt.hpp"
#include "base/simd.hpp"
#include "base/widths.hpp"

namespace certus::relax {
namespace {

constexpr double kForbidden = kNever<double>;
constexpr Label kNoNode = -1;

struct Largest {
  double value;
  Label at;
};

enum class Place : std::uint8_t { outside, path, joined };
// How many children the root may have: any number, one, or one by an infinite price.
enum class Roots : std::uint8_t { several, one, last };

// Nodes are the words, 1 ... n, the root, 0, and from n + 1 on the contracted ones.
struct Nodes {
  Index words, stride;
  Roots roots;
  double* rows;         // [nodes][stride]; without the root where it may have one child
  double* root;         // [nodes]: there, the edge from the root
  double* best;         // [nodes]
  Label* from;          // [nodes]: the word that the best edge comes from
  Label* up;            // [nodes]: the node that it was contracted into
  Label* inside;        // [nodes]: as up, with shortcuts
  Label* child;         // [nodes]: the first node of its cycle,
  Label* next;          // [nodes]: and the one after this
  Label *first, *last;  // [nodes]: the words inside, as a list
  Label* after;         // [n + 1]: the word after this one in the lists
  Place* place;         // [nodes]
  Label* path;          // [n + 1]
  Label made;           // the next node

  double* row(Index v) const { return rows + v * stride; }
  double edge(Index v, Label from_word) const {
    return roots != Roots::several && from_word == 0 ? root[v] : row(v)[from_word];
  }

  Label find(Label v) const {
    while (inside[v] != kNoNode) {
      if (inside[inside[v]] != kNoNode) inside[v] = inside[inside[v]];
      v = inside[v];
    }
    return v;
  }
};

Nodes make_nodes(const LocalArena& arena, Index n, Roots roots) {
  const Index all = 2 * n + 1, stride = (n + 8) / 8 * 8;
  Nodes x{.words = n, .stride = stride, .roots = roots};
  x.rows = arena.get<double>(all * stride);
  x.root = arena.get<double>(all, kForbidden);
  x.best = arena.get<double>(all);
  Label* labels = arena.get<Label>(8 * all);
  std::fill(labels, labels + 2 * all, kNoNode);
  x.up = labels;
  x.inside = labels + all;
  x.from = labels + 2 * all;
  x.child = labels + 3 * all;
  x.next = labels + 4 * all;
  x.first = labels + 5 * all;
  x.last = labels + 6 * all;
  x.after = labels + 7 * all;
  x.place = arena.get<Place>(all, Place::outside);
  x.path = arena.get<Label>(n + 1);
  x.made = static_cast<Label>(n + 1);
  return x;
}

template <class S>
void fill_rows(const Nodes& x, const S* scores) {
  const Index N = x.words + 1;
  for (Index v = 1; v < N; ++v) {
    double* row = x.row(v);
    const S* given = scores + (v - 1) * N;
    for (Index w = 0; w < N; ++w) row[w] = static_cast<double>(given[w]);
    for (Index w = N; w < x.stride; ++w) row[w] = kForbidden;
    row[v] = kForbidden;
    if (x.roots != Roots::several) x.root[v] = row[0], row[0] = kForbidden;
    x.first[v] = x.last[v] = static_cast<Label>(v);
  }
  x.place[0] = Place::joined;
}

template <class S, int bytes>
CERTUS_INLINE Largest find_largest(const S* row, Index stride) {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  using I = typename Simd<Index, bytes>::vector;
  constexpr Index W = Simd<S, bytes>::width;
  V best = *reinterpret_cast<const U*>(row);
  I at{}, now{};
  for (Index w = W; w < stride; w += W) {
    const V x = *reinterpret_cast<const U*>(row + w);
    now = now + W;
    const I more = x > best;
    best = more ? x : best;
    at = more ? now : at;
  }
  Largest found{best[0], static_cast<Label>(at[0])};
  for (Index lane = 1; lane < W; ++lane)
    if (best[lane] > found.value) found = {best[lane], static_cast<Label>(at[lane] + lane)};
  return found;
}

template <class S, int bytes>
CERTUS_INLINE void join_row(S* out, const S* row, S best, Index stride) {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  const V taken = best - V{};
  for (Index w = 0; w < stride; w += Simd<S, bytes>::width) {
    U* to = reinterpret_cast<U*>(out + w);
    const V x = *reinterpret_cast<const U*>(row + w) - taken;
    *to = larger<V>(x, *to);
  }
}

// Makes one node of the end of the path, from `u` on.
template <class S, int bytes>
CERTUS_INLINE Label contract(Nodes& x, Index& length, Label u) {
  const Label made = x.made++;
  S* row = x.row(made);
  std::fill(row, row + x.stride, kForbidden);
  x.child[made] = kNoNode;
  Label v = kNoNode;
  while (v != u) {
    v = x.path[--length];
    join_row<S, bytes>(row, x.row(v), x.best[v], x.stride);
    x.root[made] = std::max(x.root[made], x.root[v] - x.best[v]);
    x.up[v] = x.inside[v] = made;
    x.next[v] = x.child[made];
    if (x.child[made] == kNoNode) x.last[made] = x.last[v];
    else x.after[x.last[v]] = x.first[x.child[made]];
    x.child[made] = v;
  }
  x.first[made] = x.first[u];
  for (Label w = x.first[made];; w = x.after[w]) {
    row[w] = kForbidden;
    if (w == x.last[made]) break;
  }
  return made;
}

// Grows a path from `start` until it is joined to the root; false where no edge leads on.
template <class S, int bytes>
CERTUS_INLINE bool grow(Nodes& x, Label start, Heed& heed) {
  Index length = 0;
  Label v = start;
  while (true) {
    heed(x.stride / 4);
    x.path[length++] = v;
    x.place[v] = Place::path;
    Largest found = find_largest<S, bytes>(x.row(v), x.stride);
    if (x.roots == Roots::last ? found.value == kForbidden : x.root[v] > found.value) found = {x.root[v], 0};
    if (found.value == kForbidden) return false;
    x.best[v] = found.value;
    x.from[v] = found.at;
    const Label u = x.find(found.at);
    if (x.place[u] == Place::joined) break;
    v = x.place[u] == Place::path ? contract<S, bytes>(x, length, u) : u;
  }
  while (length > 0) x.place[x.path[--length]] = Place::joined;
  return true;
}

// A node that hangs on the root, and its best edge from elsewhere.
struct RootChild {
  Label node;
  Largest other;
};

// Moves children of the root elsewhere until one is left; false where they have no other edge.
template <class S, int bytes>
CERTUS_INLINE bool keep_one_child(Nodes& x, Heed& heed) {
  const LocalArena arena;
  RootChild* children = arena.get<RootChild>(x.words);
  Index count = 0;
  for (Label v = 1; v < x.made; ++v)
    if (x.up[v] == kNoNode && x.from[v] == 0) children[count++].node = v;
  for (Index c = 0; count > 1 && c < count; ++c)
    children[c].other = find_largest<S, bytes>(x.row(children[c].node), x.stride);
  while (count > 1) {
    heed(x.stride);
    RootChild* least = children;
    for (RootChild* child = children + 1; child < children + count; ++child)
      if (x.root[child->node] - child->other.value < x.root[least->node] - least->other.value) least = child;
    if (least->other.value == kForbidden) return false;
    const Label u = least->node;
    x.best[u] = least->other.value;
    x.from[u] = least->other.at;
    Index length = 0;
    x.path[length++] = u;
    Label v = x.find(x.from[u]);
    for (; v != u && x.from[v] != 0; v = x.find(x.from[v])) x.path[length++] = v;
    if (v != u) {
      *least = children[--count];
      continue;
    }
    const Label made = contract<S, bytes>(x, length, u);
    x.best[made] = x.root[made];
    x.from[made] = 0;
    *least = {made, find_largest<S, bytes>(x.row(made), x.stride)};
  }
  return true;
}

template <class S, int bytes>
CERTUS_INLINE bool span_body(Nodes& x, Heed& heed) {
  for (Label start = 1; start <= x.words; ++start) {
    const Label v = x.find(start);
    if (x.place[v] == Place::outside && !grow<S, bytes>(x, v, heed)) return false;
  }
  return x.roots != Roots::one || keep_one_child<S, bytes>(x, heed);
}

CERTUS_BY_WIDTH(bool, span_nodes, double, span_body, (Nodes & x, Heed& heed), (x, heed))

// From the edges into contracted nodes to a head for each word: the last node made is opened first.
bool read_heads(const Nodes& x, Index* heads) {
  Index roots = 0;
  for (Label v = x.made - 1; v > x.words; --v) {
    const Label from = x.from[v];
    const double score = x.edge(v, from);
    Label entered = x.child[v];
    while (x.edge(entered, from) - x.best[entered] != score) entered = x.next[entered];
    x.from[entered] = from;
  }
  for (Label v = 1; v <= x.words; ++v) {
    heads[v - 1] = x.from[v];
    roots += x.from[v] == 0;
  }
  return x.roots == Roots::several || roots <= 1;
}

template <class S>
bool span(Nodes& x, const S* scores, Index* heads, Heed& heed) {
  heed(2 * x.words * x.words);
  fill_rows(x, scores);
  return span_nodes(x, heed) && read_heads(x, heads);
}

template <class S>
bool find_tree(const S* scores, Index n, bool single, Index* heads) {
  if (n == 0) return true;
  Heed heed;
  const LocalArena arena;
  Nodes x = make_nodes(arena, n, single ? Roots::one : Roots::several);
  return span(x, scores, heads, heed);
}

// The words in an order in which those inside a node are neighbours: node v has [begin[v], end[v]) of them.
void order_words(const Nodes& x, Label* order, Label* begin, Label* end) {
  Label count = 0;
  for (Label v = x.made - 1; v > 0; --v) {
    if (x.up[v] != kNoNode) continue;
    for (Label w = x.first[v];; w = x.after[w]) {
      order[count] = w;
      begin[w] = count++;
      end[w] = count;
      if (w == x.last[v]) break;
    }
  }
  for (Label v = static_cast<Label>(x.words + 1); v < x.made; ++v)
    begin[v] = begin[x.first[v]], end[v] = end[x.last[v]];
}

// How much more than its score the edges into a word would need: sum of best over the nodes that they enter.
void bound_word(const Nodes& x, Label word, const Label* order, const Label* begin, const Label* end, double* sums) {
  double sum = x.best[word];
  Label v = word;
  for (Label p = x.up[v]; p != kNoNode; v = p, p = x.up[v]) {
    for (Label i = begin[p]; i < begin[v]; ++i) sums[order[i]] = sum;
    for (Label i = end[v]; i < end[p]; ++i) sums[order[i]] = sum;
    sum += x.best[p];
  }
  for (Label i = 0; i < begin[v]; ++i) sums[order[i]] = sum;
  for (Label i = end[v]; i < x.words; ++i) sums[order[i]] = sum;
  sums[0] = x.roots != Roots::several && x.from[v] != 0 ? -kForbidden : sum;
}

}  // namespace

bool spanning_tree(const float* scores, Index n, bool single, Index* heads) {
  return find_tree(scores, n, single, heads);
}
bool spanning_tree(const double* scores, Index n, bool single, Index* heads) {
  return find_tree(scores, n, single, heads);
}

template <class S>
static double span_scores(const S* scores, Index n, bool single, Index* heads) {
  constexpr S kLargest = sizeof(S) == 4 ? std::numeric_limits<S>::max() : static_cast<S>(1e100);
  if (first_beyond(scores, n * (n + 1), kLargest) >= 0) return std::numeric_limits<double>::quiet_NaN();
  if (!find_tree(scores, n, single, heads)) return kForbidden;
  double total = 0;
  for (Index i = 0; i < n; ++i) total += static_cast<double>(scores[i * (n + 1) + heads[i]]);
  return total;
}
double span_checked(const float* scores, Index n, bool single, Index* heads) {
  return span_scores(scores, n, single, heads);
}
double span_checked(const double* scores, Index n, bool single, Index* heads) {
  return span_scores(scores, n, single, heads);
}

bool bound_trees(const double* scores, Index n, bool single, Index* heads, double* bounds) {
  if (n == 0) return true;
  Heed heed;
  const LocalArena arena;
  Nodes x = make_nodes(arena, n, single ? Roots::last : Roots::several);
  if (!span(x, scores, heads, heed)) return false;
  const Index N = n + 1, all = 2 * n + 1;
  Label *order = arena.get<Label>(n), *begin = arena.get<Label>(all), *end = arena.get<Label>(all);
  order_words(x, order, begin, end);
  double total = 0;
  for (Index i = 0; i < n; ++i) total += scores[i * N + heads[i]];
  for (Index i = 0; i < n; ++i) {
    double* out = bounds + i * N;
    bound_word(x, static_cast<Label>(i + 1), order, begin, end, out);
    out[i + 1] = kForbidden;
    for (Index h = 0; h < N; ++h)
      if (h != i + 1) out[h] = std::min(total, total - (out[h] - scores[i * N + h]));
  }
  return true;
}

void tree_max_marginals(const double* scores, Index n, bool single, double* best) {
  if (n == 0) return;
  const Index N = n + 1;
  const LocalArena arena;
  double* only = arena.get<double>(n * N);
  Index* heads = arena.get<Index>(n);
  std::copy_n(scores, n * N, only);
  Heed heed;
  for (Index i = 0; i < n; ++i) {
    double* row = only + i * N;
    for (Index h = 0; h < N; ++h) {
      std::fill(row, row + N, kForbidden);
      row[h] = scores[i * N + h];
      double total = kForbidden;
      const LocalArena inner;
      Nodes x = make_nodes(inner, n, single ? Roots::one : Roots::several);
      if (h != i + 1 && row[h] != kForbidden && span(x, only, heads, heed)) {
        total = 0;
        for (Index j = 0; j < n; ++j) total += scores[j * N + heads[j]];
      }
      best[i * N + h] = total;
    }
    std::copy_n(scores + i * N, N, row);
  }
}

}  // namespace certus::relax
