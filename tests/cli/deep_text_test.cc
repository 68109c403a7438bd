// 200,000 brackets in each place where a command reads JSON, TOML or XML: refused with the file's name, never the end
// of the stack (exit 139).
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

constexpr int kBrackets = 200'000;

std::string repeated(const std::string& piece) {
  std::string text;
  for (int i = 0; i < kBrackets; ++i) text += piece;
  return text;
}
const std::string kList = repeated("[") + repeated("]");
const std::string kObjects = repeated("{\"a\":") + "1" + repeated("}");

class DeepText : public TrainedCli {
 protected:
  /// Returns a copy of the prepared data or of the run in which one file is nested deeply.
  static std::string copied(const Folder& folder, const std::string& what, const std::string& file,
                            const std::string& text) {
    std::filesystem::copy(what, folder / "copy", std::filesystem::copy_options::recursive);
    folder.write("copy/" + file, text);
    return folder / "copy";
  }
  static void expect_refused(const std::string& words, int code, const std::string& piece = "nested deeper") {
    const CommandResult r = run_voxshard(words + " --json");
    EXPECT_EQ(r.exit_code, code) << words << "\n" << r.err.substr(0, 400);
    EXPECT_THAT(r.err, HasSubstr(piece)) << words;
    EXPECT_LT(r.err.size(), 4000u) << words;
  }
};

TEST_F(DeepText, InSettings) {
  Folder folder("deep_settings");
  const std::pair<const char*, std::string> texts[] = {
      {"list.json", kList},
      {"objects.json", kObjects},
      {"open.json", repeated("[")},
      {"list.toml", "a = " + kList},
      {"tables.toml", "a = " + repeated("{b = ") + "1" + repeated("}")},
      {"blocks.yaml", repeated("- ") + "x"},
      {"key.toml", repeated("a.") + "b = 1"},
      {"heading.toml", "[" + repeated("a.") + "b]\nc = 1"}};
  for (const auto& [name, text] : texts) {
    folder.write(name, text);
    expect_refused("plan --size 8x8x8 --config " + (folder / name), 5, name);
  }
  folder.write("dims.json", "{\"input_partition_dims\": \"" + repeated("[") + "\"}");
  expect_refused("plan --size 8x8x8 --cores 4 --config " + (folder / "dims.json"), 5, "levels of brackets");
  folder.write("device.json", kObjects);
  expect_refused("plan --size 8x8x8 --device " + (folder / "device.json"), 5);
}

TEST_F(DeepText, InDescriptionsOfDataSets) {
  Folder folder("deep_set");
  folder.write("dataset.json",
               "{\"channel_names\": {\"0\": \"CT\"}, \"labels\": " + kList + ", \"file_ending\": \".nii.gz\"}");
  expect_refused("info " + (folder / ""), 3);
  expect_refused("info " + (folder / "dataset.json"), 3);
  expect_refused("prepare " + (folder / "") + " -o " + (folder / "work"), 3);
}

TEST_F(DeepText, InPreparedFolders) {
  for (const char* file : {"plans.json", "dataset.json"}) {
    Folder folder("deep_prepared");
    const std::string work = copied(folder, TrainedCli::work(), file, kObjects);
    expect_refused("train " + work + " -o " + (folder / "run") + kModel + "--fold all --crop 16x16x16 --steps 1", 3,
                   "again with --resume");  // not the file of the manifest, so it is not parsed
  }
  Folder folder("deep_record");  // the record of an earlier run only says what need not be done again
  const std::string work = copied(folder, TrainedCli::work(), "cases/phantom_000.json", kList);
  const CommandResult r = run_voxshard("prepare " + data() + " -o " + work + " --spacing 8,8,8 --resume --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
}

TEST_F(DeepText, InAnnotationsAndResults) {
  Folder folder("deep_boxes");
  folder.write("truth.json",
               R"({"images": [{"id": 1}], "categories": [{"id": 1, "name": "cell"}], "annotations": []})");
  folder.write("deep.json", kList);
  folder.write("set.json", "{\"images\": " + kList + "}");
  expect_refused("evaluate " + (folder / "deep.json") + " " + (folder / "truth.json"), 3);
  expect_refused("evaluate " + (folder / "truth.json") + " " + (folder / "set.json"), 3);
  expect_refused("info " + (folder / "set.json"), 3);
  std::filesystem::create_directories(folder / "voc/Annotations");
  std::filesystem::create_directories(folder / "voc/JPEGImages");
  folder.write("voc/Annotations/a.xml",
               "<annotation>" + repeated("<object>") + repeated("</object>") + "</annotation>");
  const CommandResult r = run_voxshard("info " + (folder / "voc"));
  EXPECT_LT(r.exit_code, 128) << r.err;
  EXPECT_THAT(r.out + r.err, HasSubstr("nested deeper"));
}

TEST_F(DeepText, InCheckpoints) {
  const auto file_of = [](const std::string& header) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header;
  };
  Folder folder("deep_checkpoint");
  folder.write("header.safetensors", file_of(kObjects));
  folder.write("description.safetensors", file_of(nlohmann::json({{"__metadata__", {{"voxshard", kList}}}}).dump()));
  for (const char* name : {"header.safetensors", "description.safetensors"})
    expect_refused("predict " + (folder / name) + " " + data() + "/imagesTs -o " + (folder / "out"), 10);
}

}  // namespace
}  // namespace voxshard
