// A folder of DICOM objects that wait to be sent, one folder ("item") for each case: it appears whole or not at all.
// Who sends an item moves it to "sent" in the outbox; what may not be sent lies in "held", as held.json with its
// reason.
//
//   Outbox outbox("outbox");
//   if (!outbox.has(item)) outbox.place(item, {"predictions/case_0001.seg.dcm"});   // outbox/ITEM/case_0001.seg.dcm
//   outbox.hold(item, {{"code", "E_UIDS"}, {"reason", "..."}});                      // outbox/held/ITEM/held.json
//
// data/examples/pacs/loop.py sends. Names of items are plain ones, made by the caller.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/output/folder_lock.h"

namespace voxshard {

class Outbox {
 public:
  /// Makes the folder, locks it against other processes that place items, and removes what killed ones left
  /// unfinished. Errors: kOutput.
  explicit Outbox(std::filesystem::path folder);

  /// True when the item waits or was sent. Errors: kOutput when that cannot be seen.
  bool has(const std::string& item) const;
  /// Places files as an item, linked where the file system can, else copied. Errors: kOutput, with nothing placed.
  void place(const std::string& item, const std::vector<std::filesystem::path>& files) const;
  /// Lays down why an item may not be sent; an earlier reason is replaced. Errors: kOutput.
  void hold(const std::string& item, const nlohmann::ordered_json& why) const;
  /// Removes what hold() laid down, if it did. Errors: kOutput.
  void release(const std::string& item) const;

 private:
  /// Returns an empty hidden folder, to become an item.
  std::filesystem::path fresh_folder(const std::string& item) const;

  std::filesystem::path folder_;
  FolderLock lock_;
};

}  // namespace voxshard
