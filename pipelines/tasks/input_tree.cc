#include "pipelines/tasks/input_tree.h"

#include <algorithm>
#include <map>

#include "io/dicom/dicom_series.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "libcore/base/error.h"
#include "pipelines/engine/predicted_file.h"

namespace voxshard {

namespace fs = std::filesystem;

bool leads_out(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  return fs::is_symlink(file, error) && !lies_in(file, folder);
}

InputTree files_below(const fs::path& folder) {
  InputTree tree;
  walk_folder(folder, {.not_entered = &tree.folders}, [&](const fs::directory_entry& entry) {
    if (leads_out(entry.path(), folder))
      ++tree.links;
    else
      tree.files.push_back(entry.path());
    return true;
  });
  std::ranges::sort(tree.files);
  return tree;
}

ForeignFiles foreign_in(const fs::path& folder) {
  ForeignFiles foreign{.files = {}, .folder = folder};
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (it->path().filename().string().starts_with(".")) continue;
    if (it->is_directory(unknown))
      ++foreign.folders;
    else if (it->is_regular_file(unknown))
      foreign.files.push_back(it->path());
  }
  std::ranges::sort(foreign.files);
  return foreign;
}

std::vector<fs::path> inputs_below(const fs::path& folder, const std::string& what,
                                   const std::function<bool(const fs::path&)>& is_input, ForeignFiles& foreign) {
  InputTree tree = files_below(folder);
  foreign = {.files = {}, .folder = folder, .links = tree.links, .folders = tree.folders, .is_tree = true};
  std::vector<fs::path> inputs;
  for (fs::path& file : tree.files) (is_input(file) ? inputs : foreign.files).push_back(std::move(file));
  if (!inputs.empty()) return inputs;
  throw Error(ErrorKind::kNoCase, "[predict] " + folder.string() + " and the folders in it hold no " + what +
                                      none_found_text(text_of(foreign)));
}

std::string name_below(const fs::path& path, const fs::path& folder) {
  std::string name = path.lexically_relative(folder).generic_string();
  for (const std::string mark : {"#series=", "#volume="})
    if (const auto at = name.find(mark); at != std::string::npos) name.erase(at, mark.size());
  return text_problem(name).empty() ? name : "name_" + content_hash(std::string_view(name)).substr(0, 16);
}

NamedInputs name_inputs(const std::vector<fs::path>& files, const InputNaming& naming) {
  NamedInputs named;
  if (naming.keep_names) {
    for (const fs::path& file : files) named.names.push_back(name_below(file, naming.folder));
    return named;
  }
  Dataset set{.name = {},
              .folder = naming.folder,
              .channels = {},
              .label_names = {},
              .training = {},
              .test = {},
              .problems = {},
              .kind = {}};
  for (const fs::path& file : files)
    set.training.push_back({.id = name_below(file, naming.folder), .images = {file}, .label = {}});
  named.paths = read_case_names_file(naming.earlier);
  give_ids(set, std::nullopt, named.paths);
  std::map<fs::path, std::string> id_of;
  for (const Case& item : set.training) id_of[item.images.front()] = item.id;
  for (const fs::path& file : files) named.names.push_back(id_of.at(file));
  return named;
}

InputNaming input_naming(const PredictOptions& options, bool keep_names) {
  return {.folder = options.input, .keep_names = keep_names, .earlier = names_file_of(options.output)};
}

Setting keep_names_setting(bool& keep_names) {
  return {"keep-names",
          "Outputs name DICOM series, and with {recursive} all inputs, after their folders, whatever these say of "
          "patients",
          "", &keep_names};
}

Setting draw_setting(fs::path& draw) {
  return {"draw",
          "Folder for pictures with boxes or videos with the time line of their classes; of a single video, of either "
          "kind, the .mp4, .mov or .mkv",
          "", &draw};
}

Setting most_pixels_setting(std::int64_t& most_pixels, const std::string& help) {
  return {"most-pixels", help, "Limits", &most_pixels, {{1, 0x1p31}}};
}

}  // namespace voxshard
