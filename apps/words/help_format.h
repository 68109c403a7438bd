// How --help-all prints an option. The program is built with CLI11 2.1 (Debian 12) and 2.4 (Debian 13), which print the
// default of an option differently; here all print it as 2.1 does.
//
//   root.formatter(help_format());     "--steps INT=400", not "--steps INT [400] "
//
// main sets it before it adds the subcommands, which take over the formatter of their parent.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace voxshard {

/// Returns CLI11's own formatter but for the default of an option, which stands as "INT=400" behind the type.
std::shared_ptr<CLI::FormatterBase> help_format();

}  // namespace voxshard
