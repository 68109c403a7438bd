// The objects of a case on their way into the outbox: before they are placed to be sent they are read back and held
// against the headers of the images, which are read again.
//
//   CaseSending sending("outbox", false);
//   if (const auto held = sending.send({.item = item, .input = hash, .key = key, .files = {seg}}, limits))
//     warn(held->code + " " + held->reason);
//
// CaseOutputs calls it for cases that were predicted and for those that are kept.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/dicom_out/outbox.h"
#include "io/volume/volume.h"

namespace voxshard {

/// Checks that an outbox, if there is one, lies apart from other folders; empty ones do not count. Errors: kUsage.
void require_outbox_apart(const std::filesystem::path& outbox, const std::vector<std::filesystem::path>& others);

/// True for a case of a DICOM series whose UIDs are not all there. Errors: kInput.
bool lacks_uids(const Case& item, const VolumeLimits& limits);

/// The objects of a case that is complete.
struct CaseObjects {
  const Case& item;
  std::string input;     // a hash of its files, of which missing UIDs are made
  std::string key = {};  // a hash of what decides the objects: the item is ID-KEY, of which 16 digits are taken
  std::vector<std::filesystem::path> files = {};  // those that were made; none: no object could be
};

/// Why objects may not be sent, without a value of a header.
struct HeldReason {
  std::string code, reason;
};

class CaseSending {
 public:
  /// Errors: those of Outbox.
  CaseSending(const std::filesystem::path& outbox, bool fill_uids) : outbox_(outbox), fill_uids_(fill_uids) {}

  /// Places the objects of a case as an item, unless it waits or was sent. Returns why they may not be sent, which is
  /// then in "held" of the outbox too; none when they are placed, or there is none to send. Errors: kOutput.
  std::optional<HeldReason> send(const CaseObjects& made, const VolumeLimits& limits) const;

 private:
  std::optional<HeldReason> reason_to_hold(const CaseObjects& made, const VolumeLimits& limits) const;

  Outbox outbox_;
  bool fill_uids_;
};

}  // namespace voxshard
