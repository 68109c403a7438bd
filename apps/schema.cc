// voxshard schema: what the JSON documents hold that --json prints, one schema for each command. They are written in
// apps/schemas and become part of the program; tests hold every document against them.
#include <voxshard_schemas.h>  // made from apps/schemas by the build
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "apps/command.h"
#include "io/files/structured_text.h"
#include "libcore/base/error.h"
#include "libcore/base/spelling.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

Outcome list_schemas() {
  Outcome outcome;
  for (const auto& [name, text] : kSchemas) {
    const nlohmann::json schema = parse_json(text, {.kind = ErrorKind::kInternal, .tag = "[schema] "});
    outcome.json[std::string(name)] = schema.at("$id");
    outcome.text += std::string(name) + std::string(12 - std::min<std::size_t>(name.size(), 10), ' ') +
                    schema.at("title").get<std::string>() + "\n";
  }
  return outcome;
}

Outcome print_schema(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, text] : kSchemas) {
    if (known == name)
      return {.json = parse_json(text, {.kind = ErrorKind::kInternal, .tag = "[schema] "}), .text = std::string(text)};
    names.emplace_back(known);
  }
  const auto likely = likely_name(name, names);
  throw Error(ErrorKind::kUsage,
              "[usage] there is no schema of \"" + name + "\"" +
                  (likely ? "; did you mean " + *likely + "?" : "; expected " + joined(names, ", ")));
}

RunCommand add(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("name", *name, "A command, or error; nothing: all of them, a line each");
  return [name](const Context&) { return name->empty() ? list_schemas() : print_schema(*name); };
}

}  // namespace

Command schema_command() {
  return {"schema", "Prints the JSON Schema (draft 7) of the document that a command prints with --json.",
          "voxshard schema predict", add};
}

}  // namespace voxshard
