// The coded terms of classes, by their names: what a class is in SNOMED CT or another scheme, and on which side it
// lies. data/terms/segment_terms.toml is the table that is built in, and tells its form; a file of the user's comes
// before it.
//
//   const SegmentTerms terms = SegmentTerms::with_file("mine.toml");
//   terms.of("kidney_left").type.code          // "64033007"; .side->meaning is "Left"
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace voxshard {

struct CodedTerm {
  std::string code, scheme, meaning;  // "10200004", "SCT", "Liver"
  bool operator==(const CodedTerm&) const = default;
};

struct SegmentTerm {
  CodedTerm category, type;
  std::optional<CodedTerm> side = {};  // modifier of the type
  bool generic = false;                // the table has no row for the class
};

class SegmentTerms {
 public:
  /// The table that is built in.
  static const SegmentTerms& builtin();
  /// The same with the rows of a file before it. Errors: kConfig for a file that is missing or malformed, with the row.
  static SegmentTerms with_file(const std::filesystem::path& file);

  /// Returns the term of a class; the generic one where the table has no row for its name.
  SegmentTerm of(const std::string& name) const;
  const SegmentTerm& generic() const { return generic_; }
  /// Returns a hash of all that of() depends on.
  const std::string& hash() const { return hash_; }

 private:
  struct Reader;
  std::map<std::string, SegmentTerm> by_key_;    // by name without its side: letters and digits in lower case
  std::map<std::string, SegmentTerm> by_whole_;  // by the whole name
  std::map<std::string, CodedTerm> categories_, sides_;
  SegmentTerm generic_;
  std::string hash_;
};

}  // namespace voxshard
