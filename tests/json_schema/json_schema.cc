#include "tests/json_schema/json_schema.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace voxshard {
namespace {

std::filesystem::path schema_file(const std::string& name) {
  return std::filesystem::path(VOXSHARD_SOURCE_DIR) / "apps/schemas" / (name + ".json");
}

/// Lets a schema allow the members that it names alone: users may meet new ones, a test says that they lack a
/// description.
void close(nlohmann::json& schema) {
  if (schema.is_object() && schema.contains("properties") && !schema.contains("additionalProperties"))
    schema["additionalProperties"] = false;
  for (auto& below : schema)
    if (below.is_structured()) close(below);
}

}  // namespace

std::string command_of(const std::string& arguments) {
  std::istringstream words(arguments);
  for (std::string word; words >> word;)
    if (word == "--version")
      return "version";
    else if (!word.starts_with('-'))
      return std::filesystem::exists(schema_file(word)) ? word : "";
  return "";
}

std::string schema_problem(const std::string& schema, const nlohmann::json& document) {
  const bool is_error = document.is_object() && document.size() == 1 && document.contains("error");
  std::ifstream file(schema_file(is_error ? "error" : schema));
  auto text = nlohmann::json::parse(file, nullptr, false);
  if (text.is_discarded()) return "there is no schema " + schema;
  close(text);
  valijson::Schema rules;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), rules);
  valijson::ValidationResults results;
  if (valijson::Validator().validate(rules, valijson::adapters::NlohmannJsonAdapter(document), &results)) return "";
  std::string problem;
  valijson::ValidationResults::Error error;
  for (int i = 0; i < 5 && results.popError(error); ++i) {
    for (const std::string& place : error.context) problem += place;
    problem += ": " + error.description + "\n";
  }
  return problem;
}

}  // namespace voxshard
