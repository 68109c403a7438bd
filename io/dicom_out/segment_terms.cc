#include "io/dicom_out/segment_terms.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "io/dicom_out/builtin_terms.h"
#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"

namespace voxshard {
namespace {

using Json = nlohmann::json;

/// Returns the words of a name in lower case: "LeftParotid" and "parotid_left" have two. A word ends before a capital
/// behind a small letter.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  char before = ' ';
  for (const char letter : name) {
    const auto c = static_cast<unsigned char>(letter), b = static_cast<unsigned char>(before);
    const bool part = std::isalnum(c) != 0 || c >= 0x80, follows = std::isalnum(b) != 0 || b >= 0x80;
    if (part && (!follows || (std::isupper(c) != 0 && std::islower(b) != 0))) words.emplace_back();
    if (part) words.back() += static_cast<char>(std::tolower(c));
    before = letter;
  }
  return words;
}

/// A name in its parts: "parotid" and "left".
struct NameParts {
  std::string key, side, whole;
};

NameParts parts_of(std::string_view name) {
  NameParts parts;
  for (const std::string& word : words_of(name)) {
    parts.whole += word;
    const bool left = word == "left" || word == "l", right = word == "right" || word == "r";
    if ((left || right) && parts.side.empty())
      parts.side = left ? "left" : "right";
    else
      parts.key += word;
  }
  return parts;
}

[[noreturn]] void refuse(const std::string& file, const std::string& where, const std::string& what) {
  throw Error(ErrorKind::kConfig, "[terms] " + file + ": " + where + " " + what);
}

/// Returns a text of a row, which DICOM bounds: 16 characters of a code and of its scheme, 64 of its meaning.
std::string text_of(const Json& row, const char* member, std::size_t most, const std::string& file,
                    const std::string& where, const char* usual = "") {
  if (!row.contains(member)) {
    if (*usual == '\0') refuse(file, where, std::string("lacks ") + member);
    return usual;
  }
  if (!row[member].is_string()) refuse(file, where, std::string("has a ") + member + " that is no text");
  const auto text = row[member].get<std::string>();
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127 && c != '\\'; });
  if (text.empty() || text.size() > most || !plain)
    refuse(file, where,
           std::string("has a ") + member + " that is no text of 1 to " + std::to_string(most) +
               " plain characters without backslashes");
  return text;
}

}  // namespace

/// Adds the rows of one file; what is there already stays.
struct SegmentTerms::Reader {
  SegmentTerms& terms;
  const std::string file;

  CodedTerm term(const Json& row, const std::string& where) const {
    if (!row.is_object()) refuse(file, where, "is no table");
    return {.code = text_of(row, "code", 16, file, where),
            .scheme = text_of(row, "scheme", 16, file, where, "SCT"),
            .meaning = text_of(row, "meaning", 64, file, where)};
  }

  void add_codes(const Json& all, const char* section, std::map<std::string, CodedTerm>& codes) const {
    if (!all.contains(section)) return;
    if (!all[section].is_object()) refuse(file, section, "is no table");
    for (const auto& [name, row] : all[section].items())
      codes.emplace(name, term(row, std::string(section) + "." + shown_name(name)));
  }

  SegmentTerm segment_term(const Json& row, const std::string& where) const {
    const CodedTerm type = term(row, where);
    const std::string category = text_of(row, "category", 64, file, where, "anatomy");
    const auto known = terms.categories_.find(category);
    if (known == terms.categories_.end()) refuse(file, where, "has a category that [categories] does not list");
    return {.category = known->second, .type = type};
  }

  void add_row(const Json& row, const std::string& where) const {
    const SegmentTerm term = segment_term(row, where);
    const bool whole = row.value("whole", Json(false)) == Json(true);
    if (!row.contains("names") || !row["names"].is_array()) refuse(file, where, "lacks names, a list");
    for (const Json& name : row["names"]) {
      if (!name.is_string()) refuse(file, where, "has a name that is no text");
      const NameParts parts = parts_of(name.get<std::string>());
      if (parts.whole.empty()) refuse(file, where, "has a name without letters");
      (whole ? terms.by_whole_ : terms.by_key_).emplace(whole ? parts.whole : parts.key, term);
    }
  }

  void add(const Json& all) const {
    terms.hash_ = content_hash(terms.hash_ + all.dump());
    add_codes(all, "categories", terms.categories_);
    add_codes(all, "sides", terms.sides_);
    if (all.contains("generic") && terms.generic_.type.code.empty()) {
      terms.generic_ = segment_term(all["generic"], "generic");
      terms.generic_.generic = true;
    }
    if (!all.contains("terms")) return;
    if (!all["terms"].is_array()) refuse(file, "terms", "is no list of tables");
    std::size_t number = 0;
    for (const Json& row : all["terms"]) add_row(row, "term " + std::to_string(++number));
  }
};

namespace {

Json builtin_json() {
  return parse_toml(builtin_terms(), {.path = "segment_terms.toml", .kind = ErrorKind::kConfig, .tag = "[terms] "});
}

}  // namespace

const SegmentTerms& SegmentTerms::builtin() {
  static const SegmentTerms kTerms = [] {
    SegmentTerms terms;
    Reader{terms, "segment_terms.toml"}.add(builtin_json());
    return terms;
  }();
  return kTerms;
}

SegmentTerms SegmentTerms::with_file(const std::filesystem::path& file) {
  const Json own = read_config(file), usual = builtin_json();
  SegmentTerms terms;
  const Reader reader{terms, file.string()}, builtin{terms, "segment_terms.toml"};
  reader.add_codes(own, "categories", terms.categories_);  // so that its rows may use those that are built in too
  builtin.add_codes(usual, "categories", terms.categories_);
  reader.add(own);
  builtin.add(usual);
  return terms;
}

SegmentTerm SegmentTerms::of(const std::string& name) const {
  const NameParts parts = parts_of(name);
  if (const auto whole = by_whole_.find(parts.whole); whole != by_whole_.end()) return whole->second;
  const auto known = by_key_.find(parts.key);
  if (known == by_key_.end()) return generic_;
  SegmentTerm term = known->second;
  if (const auto side = sides_.find(parts.side); side != sides_.end()) term.side = side->second;
  return term;
}

}  // namespace voxshard
