// Quality flags on the command line: a demo's run knows what is usual of its training images.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using testing::HasSubstr, testing::Not;

/// A demo of twelve training volumes, prepared at 8 mm and trained for three steps.
class QualityCli : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("quality");
    ASSERT_EQ(run_voxshard("demo " + path("data") + " --cases 12 --test 2 --quiet").exit_code, 0);
    ASSERT_EQ(run_voxshard("prepare " + path("data") + " -o " + path("work") + " --spacing 8,8,8 --quiet").exit_code,
              0);
    ASSERT_EQ(run_voxshard("train " + path("work") + " -o " + path("run") +
                           " --base-filters 4 --depth 3 --precision f32 --crop 16x16x16 --steps 3 --fold all --quiet")
                  .exit_code,
              0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string path(const std::string& name) { return *folder_ / name; }
  static CommandResult predict(const std::string& input, const std::string& output, const std::string& more = "") {
    return run_voxshard("predict " + path("run") + " " + path(input) + " -o " + path(output) + " " + more);
  }
  inline static Folder* folder_ = nullptr;
};

/// Writes copies of the NIfTI files of a folder after a change by NumPy (`x`: the voxels, `h`: the header).
void write_broken(const std::string& from, const std::string& to, const std::string& change) {
  const std::string script =
      "import glob, nibabel, numpy, os\n"
      "os.makedirs('" +
      to +
      "')\n"
      "for file in glob.glob('" +
      from +
      "/*.nii.gz'):\n"
      "    image = nibabel.load(file)\n"
      "    x = numpy.asarray(image.dataobj).astype('f4')\n"
      "    " +
      change +
      "\n"
      "    nibabel.save(nibabel.Nifti1Image(x.round().astype('i2'), image.affine), '" +
      to + "/' + os.path.basename(file))\n";
  ASSERT_EQ(std::system(("/usr/bin/python3 -c \"" + script + "\"").c_str()), 0);
}

/// Returns the cases of a document that have a flag with this code.
std::size_t cases_with(const nlohmann::json& document, const std::string& code) {
  std::size_t cases = 0;
  for (const auto& item : document.at("quality"))
    cases += std::ranges::any_of(item.at("flags"), [&](const auto& flag) { return flag.at("code") == code; });
  return cases;
}

TEST_F(QualityCli, UntouchedImagesLookAsThoseOfTraining) {
  const CommandResult r = predict("data/imagesTs", "untouched", "--json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  ASSERT_EQ(r.json().at("quality").size(), 2u);
  EXPECT_EQ(cases_with(r.json(), "W_HISTOGRAM"), 0u) << r.err;
  EXPECT_THAT(r.err, Not(HasSubstr("the image shows")));
  EXPECT_THAT(file_text(path("untouched/quality.csv")), testing::StartsWith("case,code,class,what\nphantom_0"));
}

TEST_F(QualityCli, BrokenImagesAreReferredToAPersonAndTheExitCodeStays) {
  if (std::system("/usr/bin/python3 -c 'import nibabel' 2>/dev/null") != 0) GTEST_SKIP() << "needs python3-nibabel";
  const std::string from = path("data/imagesTs");
  write_broken(from, path("shifted"), "x += 300");
  write_broken(from, path("noisy"), "x += numpy.random.default_rng(1).normal(0, 300, x.shape)");
  write_broken(from, path("cropped"), "x = x[:, :, : x.shape[2] // 4]");
  for (const auto& [name, code] :
       {std::pair("shifted", "W_HISTOGRAM"), {"noisy", "W_HISTOGRAM"}, {"cropped", "W_VIEW"}}) {
    const CommandResult r = predict(name, std::string("of_") + name, "--json");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(cases_with(r.json(), code), 2u) << name << "\n" << r.err;
    EXPECT_THAT(r.err, HasSubstr(std::string(": ") + code + " the i"));
  }
  const CommandResult told = predict("cropped", "of_cropped", "--refer");
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("quality: 2 of 2 cases have flags (see "));
  EXPECT_THAT(told.out, HasSubstr("refer: a person should look at\n  phantom_0"));
  EXPECT_THAT(told.out, HasSubstr("W_VIEW the image shows "));
  std::ofstream(path("cropped/torn_0000.nii.gz")) << "no volume";
  const CommandResult partial = predict("cropped", "of_torn", "--refer");
  EXPECT_EQ(partial.exit_code, 8) << "one was left out, as without flags";
  EXPECT_THAT(partial.out, HasSubstr("\n  torn: E_READ "));
}

TEST_F(QualityCli, ARunOfFewCasesGivesNoFlagsAndSaysSo) {
  ASSERT_EQ(run_voxshard("demo " + path("few") + " --cases 2 --test 1 --quiet").exit_code, 0);
  ASSERT_EQ(run_voxshard("train " + path("few") + " -o " + path("few_run") +
                         " --base-filters 4 --depth 3 --precision f32 --crop 16x16x16 --steps 1 --fold all --quiet")
                .exit_code,
            0);
  const CommandResult r =
      run_voxshard("predict " + path("few_run") + " " + path("few/imagesTs") + " -o " + path("of_few") + " --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_FALSE(r.json().contains("quality"));
  EXPECT_THAT(r.err, HasSubstr("quality: no flags are given: the run was trained on 2 cases, and fewer than 8"));
  EXPECT_FALSE(std::filesystem::exists(path("of_few/quality.csv")));
}

}  // namespace
}  // namespace voxshard
