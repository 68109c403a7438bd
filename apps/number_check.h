// The range of a number as the check of its option: it refuses what the library would refuse, before anything begins,
// and help shows it.
//
//   app.add_option("--seed", seed, "Seed")->check(number_in(kSeeds));   // --seed: -1 is not in 0 to 9.2e+18
#pragma once

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

#include "libcore/base/number_range.h"

namespace voxshard {

/// Of every --seed: an unsigned number of 64 bits as CLI11 reads it would also take -1.
inline constexpr NumberRange kSeeds{0, 0x1p63};

/// What is no number passes: the conversion that follows says so.
inline CLI::Validator number_in(const NumberRange& range) {
  return {[range](const std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (end == text.c_str() || *end != '\0' || range.holds(value)) return {};
            return text + " is not in " + to_text(range);
          },
          to_text(range)};
}

}  // namespace voxshard
