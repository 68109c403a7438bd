// `voxshard schema`: a schema for each command's document, and documents of every command held against them. Further
// documents are held against theirs wherever a test parses one (CommandResult::json).
#include <set>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Members of a schema that say nothing of themselves.
void collect_undescribed(const json& schema, const std::string& place, std::vector<std::string>& found) {
  if (schema.contains("properties"))
    for (const auto& [name, member] : schema.at("properties").items()) {
      if (!member.contains("description") && !member.contains("$ref")) found.push_back(place + "." + name);
      collect_undescribed(member, place + "." + name, found);
    }
  for (const char* below : {"items", "additionalProperties"})
    if (schema.contains(below) && schema.at(below).is_object())
      collect_undescribed(schema.at(below), place + ".*", found);
  if (schema.contains("definitions"))
    for (const auto& [name, one] : schema.at("definitions").items()) collect_undescribed(one, name, found);
}

/// Members of a schema that may be nothing but null: what a document holds at times was then left out of it.
void collect_always_null(const json& schema, const std::string& place, std::vector<std::string>& found) {
  if (schema.is_object() && schema.value("type", json()) == "null") found.push_back(place);
  if (!schema.is_structured()) return;
  for (const auto& [name, below] : schema.items()) collect_always_null(below, place + "." + name, found);
}

class SchemaCli : public TrainedCli {};

TEST_F(SchemaCli, EveryCommandHasOneAndEveryMemberIsDescribed) {
  const json ids = run_voxshard("schema --json").json();
  json commands = run_voxshard("help options --json").json();
  commands.erase("every command");
  for (const auto& [command, options] : commands.items()) EXPECT_TRUE(ids.contains(command)) << command;
  std::vector<std::string> undescribed, always_null;
  for (const auto& [name, id] : ids.items()) {
    const json schema = json::parse(run_voxshard("schema " + name).out);
    EXPECT_EQ(schema.at("$schema"), "http://json-schema.org/draft-07/schema#") << name;
    EXPECT_EQ(schema.at("$id"), id);
    EXPECT_THAT(id.get<std::string>(), HasSubstr("voxshard:" + name + ":"));
    collect_undescribed(schema, name, undescribed);
    collect_always_null(schema, name, always_null);
  }
  EXPECT_THAT(undescribed, testing::IsEmpty());
  EXPECT_THAT(always_null, testing::IsEmpty());
}

TEST_F(SchemaCli, ADocumentOfAVerifyThatDiffersObeysIt) {
  json document = run_voxshard("verify --size 16x16x16 --base-filters 4 --depth 3 --json").json();
  document["end_to_end"]["condition"] = 2.5;
  document["first_difference"] = {{"layer", "conv_0"}, {"what", "result"}, {"difference", 0.5},
                                  {"allowed", 0.25},   {"core", 1},        {"rank", "1"}};
  EXPECT_EQ(schema_problem("verify", document), "");
  document["first_difference"].erase("layer");
  EXPECT_THAT(schema_problem("verify", document), HasSubstr("layer"));
}

TEST_F(SchemaCli, ADocumentOfAnotherShapeIsFound) {
  json document = run_voxshard("info " + data() + " --json").json();
  EXPECT_EQ(schema_problem("info", document), "");
  EXPECT_THAT(schema_problem("train", document), HasSubstr("'checkpoint_seconds'"));
  document["folders"][0]["images"] = "two";
  EXPECT_THAT(schema_problem("info", document), HasSubstr("images"));
  document.erase("folders");
  EXPECT_NE(schema_problem("info", document), "");
}

TEST_F(SchemaCli, TheDocumentOfEachCommandObeysIt) {
  Folder folder("schemas");
  const std::string small = " --size 16x16x16 --base-filters 4 --depth 3 ";
  const std::vector<std::string> lines = {
      "demo " + (folder / "data") + " --cases 2 --test 1",
      "info " + data(),
      "info " + run(),
      "check " + data(),
      "convert " + data() + "/imagesTr/phantom_000_0000.nii.gz -o " + (folder / "one.nii.gz"),
      "prepare " + data() + " -o " + (folder / "work") + " --spacing 8,8,8",
      "plan" + small,
      "train " + work() + " -o " + (folder / "run") + kModel + kTraining,
      "status " + run(),
      "attest " + (folder / "run") + " --make",
      "predict " + run() + " " + data() + "/imagesTr -o " + (folder / "maps"),
      "evaluate " + (folder / "maps") + " " + data() + "/labelsTr",
      "evaluate " + run() + " " + work(),
      "report " + run() + " -o " + (folder / "page.html"),
      "verify" + small,
      "bench --steps 1" + small,
      "explain" + small,
      "doctor --check",
      "schema info",
      "help",
      "help codes",
      "--version"};
  std::set<std::string> seen;
  for (const std::string& line : lines) {
    const CommandResult r = run_voxshard(line + " --json");
    EXPECT_TRUE(r.exit_code == 0 || r.exit_code == 8) << line << "\n" << r.err;
    ASSERT_NE(r.command, "") << line;
    EXPECT_FALSE(r.json().is_discarded()) << line;
    seen.insert(r.command);
  }
  const json ids = run_voxshard("schema --json").json();
  for (const auto& [name, id] : ids.items()) EXPECT_TRUE(name == "error" || seen.contains(name)) << name;
}

TEST_F(SchemaCli, ErrorsHaveOneToo) {
  const CommandResult r = run_voxshard("schema predct --json");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(schema_problem("error", r.json()), "");
  EXPECT_THAT(r.err, HasSubstr("did you mean predict?"));
}

TEST_F(SchemaCli, AnErrorIsADocumentWhereTheConfigFileAsksForOne) {
  Folder folder("json_by_config");
  folder.write("c.toml", "json = true\n");
  const CommandResult r =
      run_voxshard("predict " + (folder / "gone") + " data -o pred --config " + (folder / "c.toml"));
  EXPECT_NE(r.exit_code, 0);
  EXPECT_EQ(r.json().at("error").at("exit_code"), r.exit_code);
}

}  // namespace
}  // namespace voxshard
