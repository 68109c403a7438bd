// JSON as values, without what nobody reads: takes the parser's events, so that what is left out takes no memory. With
// a callback nlohmann's own tree looks through the whole list at the end of each object in it (json_sax.hpp of 3.11):
// 300,000 annotations took three minutes. A name that is there twice in one object is refused, as in TOML and YAML:
// nobody knows which of its values was meant, and other readers take the other one.
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

/// A name that an object has twice.
struct JsonNameTwice {
  std::string name;
};

class JsonTree {
 public:
  using Json = nlohmann::json;

  /// `left_out`: the name whose values are dropped, in objects of any level; what they hold is still checked as JSON.
  /// Empty: of none.
  explicit JsonTree(std::string left_out) : left_out_(std::move(left_out)) {}
  // Lists and objects that are open are pointed to.
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;

  /// What was read; once, after the last event.
  Json value() && { return std::move(root_); }

  // The events, as nlohmann::json_sax has them.
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
  /// Where the next value belongs; null when it is left out.
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
  std::vector<Json*> open_;  // lists and objects, the innermost last; null for those that are left out
  Json* member_ = nullptr;   // of the innermost object: where its next value belongs
  bool leaves_out_ = false;  // the value of the last name
};

}  // namespace voxshard
