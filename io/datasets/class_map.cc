#include "io/datasets/class_map.h"

#include <algorithm>
#include <set>

#include "io/datasets/name_pattern.h"
#include "io/files/config_file.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Error map_error(const fs::path& path, const std::string& what, const std::string& action) {
  return Error(ErrorKind::kConfig, "[config] " + path.string() + ": " + what + "; " + action);
}

/// Returns a name, alias or pattern. Errors: kConfig for one that is none.
std::string word_of(const Json& value, const std::string& where, const fs::path& path) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr || comparable_name(*text).empty() || text->size() > kMostClassWordBytes ||
      find_steering(*text) != std::string::npos)
    throw map_error(path,
                    where + " has a name, alias or pattern that is no plain text of 1 to " +
                        std::to_string(kMostClassWordBytes) + " bytes",
                    "mend it");
  return *text;
}

std::vector<std::string> words_of(const Json& value, const std::string& where, const fs::path& path) {
  if (!value.is_array() || value.size() > kMostClassWords)
    throw map_error(
        path,
        where + " has aliases or patterns that are no list of at most " + std::to_string(kMostClassWords) + " texts",
        "write aliases = [\"...\", \"...\"]");
  std::vector<std::string> words;
  for (const Json& one : value) words.push_back(word_of(one, where, path));
  return words;
}

MappedClass class_in(const Json& table, std::size_t number, const fs::path& path) {
  const std::string where = "class " + std::to_string(number);
  if (!table.is_object() || !table.contains("name"))
    throw map_error(path, where + " has no name", "write name = \"...\" below [[class]]");
  MappedClass one;
  for (const auto& [key, value] : table.items()) {
    if (key == "name")
      one.name = word_of(value, where, path);
    else if (key == "aliases")
      one.aliases = words_of(value, where, path);
    else if (key == "patterns")
      one.patterns = words_of(value, where, path);
    else
      throw map_error(path, where + " has the unknown key \"" + plain_text(key) + "\"",
                      "expected name, aliases or patterns");
  }
  if (comparable_name(one.name) == U"background")
    throw map_error(path, where + " is called background", "leave it out: voxels of no class are background");
  if (comparable_name(one.name) == U"ignore")
    throw map_error(path, where + " is called ignore, as nnU-Net calls voxels that nobody annotated",
                    "give it another name");
  return one;
}

/// Refuses names, and patterns, that two classes claim.
void require_distinct(const ClassMap& map, const fs::path& path) {
  std::map<std::u32string, std::size_t> names, patterns;  // and the class that claims them
  const auto claim = [&](auto& claims, const std::string& word, std::size_t k) {
    const auto [at, is_new] = claims.emplace(comparable_name(word), k);
    if (!is_new && at->second != k)
      throw map_error(
          path,
          "gives \"" + word + "\" to two classes, " + map.classes[at->second].name + " and " + map.classes[k].name,
          "leave it with one of them");
    return is_new;
  };
  for (std::size_t k = 0; k < map.classes.size(); ++k) {
    if (!claim(names, map.classes[k].name, k))
      throw map_error(path, "has two classes " + map.classes[k].name, "rename one of them");
    for (const std::string& alias : map.classes[k].aliases) claim(names, alias, k);
    for (const std::string& pattern : map.classes[k].patterns) claim(patterns, pattern, k);
  }
}

}  // namespace

ClassMap read_class_map(const fs::path& path) {
  const Json file = read_config(path);
  const bool is_map = file.is_object() && file.size() == 1 && file.contains("class") && file["class"].is_array();
  if (!is_map || file["class"].empty() || file["class"].size() > kMostMappedClasses)
    throw map_error(path, "is no map of classes",
                    "expected 1 to " + std::to_string(kMostMappedClasses) +
                        " tables [[class]] with name, aliases and patterns, and nothing else");
  ClassMap map;
  for (const Json& table : file["class"]) map.classes.push_back(class_in(table, map.classes.size() + 1, path));
  require_distinct(map, path);
  return map;
}

std::optional<int> class_of(const ClassMap& map, const std::string& structure) {
  const std::u32string name = comparable_name(structure);
  const auto first = [&](auto claims) -> std::optional<int> {
    const auto at = std::find_if(map.classes.begin(), map.classes.end(), claims);
    return at == map.classes.end() ? std::nullopt : std::optional(static_cast<int>(at - map.classes.begin()) + 1);
  };
  if (const auto k = first([&](const MappedClass& one) { return comparable_name(one.name) == name; })) return k;
  const auto is_name = [&](const std::string& alias) { return comparable_name(alias) == name; };
  if (const auto k = first([&](const MappedClass& one) { return std::ranges::any_of(one.aliases, is_name); })) return k;
  const auto fits = [&](const std::string& pattern) { return matches_pattern(comparable_name(pattern), name); };
  return first([&](const MappedClass& one) { return std::ranges::any_of(one.patterns, fits); });
}

std::vector<std::string> label_names(const ClassMap& map) {
  std::vector<std::string> names{"background"};
  for (const MappedClass& one : map.classes) names.push_back(one.name);
  return names;
}

void UnmatchedStructures::add(const std::vector<std::string>& names) {
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) count(name, 1);
}

void UnmatchedStructures::add(const UnmatchedStructures& other) {
  for (const auto& [name, cases] : other.cases_) count(name, cases);
  others_ += other.others_;
}

void UnmatchedStructures::count(const std::string& name, std::int64_t cases) {
  const auto at = cases_.find(name);
  if (at != cases_.end())
    at->second += cases;
  else if (cases_.size() < kMostNames)
    cases_.emplace(name, cases);
  else
    others_ += cases;
}

std::string UnmatchedStructures::text() const {
  if (empty()) return {};
  constexpr std::size_t kMostShown = 20;
  std::vector<std::pair<std::string, std::int64_t>> frequent(cases_.begin(), cases_.end());
  std::stable_sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const bool more = frequent.size() > kMostShown || others_ > 0;
  const std::string count = (others_ > 0 ? "more than " : "") + std::to_string(frequent.size()) +
                            (frequent.size() == 1 && others_ == 0 ? " structure belongs" : " structures belong");
  frequent.resize(std::min(frequent.size(), kMostShown));
  return "W_UNMATCHED " + count + " to no class of the map and " + (frequent.size() == 1 ? "is" : "are") +
         " left out: " +
         joined(frequent, ", ",
                [](const auto& one) {
                  return plain_text(one.first) + " (" + std::to_string(one.second) +
                         (one.second == 1 ? " case)" : " cases)");
                }) +
         (more ? ", ..." : "");
}

}  // namespace voxshard
