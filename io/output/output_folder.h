// The output folder of a command. It never overlaps with the inputs, is new, empty or made by the same command, has one
// writer at a time, and carries a manifest of how its files were made: files that an earlier call made with other
// options are made anew or refused, never mixed with new ones.
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

#include "io/output/folder_lock.h"
#include "io/output/part_log.h"

namespace voxshard {

/// Creates a folder with its parents. Errors: kOutput with the reason; also when a file has this name or the folder is
/// read-only.
void make_output_folder(const std::filesystem::path& folder);

/// Returns " with {output}", the end of a message that asks for another place; empty without an option.
std::string with_option(const std::string& option);

/// Checks a file or folder to be written against the inputs. Errors: kUsage when it is one of the inputs or lies in an
/// input folder, also through links or other spellings of the path.
///   option  the option that gives the output, for the message
void require_outside(const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs,
                     const std::string& option = "{output}");

struct FolderUse {
  std::filesystem::path folder;
  std::string command;                        // "prepare"
  std::vector<std::filesystem::path> inputs;  // files and folders that the command reads; empty ones do not count
  std::string option = "{output}";            // the option that gives the folder, for messages; empty: an argument
  bool adopts = false;                        // true: a folder without a manifest is accepted (copied checkpoints)
};

/// The parts that a call is going to make.
struct FolderParts {
  std::string options;          // hash of all that a part depends on, except its data
  std::set<std::string> parts;  // names of all parts
  bool resume = false;          // true: parts made with these options are kept; false: all are made anew
  bool protect = false;         // true: files that were changed after they were written are not replaced
};

class OutputFolder {
 public:
  /// Makes and locks the folder. Errors: kUsage when an input lies in it or it lies in an input; kOutput when it holds
  /// files that this command did not make, is in use, or cannot be written; kInput for a damaged manifest.
  explicit OutputFolder(FolderUse use);
  /// Restores the folder to its earlier state when start() was not called.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return use_.folder; }

  /// True when the last call on this folder had these options: holds() is then meaningful before start().
  bool made_with(const std::string& options) const { return log_->manifest().options == options; }

  /// Returns what the parts that were made with these options took in all.
  PartTime took(const std::string& options) const;

  /// Writes a manifest that names the command, for reports that are written before any part is made.
  void claim();
  /// Begins: removes parts made with other options, the latest first, and the temporary files of killed calls.
  /// Errors: kOutput, with nothing removed, when a part made with other options would be left beside the new ones, or a
  /// protected file was changed.
  void start(const FolderParts& parts);
  /// The functions of PartLog; all but holds() require start().
  bool holds(const std::string& part, const std::string& data) const { return log_->holds(part, data); }
  void begin(const std::string& part, const std::set<std::string>& files) { log().begin(part, files); }
  void commit(const std::string& part, const std::string& data, const PartTime& took = {}) {
    log().commit(part, data, took);
  }
  void drop(const std::string& part) { log().drop(part); }
  PartLog& log();
  /// Merges the manifests of all ranks, which have ended, into the folder's manifest. It then has one line for each
  /// complete part, in the order of `parts`: the same for any number of ranks. Files of incomplete parts are removed.
  /// Errors: kInput, kOutput.
  void finish(const std::vector<std::string>& parts);

 private:
  void require_ours() const;
  /// Removes the lock file and the empty folders that were made for a call that did not start.
  void leave_as_found();

  FolderUse use_;
  std::filesystem::path made_;  // the topmost folder that was made for this
  std::optional<FolderLock> lock_;
  std::optional<PartLog> log_;
  bool started_ = false;
};

}  // namespace voxshard
