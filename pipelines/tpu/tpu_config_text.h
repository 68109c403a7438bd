// A small parser for the lists and dictionaries in Python syntax that users write for input_partition_dims: lists and
// tuples, dictionaries with quoted or bare keys, None, True, False, whole numbers, words.
//
//   value_from_text("[{image: [1, 4, 1, 1], 'mask': None}, None]")  ->  [{"image": [1, 4, 1, 1], "mask": null}, null]
//   mended("[[1, 4, 1, 1], None]]", accepts)                        ->  "[[1, 4, 1, 1], None]"
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace voxshard {

/// Parses a text to JSON: tuples become arrays, None becomes null, bare words become strings, keys become strings.
/// Whole numbers between commas need no brackets: "1, 4, 1, 1".
/// Errors: kConfig "… at character 21" for invalid syntax, a key that is given twice, more than 32 levels
/// of brackets, or bytes that are not UTF-8.
nlohmann::json value_from_text(std::string_view text);

/// Returns `text` with one bracket removed or added, or without the closing brackets after a complete value, such that
/// it can be parsed and `accepts` returns true for the value; nullopt when there is no such text.
std::optional<std::string> mended(const std::string& text, const std::function<bool(const nlohmann::json&)>& accepts);

/// Returns the value as one line of JSON for messages; bytes that are not UTF-8, possible on the command line, are
/// replaced.
std::string shown(const nlohmann::json& value);

/// Formats: kPython "[[1, 4, 1, 1], None]", kToml with None in quotes, kJson with null.
enum class TextStyle { kPython, kToml, kJson };
std::string to_text(const nlohmann::json& value, TextStyle style);

}  // namespace voxshard
