#include "apps/words/help_format.h"

#include <CLI/CLI.hpp>
#include <string>

namespace voxshard {
namespace {

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string usual = option->get_default_str(), bracketed = " [" + usual + "] ";
    if (usual.empty()) return text;
    // The type stands before the default and may hold brackets too: "INT:INT in [1 - 1024] [2] ".
    const std::size_t at = text.find(bracketed, option->get_type_name().size());
    return at == std::string::npos ? text : text.replace(at, bracketed.size(), "=" + usual);
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_format() { return std::make_shared<HelpFormat>(); }

}  // namespace voxshard
