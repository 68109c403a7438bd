// Builds JSON values from the parser's events, so that dropped values take no memory. nlohmann's own callback parser
// scans the whole list at the end of each object in it (json_sax.hpp of 3.11): 300,000 annotations took three minutes.
// A name that occurs twice in one object is refused, as in TOML and YAML: it is unclear which value was meant, and
// other readers may take the other one.
//
//   JsonTree tree("segmentation");
//   json::sax_parse(text, &tree);          // by io/files/structured_text.cc only
//   json file = std::move(tree).value();
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace voxshard {

/// Thrown for a name that occurs twice in an object.
struct JsonNameTwice {
  std::string name;
};

class JsonTree {
 public:
  using Json = nlohmann::json;

  /// `left_out`: the name whose values are dropped, in objects of any level; they are still checked as JSON. Empty: no
  /// value is dropped.
  explicit JsonTree(std::string left_out) : left_out_(std::move(left_out)) {}
  // Not copied: open_ points to the lists and objects that are still open.
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;

  /// Returns the tree; to be called once, after the last event.
  Json value() && { return std::move(root_); }

  // The events of nlohmann::json_sax.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (open_.back() == nullptr) return true;
    leaves_out_ = !left_out_.empty() && name == left_out_;
    if (leaves_out_) return true;
    const std::size_t members = open_.back()->size();
    member_ = &(*open_.back())[name];
    if (open_.back()->size() == members) throw JsonNameTwice{name};
    return true;
  }
  template <class Problem>
  bool parse_error(std::size_t, const std::string&, const Problem& problem) {
    throw problem;
  }

 private:
  /// Returns the place for the next value; null when the value is dropped.
  Json* place() {
    if (open_.empty()) return &root_;
    if (open_.back() == nullptr || std::exchange(leaves_out_, false)) return nullptr;
    return open_.back()->is_array() ? &open_.back()->emplace_back() : member_;
  }
  template <class Value>
  bool add(Value&& value) {
    if (Json* at = place()) *at = std::forward<Value>(value);
    return true;
  }
  bool open(Json empty) {
    Json* at = place();
    if (at != nullptr) *at = std::move(empty);
    open_.push_back(at);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string left_out_;
  Json root_;
  std::vector<Json*> open_;  // lists and objects, the innermost last; null for dropped ones
  Json* member_ = nullptr;   // place for the next value of the innermost object
  bool leaves_out_ = false;  // true: the value of the last name is dropped
};

}  // namespace voxshard
