// A paragraph of methods that can go into a paper, with its citations, from the facts of a run.
//
//   Methods methods = methods_of(run);
//   methods.text;            // "A 3D U-Net [1] of depth 4 ... was trained on 9 cases ..."
//   methods.references;      // in the order of their numbers
#pragma once

#include <string>
#include <vector>

#include "pipelines/report_page/run_data.h"

namespace voxshard {

struct Methods {
  std::string text;
  std::vector<std::string> references;
};

/// Says only what the files of the run say: a fact that is missing leaves its clause out.
Methods methods_of(const RunData& run);

/// The paragraph as a section of a page.
std::string methods_section(const RunData& run);

}  // namespace voxshard
