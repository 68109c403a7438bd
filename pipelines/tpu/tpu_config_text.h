// A small reader of the lists and dictionaries that people write for input_partition_dims, in the manner of Python:
// lists and tuples, dictionaries with quoted or bare keys, None, True, False, whole numbers, words.
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

/// The value as JSON: tuples become arrays, None becomes null, bare words become strings, keys become strings. Whole
/// numbers between commas need no brackets: "1, 4, 1, 1".
/// Errors: kConfig "… at character 21" for what is not such a value, a key that is given twice, more than 32 levels
/// of brackets, or bytes that are not UTF-8.
nlohmann::json value_from_text(std::string_view text);

/// `text` with one bracket taken out or put in, or without the closing brackets that follow a whole value, such that it
/// can be read and `accepts` says yes to the value; nullopt when there is no such text.
std::optional<std::string> mended(const std::string& text, const std::function<bool(const nlohmann::json&)>& accepts);

/// The value as one line of JSON for messages; bytes that are not UTF-8, which the command line may hold, are replaced.
std::string shown(const nlohmann::json& value);

/// The value in the manner of Python: "[[1, 4, 1, 1], None]"; of TOML (None in quotes) or of JSON (null).
enum class TextStyle { kPython, kToml, kJson };
std::string to_text(const nlohmann::json& value, TextStyle style);

}  // namespace voxshard
