// Values of the tables [receive] and [send] of a hospital's rules. Two programs read them and must judge them alike:
// voxshard (io/datasets/study_rules.h) and data/examples/pacs/loop.py.
//
//   for (const LoopRule& rule : refused_loop_rules()) expect_refused(loop_rules(rule), rule.table + "." + rule.key);
#pragma once

#include <map>
#include <string>
#include <vector>

namespace voxshard {

struct LoopRule {
  std::string table, key;
  std::string value;  // as TOML writes it; empty: the key is left out
};

/// Returns the text of rules that are allowed but for this one.
inline std::string loop_rules(const LoopRule& rule) {
  std::map<std::string, std::map<std::string, std::string>> tables = {
      {"receive", {{"aetitle", "\"VOXSHARD\""}, {"port", "11112"}, {"keep_days", "7"}}},
      {"send", {{"aetitle", "\"ORTHANC\""}, {"host", "\"127.0.0.1\""}, {"port", "4242"}}}};
  tables[rule.table][rule.key] = rule.value;
  std::string text;
  for (const auto& [table, keys] : tables) {
    text += "[" + table + "]\n";
    for (const auto& [key, value] : keys)
      if (!value.empty()) text += key + " = " + value + "\n";
  }
  return text;
}

/// Returns a text as TOML writes it; `text` holds its escapes.
inline std::string toml_text(const std::string& text) { return '"' + text + '"'; }

/// Each of these alone makes rules that are refused by table and key.
inline std::vector<LoopRule> refused_loop_rules() {
  std::vector<LoopRule> rules = {{"receive", "keep_day", "7"}, {"send", "hosts", toml_text("a")},
                                 {"send", "aetitle", ""},      {"send", "host", ""},
                                 {"send", "port", ""},         {"send", "host", "5"}};
  for (const char* table : {"receive", "send"}) {
    rules.push_back({table, "aetitle", "5"});
    for (const char* title : {"", " ", " A", "A ", "A\\\\B", "A\\tB", "\\u00c4", "SEVENTEEN_LETTERS"})
      rules.push_back({table, "aetitle", toml_text(title)});
    for (const char* port : {"0", "-1", "65536", "11112.0", "\"4242\"", "true", "[4242]"})
      rules.push_back({table, "port", port});
  }
  for (const char* host : {"", "-oProxy", ".pacs", "a b", "a;b", "$(x)", "a/b", "h\\u00f6st"})
    rules.push_back({"send", "host", toml_text(host)});
  rules.push_back({"send", "host", toml_text(std::string(65, 'h'))});
  for (const char* days : {"-1", "36501", "nan", "inf", "true", "\"7\""})
    rules.push_back({"receive", "keep_days", days});
  return rules;
}

/// Each of these makes rules that are allowed.
inline std::vector<LoopRule> allowed_loop_rules() {
  std::vector<LoopRule> rules;
  for (const char* title : {"A", "VOX SHARD", "SIXTEEN_LETTERS!"})
    rules.push_back({"receive", "aetitle", toml_text(title)});
  for (const char* port : {"1", "65535"}) rules.push_back({"receive", "port", port});
  for (const char* days : {"0", "0.5", "36500"}) rules.push_back({"receive", "keep_days", days});
  for (const char* key : {"aetitle", "port", "keep_days"}) rules.push_back({"receive", key, ""});
  for (const std::string& host : {std::string("pacs-1.example.org"), std::string("::1"), std::string(64, 'h')})
    rules.push_back({"send", "host", toml_text(host)});
  return rules;
}

}  // namespace voxshard
