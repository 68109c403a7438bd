// A table that maps names of structures, as people typed them, to the classes of a data set: {classes}, a TOML, JSON or
// YAML file. The classes are numbered from 1 in the order of the file.
//
//   [[class]]
//   name = "parotid_left"
//   aliases = ["Parotid L", "Glandula parotis sin."]
//   patterns = ["*parotid*left*", "lt parotid*"]          # * stands for any text, ? for one character
//
//   const ClassMap map = read_class_map("map.toml");
//   class_of(map, "PAROTID_L");           // 1
//   class_of(map, "PTV 60");              // none: UnmatchedStructures lists it, once in a run
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace voxshard {

struct MappedClass {
  std::string name;                   // of the class in the data set; it also matches
  std::vector<std::string> aliases;   // other names of it
  std::vector<std::string> patterns;  // with * and ?
};

struct ClassMap {
  std::vector<MappedClass> classes;  // class k is classes[k - 1]
};

/// The most classes of a map, the most aliases and patterns of a class, and the longest of these in bytes.
inline constexpr std::size_t kMostMappedClasses = 1024, kMostClassWords = 1024, kMostClassWordBytes = 256;

/// Errors: kConfig with file and, where one is to blame, class: not a table of classes, an unknown key, no class, a
/// name that is empty or too long, two classes that claim one name, or a class that is called background or ignore.
ClassMap read_class_map(const std::filesystem::path& path);

/// Returns the class of a structure, from 1: the first class in the order of the map whose name it has, else of whose
/// aliases it is one, else of which a pattern matches it. Case does not count; spaces and underscores are alike, and
/// several of them count as one.
std::optional<int> class_of(const ClassMap& map, const std::string& structure);

/// Returns names[k] of class k; names[0] is "background".
std::vector<std::string> label_names(const ClassMap& map);

/// The structures of a run that belong to no class of the map, with the number of cases that have them.
class UnmatchedStructures {
 public:
  /// Adds the unmatched names of one case; a name that occurs twice in it counts once.
  void add(const std::vector<std::string>& names);
  /// Adds those of another part of the run.
  void add(const UnmatchedStructures& other);
  bool empty() const { return cases_.empty() && others_ == 0; }
  /// Cases by name, as the file has it. At most kMostNames names are kept.
  const std::map<std::string, std::int64_t>& cases() const { return cases_; }
  /// Returns "W_UNMATCHED 3 structures belong to no class of the map and are left out: PTV 60 (12 cases), ..."; empty
  /// without any. The most frequent come first; at most 20 are named.
  std::string text() const;

  static constexpr std::size_t kMostNames = 10'000;

 private:
  void count(const std::string& name, std::int64_t cases);

  std::map<std::string, std::int64_t> cases_;
  std::int64_t others_ = 0;  // cases of names beyond kMostNames
};

}  // namespace voxshard
