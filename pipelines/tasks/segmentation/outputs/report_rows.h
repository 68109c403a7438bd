// The contents of a DICOM report of a label map, from the measures of its classes and its quality flags.
#pragma once

#include <vector>

#include "io/dicom_out/measurement_report.h"
#include "pipelines/tasks/segmentation/outputs/class_measures.h"
#include "pipelines/tasks/segmentation/quality/quality_rules.h"

namespace voxshard {

/// Returns the flags, each with its class.
std::vector<ReportFlag> report_flags(const std::vector<QualityFlag>& flags);

/// Returns the measures by class, in their units: ml, HU, mm.
///   hounsfield  the image is CT: without it mean and deviation are left out
std::vector<ClassNumbers> numbers_of(const std::vector<ClassMeasures>& measures, bool hounsfield);

}  // namespace voxshard
