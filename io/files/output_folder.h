// A folder that a command fills and answers for. It never lies where inputs lie, is new, empty or made by the same
// command, has one writer at a time, and carries a manifest of what made its files: what an earlier call made otherwise
// is made anew or refused, never mixed with what is made now.
//
//   OutputFolder out({.folder = "work", .command = "prepare", .inputs = {"data"}});
//   out.start({.options = content_hash(plan), .parts = {"case_1", "case_2"}, .resume = true});
//   if (!out.holds("case_1", data_hash)) {
//     out.begin("case_1", {"images/case_1.nii"});
//     ... write it ...
//     out.commit("case_1", data_hash);
//   }
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/files/folder_lock.h"
#include "io/files/part_log.h"

namespace voxshard {

/// Creates a folder with its parents. Errors: kOutput with the reason; also when a file is in the way or it is
/// read-only.
void make_output_folder(const std::filesystem::path& folder);

/// " with {output}": the end of a message that asks for another place; empty without an option.
std::string with_option(const std::string& option);

/// For a file or folder to be written. Errors: kUsage when it is one of the inputs, or lies in one that is a folder,
/// by whatever name or link.
///   option  that names the output, for the message
void require_outside(const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs,
                     const std::string& option = "{output}");

struct FolderUse {
  std::filesystem::path folder;
  std::string command;                        // "prepare"
  std::vector<std::filesystem::path> inputs;  // files and folders that the command reads; empty ones do not count
  std::string option = "{output}";            // that names the folder, for messages; empty: an argument
  bool adopts = false;  // takes a folder without a manifest as its own: checkpoints that were copied alone
};

/// What a call is going to make.
struct FolderParts {
  std::string options;          // hash of all that decides what a part becomes, but for its data
  std::set<std::string> parts;  // names of all parts
  bool resume = false;          // keep what was made with these options; else all parts are made anew
  bool protect = false;         // files that were changed after they were written are not replaced
};

class OutputFolder {
 public:
  /// Makes and locks the folder. Errors: kUsage when inputs lie in it or it in an input; kOutput when it holds files
  /// that this command did not make, is in use, or cannot be written; kInput for a damaged manifest.
  explicit OutputFolder(FolderUse use);
  /// A folder in which nothing was started is left as it was found.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return use_.folder; }

  /// Says in the folder whose it is, for reports that are written before anything is made.
  void claim();
  /// Begins: parts of other options go, the latest first, and so do the temporary files of killed calls.
  /// Errors: kOutput, with nothing removed, when a part of other options would be left beside the new ones, or a
  /// protected file was changed.
  void start(const FolderParts& parts);
  /// As of a PartLog; begun only after start().
  bool holds(const std::string& part, const std::string& data) const { return log_->holds(part, data); }
  void begin(const std::string& part, const std::set<std::string>& files) { log().begin(part, files); }
  void commit(const std::string& part, const std::string& data) { log().commit(part, data); }
  void drop(const std::string& part) { log().drop(part); }
  PartLog& log();
  /// All ranks have ended: what they wrote of their parts goes into the manifest, which then has a line for each part
  /// that is whole, in the order of `parts`: the same for any number of ranks. Of the others nothing stays. Errors:
  /// kInput, kOutput.
  void finish(const std::vector<std::string>& parts);

 private:
  void require_ours() const;
  /// Removes what was made for a call that did not start: lock and empty folders.
  void leave_as_found();

  FolderUse use_;
  std::filesystem::path made_;  // the topmost folder that was made for this
  std::optional<FolderLock> lock_;
  std::optional<PartLog> log_;
  bool started_ = false;
};

}  // namespace voxshard
