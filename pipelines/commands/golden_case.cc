#include "pipelines/commands/golden_case.h"

#include <algorithm>
#include <string_view>

#include "io/audit/sha256.h"
#include "io/files/structured_text.h"
#include "libcore/base/cpu.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Hashes = std::map<std::string, std::string>;

constexpr const char* kFormat = "voxshard golden 1";

Error not_as_made(const fs::path& file, const std::string& what) {
  return {ErrorKind::kMismatch, "[attest] " + file.string() + " is not as {make} wrote it: " + what +
                                    "; take the golden case from a backup, or make it again with {make} {replace}"};
}

/// Throws kMismatch for values that are no SHA-256.
void require_hashes(const Hashes& hashes) {
  for (const auto& [name, hash] : hashes)
    if (!is_sha256(hash)) throw Error(ErrorKind::kMismatch, "a value is no SHA-256");
}

GoldenCase golden_from(const nlohmann::json& said) {
  GoldenCase golden{.task = said.at("task"),
                    .version = said.at("version"),
                    .processor = said.at("processor"),
                    .model = said.at("model"),
                    .preparation = said.at("preparation"),
                    .parameters = said.at("parameters").get<Hashes>(),
                    .files = said.at("files").get<Hashes>(),
                    .reference = said.at("reference"),
                    .answers = said.at("answers").get<Hashes>()};
  for (const Hashes* hashes : {&golden.parameters, &golden.files, &golden.answers}) require_hashes(*hashes);
  for (const auto& [set, hash] : golden.answers)
    if (std::ranges::find(kInstructionSetNames, std::string_view(set)) == std::end(kInstructionSetNames))
      throw Error(ErrorKind::kMismatch, "it has an answer of an unknown instruction set");
  if (!golden.answers.contains(golden.reference))
    throw Error(ErrorKind::kMismatch, "it has no hash of the answer that is stored");
  return golden;
}

}  // namespace

fs::path golden_folder_of(const fs::path& model) {
  std::error_code error;
  return (fs::is_directory(model, error) ? model : model.parent_path()) / "golden";
}

std::string golden_text(const GoldenCase& golden) {
  nlohmann::json text = {{"format", kFormat},
                         {"task", golden.task},
                         {"version", golden.version},
                         {"processor", golden.processor},
                         {"model", golden.model},
                         {"preparation", golden.preparation},
                         {"parameters", golden.parameters},
                         {"files", golden.files},
                         {"reference", golden.reference},
                         {"answers", golden.answers}};
  text["hash"] = sha256(text.dump());
  return text.dump(1) + "\n";
}

GoldenCase parse_golden(const std::string& text, const fs::path& file) {
  try {
    return golden_from(parse_json(text, {.path = file, .kind = ErrorKind::kMismatch, .limits = kConfigLimits}));
  } catch (const nlohmann::json::exception& e) {
    throw not_as_made(file, e.what());
  } catch (const Error& e) {
    throw not_as_made(file, e.what());
  }
}

GoldenCase read_golden(const fs::path& folder) {
  const fs::path file = folder / kGoldenName;
  std::error_code error;
  if (!fs::exists(file, error))
    throw Error(ErrorKind::kInput,
                "[attest] " + folder.string() +
                    " holds no golden case; make one with {make}, with a program and a checkpoint that are known to be "
                    "good");
  const std::string text =
      read_text({.path = file, .kind = ErrorKind::kMismatch, .tag = "[attest] ", .limits = kConfigLimits});
  const GoldenCase golden = parse_golden(text, file);
  if (golden_text(golden) != text) throw not_as_made(file, "its hash or its form is another one");
  return golden;
}

GoldenCase golden_facts(const TrainedRun& run) {
  GoldenCase golden{.task = {}, .version = VOXSHARD_VERSION, .processor = cpu_name()};
  golden.model = nlohmann::json(to_json(run.spec));
  golden.preparation = sha256(run.preparation.dump());
  for (const auto& [name, values] : run.parameters) {
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                                 static_cast<std::size_t>(values.bytes()));
    golden.parameters[name] =
        sha256(std::string(dtype_name(values.dtype())) + " " + to_string(values.shape()) + " " + sha256(bytes));
  }
  return golden;
}

Hashes golden_files(const fs::path& folder) {
  Hashes files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::file_type type = it->symlink_status(error).type();
    if (type == fs::file_type::directory) continue;
    const std::string name = it->path().lexically_relative(folder).generic_string();
    if (name == kGoldenName) continue;
    if (files.size() == kMostGoldenFiles)
      throw Error(ErrorKind::kMismatch, "[attest] " + folder.string() + " holds more than " +
                                            std::to_string(kMostGoldenFiles) + " files, which {make} did not write");
    files[name] = type == fs::file_type::regular ? file_sha256(it->path()) : "";
  }
  if (error) throw Error(ErrorKind::kInput, "[attest] " + folder.string() + " cannot be read: " + error.message());
  return files;
}

}  // namespace voxshard
