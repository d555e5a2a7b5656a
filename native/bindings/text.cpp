#include "bindings/text.hpp"

#include <algorithm>

namespace certus {
namespace {

// The items of a list or tuple. A bare string would pass for a list of its characters, so nothing else will do.
struct Items {
  Items(nb::handle list, const char* what, const Place& place) : items_(list), is_list_(PyList_Check(list.ptr())) {
    if (!is_list_ && !PyTuple_Check(list.ptr())) refuse(place.say() + what + ", not " + nb::inst_name(list).c_str());
    count = static_cast<Index>(Py_SIZE(list.ptr()));
  }

  nb::handle operator[](Index n) const {
    return is_list_ ? NB_LIST_GET_ITEM(items_.ptr(), n) : NB_TUPLE_GET_ITEM(items_.ptr(), n);
  }

  Index count;

 private:
  nb::handle items_;
  bool is_list_;
};

// Appends the cells of a sentence, column after column, and returns its length.
Index append(nb::handle sentence, Index expected, Index number, std::vector<std::string_view>& cells) {
  const Items columns(sentence, "columns must be a list of lists of str", {number});
  if (columns.count != expected)
    refuse(Place{number}.say() + "there must be " + std::to_string(expected) + " columns, not " +
           std::to_string(columns.count));
  Index length = 0;
  for (Index c = 0; c < columns.count; ++c) {
    const Items column(columns[c], "a column must be a list of str", {number, c});
    if (c == 0) length = column.count;
    if (column.count != length)
      refuse(Place{number, c}.say() + "it has " + std::to_string(column.count) + " tokens, but the first column has " +
             std::to_string(length));
    for (Index t = 0; t < length; ++t) cells.push_back(utf8(column[t], {number, c, t}));
  }
  return length;
}

}  // namespace

void refuse(const std::string& message) {
  const nb::object error = nb::module_::import_("certus.errors").attr("InvalidInput");
  PyErr_SetObject(error.ptr(), nb::str(message.c_str(), message.size()).ptr());
  throw nb::python_error();
}

std::string Place::say() const {
  std::string said;
  const auto add = [&said](const char* what, Index n) {
    if (n >= 0) said += (said.empty() ? "" : ", ") + (what + std::to_string(n));
  };
  add("sentence ", sentence);
  add("column ", column);
  add("token ", token);
  return said.empty() ? said : said + ": ";
}

std::string_view utf8(nb::handle text, const Place& place) {
  if (!PyUnicode_Check(text.ptr())) refuse(place.say() + "expected str, not " + nb::inst_name(text).c_str());
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!bytes) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeError)) throw nb::python_error();
    PyErr_Clear();
    refuse(place.say() + nb::repr(text).c_str() +
           " is no Unicode text: it holds a lone surrogate. Decode the bytes it came from with errors=\"replace\"");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

Texts::Texts(nb::handle sentences, Index expected) : columns_(expected) {
  const Items items(sentences, "sentences must be a list", {});
  for (Index n = 0; n < items.count; ++n) {
    firsts_.push_back(cells_.size());
    lengths_.push_back(append(items[n], expected, n, cells_));
    tokens_ += lengths_.back();
  }
  std::size_t total = 0;
  for (const std::string_view cell : cells_) total += cell.size();
  bytes_.resize(total);
  char* place = bytes_.data();
  for (std::string_view& cell : cells_) {
    char* const end = std::copy(cell.begin(), cell.end(), place);
    cell = {place, cell.size()};
    place = end;
  }
}

}  // namespace certus
