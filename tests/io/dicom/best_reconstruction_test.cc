// Which of several reconstructions of a scan stands for it.
#include "io/dicom/best_reconstruction.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

DicomSeries series(const std::string& key, double step_mm, const std::string& kernel, const std::string& problem = "") {
  DicomSeries s;
  s.key = key, s.grid.spacing[2] = step_mm, s.common.kernel = kernel, s.problem = problem;
  return s;
}

TEST(BestReconstruction, KernelsOfFourMakersRunFromSoftToSharp) {
  EXPECT_LT(kernel_sharpness("B30f"), kernel_sharpness("B70f"));
  EXPECT_EQ(kernel_sharpness("Br40d\\3"), 40);
  EXPECT_LT(kernel_sharpness("SOFT"), kernel_sharpness("STANDARD"));
  EXPECT_LT(kernel_sharpness("STANDARD"), kernel_sharpness("LUNG"));
  EXPECT_LT(kernel_sharpness("FC08"), kernel_sharpness("FC51"));
  EXPECT_LT(kernel_sharpness("B"), kernel_sharpness("YD"));
  for (const char* unknown : {"", "7", "Q", "my kernel", "B", "99999999999999999999", "B123456789012"})
    EXPECT_TRUE(kernel_sharpness(unknown) >= 0 && kernel_sharpness(unknown) <= 100) << unknown;
  EXPECT_EQ(kernel_sharpness("unheard of"), 50);
}

TEST(BestReconstruction, WholeVolumesComeFirstThenThinSlicesThenSoftKernels) {
  const DicomSeries gap = series("1", 0.5, "B30f", "lacks slices"), thick = series("2", 5, "B30f"),
                    sharp = series("3", 1, "B70f"), soft = series("4", 1.001, "B30f");
  for (const auto& order : {std::vector{&gap, &thick, &sharp, &soft}, std::vector{&soft, &sharp, &thick, &gap}})
    EXPECT_EQ(best_reconstruction(order)->key, "4");
  EXPECT_EQ(best_reconstruction({&gap, &thick, &sharp})->key, "3");
  EXPECT_EQ(best_reconstruction({&gap})->key, "1");
}

TEST(BestReconstruction, TheOrderOfEqualOnesPlaysNoPart) {
  const DicomSeries a = series("a", 1, "B30f"), b = series("b", 1, "B30f");
  EXPECT_EQ(best_reconstruction({&a, &b})->key, "a");
  EXPECT_EQ(best_reconstruction({&b, &a})->key, "a");
}

}  // namespace
}  // namespace voxshard
