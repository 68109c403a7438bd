// Work on an anonymous case: what goes wrong is told without the names of its files, which may be those of a patient,
// also when a library crashes on one of them.
//
//   hiding_paths(item, [&] { return read_source_case(item, classes); });
#pragma once

#include <filesystem>

#include "io/datasets/hidden_paths.h"
#include "io/files/now_reading.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Returns body(). Errors: those of body, for an anonymous case without paths.
template <class Body>
auto hiding_paths(const Case& item, Body body) {
  if (!item.anonymous) return body();
  const ReadingAs name(item.id);
  try {
    return body();
  } catch (const EndsBatch&) {
    throw;
  } catch (const Error& e) {
    throw Error(e.kind(), e.code(), without_paths(e.what(), item));
  } catch (const std::filesystem::filesystem_error& e) {
    throw Error(ErrorKind::kInput, "E_READ",
                "[input] its files cannot be reached (" + e.code().message() + "); see that they stay where they are");
  }
}

}  // namespace voxshard
