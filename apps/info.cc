// voxshard info: prints the headers of volumes, images, data sets and videos.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/setting_args.h"
#include "apps/terminal/exit_code.h"
#include "apps/terminal/flags.h"
#include "libcore/base/text.h"
#include "pipelines/commands/run_info.h"

namespace voxshard {
namespace {

RunCommand add(CLI::App& app) {
  auto paths = std::make_shared<std::vector<std::filesystem::path>>();
  app.add_option("path", *paths,
                 "NIfTI files, videos, pictures, " + joined(task_clauses(&TaskWords::data_files), ", ") +
                     ", data set folders (" + joined(task_clauses(&TaskWords::data_sets), ", ") +
                     "), "
                     "folders of NIfTI files or videos, run folders of train")
      ->required();
  auto quick = std::make_shared<bool>(false);
  app.add_flag(
      "--quick", *quick,
      "Headers only: volumes and pictures are not read through, frames of videos are counted by their packets");
  auto irregular = std::make_shared<IrregularSlices>(IrregularSlices::kReject);
  add_irregular_option(
      app, *irregular,
      "Of a DICOM series whose slices are missing, doubled, unevenly spaced or tilted, and of a file with sheared "
      "axes: reject, which lists it as what cannot be used, or resample: it is listed as it would be read");
  return [paths, quick, irregular](const Context& context) {
    const InfoReport report =
        run_info(*paths, {.quick = *quick, .threads = context.threads, .formats = volume_formats_with(*irregular)});
    const int code = report.failures.empty() ? kExitOk : report.unusable == paths->size() ? kExitInput : kExitPartial;
    return Outcome{.json = to_json(report),
                   .text = with_flags(to_text(report)),
                   .exit_code = code,
                   .next = with_flags(report.next)};
  };
}

}  // namespace

Command info_command() {
  return {"info",
          "Shows what volumes, data sets and videos hold: size, spacing or timestamps, orientation, type, problems.",
          "voxshard info data/imagesTr/phantom_000_0000.nii.gz data --json", add};
}

}  // namespace voxshard
