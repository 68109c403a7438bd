// An earlier output is recognised by its content: files of voxshard begin with keys, or carry marks, that others lack.
//
//   require_output_file("data/dataset.json", scores, {})   // "[output] data/dataset.json is there and ..."
#include "io/output/output_file.h"

#include <algorithm>

#include "io/files/atomic_file.h"
#include "io/files/open_file.h"
#include "io/output/manifest.h"
#include "io/output/output_folder.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostRead = 4096;  // bytes, from the beginning or the end

bool is_there(const fs::path& path, const char* name) {
  std::error_code unseen;
  return fs::exists(path / name, unseen);
}

}  // namespace

bool is_run_folder(const fs::path& folder) { return is_there(folder, "run.json") && is_there(folder, "checkpoints"); }

namespace {

/// Returns "was made by voxshard train" or "is a data set"; empty for a folder that any command may write to.
std::string owner_of(const fs::path& folder) {
  if (is_there(folder, kManifestName)) {
    try {
      const auto manifest = read_manifest(folder);
      if (manifest && !manifest->command.empty()) return "was made by voxshard " + manifest->command;
    } catch (const Error&) {
      // A damaged manifest protects its folder too.
    }
    return std::string("has a ") + kManifestName;
  }
  for (const char* images : {"imagesTr", "imagesTs", "images"})
    if (is_there(folder, "dataset.json") && is_there(folder, images)) return "is a data set";
  return is_run_folder(folder) ? "is a run of voxshard train" : "";
}

void require_free_folder(const fs::path& file, const OutputPlace& place) {
  std::error_code error;
  fs::path at = fs::weakly_canonical(fs::absolute(file), error).parent_path();
  if (error) at = fs::absolute(file).lexically_normal().parent_path();
  for (;; at = at.parent_path()) {
    if (!place.own.empty() && fs::equivalent(at, place.own, error) && !error) return;
    if (const std::string owner = owner_of(at); !owner.empty())
      throw Error(ErrorKind::kOutput, "[output] " + file.string() + " would lie in " + at.string() + ", which " +
                                          owner + "; choose a place of its own" + with_option(place.option));
    if (at == at.parent_path()) return;
  }
}

void require_ours(const fs::path& file, const OutputKind& kind, const OutputPlace& place) {
  std::error_code error;
  if (!fs::exists(file, error)) return;
  const bool empty = fs::is_regular_file(file, error) && fs::file_size(file, error) == 0 && !error;
  if (empty || (fs::is_regular_file(file, error) && kind.is_ours(file))) return;
  throw Error(ErrorKind::kOutput, "[output] " + file.string() + " is there and is not " + kind.name +
                                      ", so it is not replaced; choose another name" + with_option(place.option) +
                                      ", or move it away");
}

std::string next_bytes(InputFile& in) {
  std::string text(kMostRead, '\0');
  in.read(text.data(), kMostRead);
  text.resize(in.gcount());
  return text;
}

}  // namespace

std::function<bool(const fs::path&)> ends_around(std::string text) {
  return [text = std::move(text)](const fs::path& path) {
    InputFile in(path);
    in.seekg(std::max<std::int64_t>(0, in.bytes() - kMostRead));
    return next_bytes(in).find(text) != std::string::npos;
  };
}

std::function<bool(const fs::path&)> begins_with(std::vector<std::string> beginnings) {
  return [beginnings = std::move(beginnings)](const fs::path& path) {
    InputFile in(path);
    std::string text = next_bytes(in);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
    return std::any_of(beginnings.begin(), beginnings.end(), [&](const auto& b) { return text.starts_with(b); });
  };
}

void require_output_file(const fs::path& file, const OutputKind& kind, const OutputPlace& place) {
  if (file.empty()) return;
  const std::string name = lower_case(file.filename().string());
  if (std::none_of(kind.endings.begin(), kind.endings.end(), [&](const auto& end) { return name.ends_with(end); }))
    throw Error(ErrorKind::kUsage, "[output] " + file.string() + ": the name of " + kind.name + " ends in " +
                                       joined(kind.endings, ", ") + "; choose one" + with_option(place.option));
  require_outside(file, place.inputs, place.option);
  require_free_folder(file, place);
  require_ours(file, kind, place);
  require_ours(incomplete_path(file), kind, place);
}

}  // namespace voxshard
