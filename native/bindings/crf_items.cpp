#include "bindings/crf_items.hpp"

#include <algorithm>
#include <cmath>

namespace certus {
namespace {

// Calls use(element) for what Python would iterate over.
template <class Use>
void each_of(PyObject* x, const Use& use) {
  if (PyList_CheckExact(x)) {
    for (Py_ssize_t n = 0; n < NB_LIST_GET_SIZE(x); ++n) {
      const nb::object held = nb::borrow(NB_LIST_GET_ITEM(x, n));
      use(held.ptr());
    }
    return;
  }
  PyObject* iterator = PyObject_GetIter(x);
  if (!iterator) throw nb::python_error();
  const nb::object held = nb::steal(iterator);
  while (PyObject* element = PyIter_Next(iterator)) {
    const nb::object owned = nb::steal(element);
    use(element);
  }
  if (PyErr_Occurred()) throw nb::python_error();
}

bool is_collection(PyObject* x) { return PyDict_Check(x) || PyList_Check(x) || PyAnySet_Check(x) || PyTuple_Check(x); }

bool is_iterable(PyObject* x) { return PyType_GetSlot(Py_TYPE(x), Py_tp_iter) || PySequence_Check(x); }

std::string type_name(PyObject* x) { return nb::inst_name(x).c_str(); }

}  // namespace

std::string CrfReader::where() const {
  return name_ + "[" + std::to_string(sentence_) + "][" + std::to_string(token_) + "]";
}

void CrfReader::read(nb::handle sentence) {
  sentence_ = static_cast<Index>(corpus.sentence.size()) - 1;
  token_ = 0;
  PyObject* x = sentence.ptr();
  if (PyUnicode_Check(x) || PyBytes_Check(x) || PyDict_Check(x) || !is_iterable(x))
    refuse(name_ + "[" + std::to_string(sentence_) + "] is a " + type_name(x) +
           "; a sentence is a list of tokens, each a dict or a list of features");
  each_of(x, [&](PyObject* element) {
    heed_(1 << 12);
    token(element);
    ++token_;
  });
  corpus.sentence.push_back(static_cast<Index>(corpus.token.size()) - 1);
}

void CrfReader::token(PyObject* x) {
  text_.clear();
  prefix_.clear();
  entries_.clear();
  if (PyUnicode_Check(x) || PyBytes_Check(x) || !is_iterable(x))
    refuse(where() + " is a " + type_name(x) + "; a token is a dict of features, or a list of their names");
  item(x);
  settle();
}

// The names of a set are sorted, so that the same features give the same numbers in every run.
void CrfReader::item(PyObject* x) {
  if (PyDict_Check(x)) return pairs(x);
  if (!PyList_Check(x) && PyObject_HasAttrString(x, "keys")) {  // some other mapping
    const nb::object dict =
        nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyDict_Type), x, nullptr));
    if (!dict.is_valid()) throw nb::python_error();
    return pairs(dict.ptr());
  }
  const std::size_t first = entries_.size();
  each_of(x, [&](PyObject* name) { finish_name(begin_name(name), 1.0); });
  if (!PyAnySet_Check(x)) return;
  std::sort(entries_.begin() + static_cast<std::ptrdiff_t>(first), entries_.end(), [&](const Entry& a, const Entry& b) {
    return text_.compare(a.begin, a.length, text_, b.begin, b.length) < 0;
  });
}

void CrfReader::pairs(PyObject* dict) {
  PyObject *key, *value;
  // Values are seldom in cache: ask for all of them, then read them.
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
    __builtin_prefetch(value);
    __builtin_prefetch(reinterpret_cast<const char*>(value) + 64);
  }
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) pair(key, value);
}

void CrfReader::pair(PyObject* key, PyObject* value) {
  const std::size_t begin = begin_name(key);
  if (PyUnicode_Check(value) || PyBytes_Check(value)) {
    text_ += ':';
    append(value);
    finish_name(begin, 1.0);
  } else if (is_collection(value)) {
    nest(begin, value);
  } else {
    finish_name(begin, number(value, begin));
  }
}

// The name written so far is the prefix of what `value` holds.
void CrfReader::nest(std::size_t begin, PyObject* value) {
  if (Py_EnterRecursiveCall(" in nested features")) throw nb::python_error();
  struct Leave {
    ~Leave() { Py_LeaveRecursiveCall(); }
  } leave;
  std::string outer = text_.substr(begin) + ':';
  text_.resize(begin);
  prefix_.swap(outer);
  item(value);
  prefix_.swap(outer);
}

// Writes the prefix and a name; returns where they begin.
std::size_t CrfReader::begin_name(PyObject* key) {
  const std::size_t begin = text_.size();
  text_ += prefix_;
  append(key);
  return begin;
}

void CrfReader::finish_name(std::size_t begin, double value) {
  const std::string_view name(text_.data() + begin, text_.size() - begin);
  const std::uint64_t hash = CrfVocabulary::hash(name);
  known_.expect(hash);
  entries_.push_back({begin, name.size(), value, hash});
}

void CrfReader::append(PyObject* name) {
  if (PyBytes_Check(name)) {
    text_.append(PyBytes_AsString(name), static_cast<std::size_t>(PyBytes_Size(name)));
    return;
  }
  if (!PyUnicode_Check(name))
    refuse(where() + " has a feature whose name is a " + type_name(name) + "; names are strings");
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &size);
  if (!text) {
    PyErr_Clear();
    refuse(where() + " has a feature whose name is not valid Unicode text (a lone surrogate); decode it properly");
  }
  text_.append(text, static_cast<std::size_t>(size));
}

double CrfReader::number(PyObject* x, std::size_t begin) const {
  if (x == Py_True) return 1;
  if (x == Py_False) return 0;
  const nb::object held = nb::borrow(x);
  const double value = PyFloat_AsDouble(x);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    refuse(where() + ": feature '" + text_.substr(begin) + "' has a value of type " + type_name(x) +
           "; values are strings, numbers, booleans, or nested dicts, lists and sets");
  }
  if (!std::isfinite(value))
    refuse(where() + ": feature '" + text_.substr(begin) + "' has the value " +
           (std::isnan(value) ? "nan"
            : value > 0       ? "inf"
                              : "-inf") +
           "; values must be finite numbers");
  return value;
}

// Numbers for the names, in two rounds, so that one does not wait for memory a name at a time.
void CrfReader::settle() {
  for (const Entry& e : entries_) known_.expect_text(e.hash);
  for (const Entry& e : entries_) {
    const std::string_view name(text_.data() + e.begin, e.length);
    const Feature number = grows_ ? grows_->add(name, e.hash) : known_.find(name, e.hash);
    if (number == CrfVocabulary::kUnknown) continue;
    if (e.value != 1 && corpus.values.empty()) corpus.values.assign(corpus.features.size(), 1.0);
    corpus.features.push_back(number);
    if (!corpus.values.empty() || e.value != 1) corpus.values.push_back(e.value);
  }
  corpus.token.push_back(static_cast<Index>(corpus.features.size()));
}

}  // namespace certus
