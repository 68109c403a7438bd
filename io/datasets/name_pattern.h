// Names and patterns as people type them in files of settings: case does not count, spaces and underscores are alike.
//
//   matches_pattern(comparable_name("lt parotid*"), comparable_name("LT_Parotid gland"))     // true
//
// Called by class_map.h and study_rules.h.
#pragma once

#include <string>
#include <string_view>

namespace voxshard {

/// Returns the form in which names are compared: lower case by Unicode, one space where spaces or underscores are, none
/// at the ends.
std::u32string comparable_name(std::string_view text);

/// True when `pattern`, in which * stands for any text and ? for one character, matches all of `name`; both are
/// comparable names. Cost: the product of their lengths.
bool matches_pattern(const std::u32string& pattern, const std::u32string& name);

}  // namespace voxshard
