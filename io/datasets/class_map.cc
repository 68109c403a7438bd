#include "io/datasets/class_map.h"

#include <clocale>
#include <cwctype>

#include <algorithm>
#include <set>

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

/// Returns the UTF-8 character at the start of `text` and removes it; a byte that is not valid stands for itself.
char32_t take_character(std::string_view& text) {
  const std::size_t bytes = std::max<std::size_t>(1, character_bytes(text));
  const auto first = static_cast<unsigned char>(text[0]);
  char32_t character = bytes == 1 ? first : first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(bytes);
  return character;
}

/// Returns the lower case of a character by Unicode, whatever the user's locale is.
char32_t lower_character(char32_t character) {
  static const locale_t kUnicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const auto wide = static_cast<std::wint_t>(character);
  if (kUnicode == nullptr) return character < 128 ? static_cast<char32_t>(std::towlower(wide)) : character;
  return static_cast<char32_t>(towlower_l(wide, kUnicode));
}

/// Returns the form in which names are compared: lower case, one space where spaces or underscores are.
std::u32string comparable(std::string_view text) {
  std::u32string form;
  while (!text.empty()) {
    const char32_t character = take_character(text);
    const bool space = character == U'_' || character == U' ' || character == U'\t' || character == 0xA0;
    if (!space)
      form += lower_character(character);
    else if (!form.empty() && form.back() != U' ')
      form += U' ';
  }
  if (!form.empty() && form.back() == U' ') form.pop_back();
  return form;
}

/// True when `pattern`, in which * stands for any text and ? for one character, matches all of `name`. Cost: the
/// product of their lengths.
bool matches(const std::u32string& pattern, const std::u32string& name) {
  std::size_t p = 0, n = 0, star = std::u32string::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == U'*') {
      star = p++, resume = n;  // the star stands for nothing at first
    } else if (p < pattern.size() && (pattern[p] == U'?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != std::u32string::npos) {
      p = star + 1, n = ++resume;  // for one character more
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(p), pattern.end(),
                     [](char32_t c) { return c == U'*'; });
}

/// Returns a name, alias or pattern. Errors: kConfig for one that is none.
std::string word_of(const Json& value, const std::string& where, const fs::path& path) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr || comparable(*text).empty() || text->size() > kMostClassWordBytes ||
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
  if (comparable(one.name) == U"background")
    throw map_error(path, where + " is called background", "leave it out: voxels of no class are background");
  if (comparable(one.name) == U"ignore")
    throw map_error(path, where + " is called ignore, as nnU-Net calls voxels that nobody annotated",
                    "give it another name");
  return one;
}

/// Refuses names, and patterns, that two classes claim.
void require_distinct(const ClassMap& map, const fs::path& path) {
  std::map<std::u32string, std::size_t> names, patterns;  // and the class that claims them
  const auto claim = [&](auto& claims, const std::string& word, std::size_t k) {
    const auto [at, is_new] = claims.emplace(comparable(word), k);
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
  const std::u32string name = comparable(structure);
  const auto first = [&](auto claims) -> std::optional<int> {
    const auto at = std::find_if(map.classes.begin(), map.classes.end(), claims);
    return at == map.classes.end() ? std::nullopt : std::optional(static_cast<int>(at - map.classes.begin()) + 1);
  };
  if (const auto k = first([&](const MappedClass& one) { return comparable(one.name) == name; })) return k;
  const auto is_name = [&](const std::string& alias) { return comparable(alias) == name; };
  if (const auto k = first([&](const MappedClass& one) { return std::ranges::any_of(one.aliases, is_name); })) return k;
  const auto fits = [&](const std::string& pattern) { return matches(comparable(pattern), name); };
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
