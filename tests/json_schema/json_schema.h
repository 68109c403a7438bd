// Holds JSON documents of the program against the schemas that `voxshard schema` prints.
//
//   EXPECT_EQ(schema_problem("info", document), "");
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace voxshard {

/// Returns the command among the words of a command line, by which its schema is named: that behind options of the
/// whole program. Empty when the command prints its document under another name, as for no command at all.
std::string command_of(const std::string& arguments);

/// Returns what a document has against a schema of apps/schemas, or against "error" when it reports one; empty:
/// nothing. Members that the schema does not name count.
std::string schema_problem(const std::string& schema, const nlohmann::json& document);

}  // namespace voxshard
