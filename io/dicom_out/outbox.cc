#include "io/dicom_out/outbox.h"

#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/files/open_file.h"
#include "io/output/output_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char *kSentFolder = "sent", *kHeldFolder = "held", *kHeldFile = "held.json";
constexpr std::string_view kPlacing = ".placing.";  // begins the names of folders that are not yet items

[[noreturn]] void refuse_item(const fs::path& path, const std::string& why) {
  throw output_error(path, why, "check that the outbox is writable and has space; nothing of this item is placed");
}

void copy_whole(const fs::path& from, const fs::path& to) {
  write_file_atomically(to, [&](std::ostream& out) {
    InputFile in(from);
    if (!in) throw output_error(to, in.problem(), "predict again");
    out << in.rdbuf();
  });
  std::error_code error;
  if (fs::file_size(from, error) != fs::file_size(to, error) || error) refuse_item(to, "it is not whole");
}

/// True when a path is there. Errors: kOutput when that cannot be seen.
bool is_seen(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::none) refuse_item(path, error.message());
  return status.type() != fs::file_type::not_found;
}

fs::path make_outbox(const fs::path& folder) {
  make_output_folder(folder);
  return folder;
}

}  // namespace

Outbox::Outbox(fs::path folder)
    : folder_(make_outbox(std::move(folder))), lock_(FolderLock::writing(folder_, "predict")) {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with(kPlacing)) left.push_back(it->path());
  for (const fs::path& one : left) fs::remove_all(one, error);  // what stays is removed when its item is placed
}

bool Outbox::has(const std::string& item) const {
  // In this order: an item that is moved between the two looks is found by the second one.
  return is_seen(folder_ / item) || is_seen(folder_ / kSentFolder / item);
}

fs::path Outbox::fresh_folder(const std::string& item) const {
  const fs::path fresh = folder_ / (std::string(kPlacing) + item);
  std::error_code error;
  fs::remove_all(fresh, error);
  if (!error) fs::create_directory(fresh, error);
  if (error) refuse_item(fresh, error.message());
  return fresh;
}

void Outbox::place(const std::string& item, const std::vector<fs::path>& files) const {
  ensure(name_problem(item, kMostFileNameBytes).empty(), "an item has a plain name");
  const fs::path fresh = fresh_folder(item);
  try {
    for (const fs::path& file : files) {
      std::error_code error;
      fs::create_hard_link(file, fresh / file.filename(), error);
      if (error) copy_whole(file, fresh / file.filename());
    }
    commit_file(fresh, folder_ / item);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    throw;
  }
}

void Outbox::hold(const std::string& item, const nlohmann::ordered_json& why) const {
  ensure(name_problem(item, kMostFileNameBytes).empty(), "an item has a plain name");
  const std::string text = why.dump(2) + "\n";
  const fs::path held = folder_ / kHeldFolder / item;
  make_output_folder(folder_ / kHeldFolder);
  if (is_seen(held)) return write_text_atomically(held / kHeldFile, text);
  const fs::path fresh = fresh_folder(item);
  write_text_atomically(fresh / kHeldFile, text);
  commit_file(fresh, held);
}

void Outbox::release(const std::string& item) const {
  const fs::path held = folder_ / kHeldFolder / item;
  if (!is_seen(held)) return;
  std::error_code error;
  fs::remove_all(held, error);
  if (error) refuse_item(held, error.message());
}

}  // namespace voxshard
