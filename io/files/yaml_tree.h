// YAML as one JSON value, built from the parser's events, so that depth and number of values are counted before memory
// is taken: an anchor and an alias count as all values that they stand for ("billion laughs"). Plain words mean the
// same as in PyYAML (yes, on and True are true), except that 1e-4 is a number.
//
//   YamlTree tree({.depth = 64, ...});
//   parser.HandleNextDocument(tree);       // by io/files/structured_text.cc only
//   json file = std::move(tree).value();
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/files/structured_text.h"

namespace voxshard {

/// An error in a document and its line.
struct YamlProblem {
  int line = 0;  // from 1; 0: unknown
  const char* code = "E_SYNTAX";
  std::string what;
};

class YamlTree : public YAML::EventHandler {
 public:
  using Json = nlohmann::json;

  explicit YamlTree(const TextLimits& limits) : limits_(limits) {}

  /// Returns the tree; to be called once, after the last event. An empty document is an empty object.
  Json value() &&;

  // Errors of the events: YamlProblem.
  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  /// A value with its counts for the limits.
  struct Counted {
    Json value;
    std::int64_t values = 1, bytes = 0;
    int depth = 0;
  };
  struct Open {
    Counted counted;
    YAML::anchor_t anchor = 0;
    std::optional<std::string> key;  // in a map: the name whose value comes next
    std::vector<Json> merged;        // values of "<<"
  };

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json empty);
  void close();
  /// Keeps a copy of a value for the aliases of its anchor; the copy counts towards the limits.
  void keep(const YAML::Mark& mark, const Counted& counted, YAML::anchor_t anchor);
  void add(const YAML::Mark& mark, Counted counted, YAML::anchor_t anchor);
  void take_key(const YAML::Mark& mark, const std::string& key, bool plain);
  bool wants_key() const;
  void count(const YAML::Mark& mark, std::int64_t values, std::int64_t bytes);

  TextLimits limits_;
  int documents_ = 0, last_line_ = 0;
  std::int64_t values_ = 0, bytes_ = 0;
  Json root_ = Json::object();
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Counted> anchors_;
};

}  // namespace voxshard
