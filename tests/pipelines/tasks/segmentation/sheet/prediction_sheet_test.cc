// The contact sheet of predicted volumes: voxels and millilitres counted by hand, slices of the very labels whatever
// the axes of the file, images found by name or through the folder's own list, and a page below its size.
#include "pipelines/tasks/segmentation/prediction_sheet.h"

#include <gmock/gmock.h>

#include "io/datasets/case_ids.h"
#include "io/datasets/class_names.h"
#include "io/records/base64.h"
#include "io/resampling/resample.h"
#include "libcore/base/rng.h"
#include "pipelines/report_page/html_page.h"
#include "pipelines/tasks/segmentation/sheet/sheet_page.h"
#include "tests/expect_error.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Labels of the scene's volumes of 12 x 10 x 8 voxels of 2 x 2 x 3 mm: class 1 is x < 4, class 2 z >= 6 of the rest.
constexpr std::int64_t kVoxelsOfOne = 4 * 10 * 8, kVoxelsOfTwo = 8 * 10 * 2;
constexpr double kMl = 2 * 2 * 3 * 1e-3;

struct SheetScene : Scene {
  explicit SheetScene(const std::string& name, int cases = 2) : Scene(name) {
    write_dataset(cases);
    std::filesystem::create_directories(pred());
    for (int i = 0; i < cases; ++i) write_volume(pred() / (id(i) + ".nii.gz"), make_label(), DiskType::kU8);
    write_class_names(pred() / kClassNamesFile, {"background", "one", "two", "three"});
  }
  std::filesystem::path pred() const { return path("pred"); }
  std::filesystem::path page() const { return path("page.html"); }
  json report(const std::filesystem::path& images = {}) {
    return prediction_sheet({.predictions = pred(), .images = images, .file = page()}, progress).json;
  }
  json data() const {
    const std::string text = bytes_of(page()), begin = "<script type=\"application/json\" id=\"report-data\">";
    const std::size_t from = text.find(begin) + begin.size();
    return json::parse(text.substr(from, text.find("</script>", from) - from));
  }
};

TEST(SheetCase, CountsVoxelsAndMillilitresOfEveryClass) {
  SheetScene scene("sheet_count");
  const json one = sheet_case({.id = "a", .labels = scene.pred() / "case_0.nii.gz", .image = {}},
                              {"background", "one", "two", "three"}, {}, volume_formats());
  EXPECT_EQ(one.at("volumes").at(0), json({{"class", "one"}, {"voxels", kVoxelsOfOne}, {"ml", kVoxelsOfOne * kMl}}));
  EXPECT_EQ(one.at("volumes").at(1), json({{"class", "two"}, {"voxels", kVoxelsOfTwo}, {"ml", kVoxelsOfTwo * kMl}}));
  EXPECT_EQ(one.at("volumes").at(2), json({{"class", "three"}, {"voxels", 0}, {"ml", 0.0}}));
  const json unnamed = sheet_case({.id = "a", .labels = scene.pred() / "case_0.nii.gz", .image = {}}, {"background"},
                                  {.planes = 0}, volume_formats());
  EXPECT_EQ(unnamed.at("volumes").at(1).at("class"), "class 2");
  EXPECT_FALSE(unnamed.contains("planes"));
}

TEST(SheetCase, PlanesHoldTheLabelsAndTheImageWhateverTheAxesOfTheFile) {
  SheetScene scene("sheet_axes");
  const Volume label = Scene::make_label(), image = Scene::make_image(1);
  json first;
  for (const char* axes : {"LPS", "RAS", "SLP"}) {
    write_volume(scene.path("label.nii"), reorient(label, axes), DiskType::kU8);
    write_volume(scene.path("image.nii"), reorient(image, axes), DiskType::kI16);
    const json one = sheet_case({.id = "a", .labels = scene.path("label.nii"), .image = scene.path("image.nii")},
                                {"background"}, {}, volume_formats());
    EXPECT_TRUE(one.at("image").is_null()) << "nothing speaks against showing it";
    if (first.is_null()) first = one;
    for (const char* key : {"volumes", "planes", "low", "high"}) EXPECT_EQ(one.at(key), first.at(key)) << axes;
  }
  const json& axial = first.at("planes").at(0);
  EXPECT_THAT(axial.at("at").get<std::vector<int>>(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(axial.at("start"), 6) << "the first plane in which both classes are";
  EXPECT_THAT(std::vector<double>({axial.at("row_mm"), axial.at("column_mm")}), ElementsAre(2, 2));
  EXPECT_EQ(first.at("planes").at(1).at("row_mm"), 3);
  std::vector<std::uint8_t> labels;
  for (std::int64_t i = 0; i < label.voxels.count(); ++i)
    labels.push_back(static_cast<std::uint8_t>(label.voxels.as<std::int32_t>()[i]));
  EXPECT_EQ(axial.at("prediction"), base64_text(labels)) << "planes of all slices are the volume";
  EXPECT_EQ(first.at("low"), 100);
  EXPECT_EQ(first.at("high"), 111) << "values 100 to 111 along x";
  EXPECT_THAT(axial.at("image").get<std::string>(),
              testing::StartsWith(base64_text(std::array<std::uint8_t, 3>{0, 23, 46})));
}

TEST(SheetCase, PlanesLieBetweenTheFirstAndTheLastLabelledOne) {
  ScratchFolder folder("sheet_planes");
  Volume label{Geometry{.size = {20, 30, 40}}, Tensor(DType::kI32, {40, 30, 20})};
  const auto at = [&](std::int64_t z, std::int64_t y, std::int64_t x) -> std::int32_t& {
    return label.voxels.as<std::int32_t>()[(z * 30 + y) * 20 + x];
  };
  at(10, 3, 4) = at(13, 3, 4) = at(13, 3, 5) = at(19, 3, 4) = 1;
  write_volume(folder.path() / "a.nii", label, DiskType::kU8);
  const auto planes = [&](const SheetLimits& limits) {
    return json(sheet_case({.id = "a", .labels = folder.path() / "a.nii", .image = {}}, {"background"}, limits,
                           volume_formats()))
        .at("planes");
  };
  EXPECT_THAT(planes({.planes = 5}).at(0).at("at").get<std::vector<int>>(), ElementsAre(11, 13, 15, 17, 19));
  EXPECT_EQ(planes({.planes = 5}).at(0).at("start"), 1);
  EXPECT_THAT(planes({.planes = 5}).at(1).at("at").get<std::vector<int>>(), ElementsAre(3));
  EXPECT_THAT(planes({.planes = 1}).at(0).at("at").get<std::vector<int>>(), ElementsAre(13)) << "the fullest";
  std::fill_n(label.voxels.as<std::int32_t>(), label.voxels.count(), 0);
  write_volume(folder.path() / "a.nii", label, DiskType::kU8);
  EXPECT_EQ(planes({.planes = 4}).at(0).at("at").size(), 4u) << "of the whole volume where nothing is labelled";
  EXPECT_THAT(planes({.planes = 1}).at(2).at("at").get<std::vector<int>>(), ElementsAre(10));
}

TEST(SheetBudget, WhatIsShownFitsIntoAPage) {
  for (const Shape& size : {Shape{512, 512, 512}, Shape{20, 600, 60}, Shape{1, 1, 1}})
    for (const std::size_t cases : {1u, 5u, 6u, 50u, 300u, 700u, 10000u})
      for (const std::size_t classes : {2u, 120u, 1000u}) {
        const SheetBudget budget = sheet_budget(std::vector<Shape>(cases, size), classes);
        EXPECT_LE(budget.sliced, budget.listed);
        EXPECT_LE(budget.listed, cases);
        EXPECT_GT(budget.sliced, 0u) << cases << " cases of " << classes << " classes";
        EXPECT_LE(budget.sliced * static_cast<std::size_t>(most_bytes(budget.limits, size)), kMostPageBytes);
        if (cases <= 300 && classes <= 120) {
          EXPECT_EQ(budget.listed, cases);
        }
      }
  const auto of = [](std::size_t cases, std::int64_t side) {
    return sheet_budget(std::vector<Shape>(cases, Shape{side, side, side}), 4);
  };
  EXPECT_FALSE(of(5, 300).thinned());
  EXPECT_TRUE(of(50, 300).thinned());
  EXPECT_FALSE(of(30, 40).thinned()) << "small volumes take little room";
  EXPECT_EQ(of(300, 300).sliced, 300u);
}

TEST(SheetBudget, ACaseIsNoLargerThanItsLimit) {
  ScratchFolder folder("sheet_large");
  constexpr std::int64_t kSide = 130;  // of samples in every second voxel
  Volume label{Geometry{.size = {kSide, kSide, kSide}}, Tensor(DType::kI32, {kSide, kSide, kSide})};
  Volume image{label.geometry, Tensor(DType::kF32, label.voxels.shape())};
  for (std::int64_t i = 0; i < label.voxels.count(); ++i) {
    label.voxels.as<std::int32_t>()[i] =
        static_cast<std::int32_t>(rng_below({.seed = 1}, static_cast<std::uint64_t>(i), 3));
    image.voxels.as<float>()[i] = static_cast<float>(i % 1000);
  }
  write_volume(folder.path() / "label.nii", label, DiskType::kU8);
  write_volume(folder.path() / "image.nii", image, DiskType::kI16);
  for (const SheetLimits& limits : {SheetLimits{}, SheetLimits{.planes = 3, .side = 64}}) {
    const auto one =
        sheet_case({.id = "a", .labels = folder.path() / "label.nii", .image = folder.path() / "image.nii"},
                   {"background"}, limits, volume_formats());
    EXPECT_LE(std::ssize(one.dump()), most_bytes(limits, label.voxels.shape()));
    EXPECT_LE(one.at("planes").at(0).at("rows"), limits.side);
  }
}

TEST(PredictionSheet, HasTheVolumesOfTheLabelMapsAndSaysWhatIsMissing) {
  SheetScene scene("sheet_page");
  const json report = scene.report(scene.Scene::data() / "imagesTr"), page = scene.data();
  EXPECT_EQ(report.at("cases"), 2);
  EXPECT_EQ(report.at("with_image"), 2);
  EXPECT_EQ(report.at("thinned"), false);
  ASSERT_EQ(report.at("volumes").size(), 6u);
  EXPECT_EQ(report.at("volumes").at(3),
            json({{"case", "case_1"}, {"class", "one"}, {"voxels", kVoxelsOfOne}, {"ml", kVoxelsOfOne * kMl}}));
  EXPECT_THAT(report.at("missed").get<std::vector<std::string>>(), ElementsAre("no voxel of three in 2 of 2 cases"));
  EXPECT_EQ(page.at("cases").at(1).at("volumes").at(0).at("ml"), kVoxelsOfOne * kMl);
  EXPECT_EQ(page.at("slices").at("cases").size(), 2u);
  EXPECT_EQ(page.at("slices").at("cases").at(1).at("low"), 100) << "the image of the very case";
  const std::string html = Scene::bytes_of(scene.page());
  EXPECT_THAT(html, HasSubstr("show a face"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">case_1</th><td data-value=\"3.84\">3.84</td>"));
  EXPECT_THAT(html, HasSubstr("<li>no voxel of three in 2 of 2 cases</li>"));
  EXPECT_THAT(html, Not(HasSubstr(scene.path("").string()))) << "no path of the machine";
  for (const char* piece : {"http:", "https:", "src=", "@import", "url(", "fetch("})
    EXPECT_THAT(html, Not(HasSubstr(piece)));
}

TEST(PredictionSheet, WorksWithoutImagesAndWithThoseThatTheFolderLeadsTo) {
  SheetScene scene("sheet_images");
  EXPECT_EQ(scene.report().at("with_image"), 0);
  EXPECT_FALSE(scene.data().at("slices").at("cases").at(0).at("planes").at(0).contains("image"));
  write_case_names(scene.pred(), {{"case_0", {.name = "Doe^Jane", .files = {scene.image(0)}}},
                                  {"case_1", {.name = "Roe^John", .files = {scene.path("gone.nii")}}}});
  const json report = scene.report();
  EXPECT_EQ(report.at("with_image"), 1);
  EXPECT_EQ(scene.data().at("cases").at(1).at("image"), "E_READ") << "it costs itself";
  EXPECT_THAT(Scene::bytes_of(scene.page()), Not(HasSubstr("Doe")));
  EXPECT_THAT(Scene::bytes_of(scene.page()), Not(HasSubstr("gone")));
  EXPECT_EQ(scene.report(scene.image(1)).at("with_image"), 2) << "an image that is given wins";
}

TEST(PredictionSheet, AnImageOnAnotherGridIsNotShownUnderTheLabels) {
  SheetScene scene("sheet_grid", 1);
  Volume shifted = Scene::make_image(0);
  shifted.geometry.origin[0] += 1;
  write_volume(scene.image(0), shifted, DiskType::kI16);
  EXPECT_EQ(scene.report(scene.Scene::data() / "imagesTr").at("with_image"), 0);
  EXPECT_EQ(scene.data().at("cases").at(0).at("image"), "E_GEOMETRY");
  EXPECT_THAT(Scene::bytes_of(scene.page()), HasSubstr("Its image is not shown: E_GEOMETRY."));
}

TEST(PredictionSheet, ALabelMapThatCannotBeReadCostsItself) {
  SheetScene scene("sheet_torn");
  Scene::truncate(scene.pred() / "case_0.nii.gz");
  const TaskReport report = prediction_sheet({.predictions = scene.pred(), .file = scene.page()}, scene.progress);
  EXPECT_TRUE(report.partial);
  EXPECT_EQ(report.json.at("cases"), 1);
  EXPECT_EQ(report.json.at("failures").at(0).at("case"), "case_0");
  EXPECT_THAT(Scene::bytes_of(scene.page()), HasSubstr("left out, E_READ: 1"));
  Scene::truncate(scene.pred() / "case_1.nii.gz");
  std::filesystem::remove(scene.page());
  expect_error(ErrorKind::kNoCase, "none of the label maps", [&] { scene.report(); });
  expect_error(ErrorKind::kInput, "does not exist", [&] { scene.report(scene.path("nowhere")); });
  EXPECT_FALSE(std::filesystem::exists(scene.page()));
}

TEST(PredictionSheet, NamesOfFilesAreShownAndNeverMarkup) {
  SheetScene scene("sheet_hostile", 1);
  const std::string hostile = "<img onerror=alert(1)>";
  std::filesystem::rename(scene.pred() / "case_0.nii.gz", scene.pred() / (hostile + ".nii.gz"));
  write_class_names(scene.pred() / kClassNamesFile, {"background", "</script><b>", "two"});
  scene.report();
  const std::string html = Scene::bytes_of(scene.page());
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(html, HasSubstr("&lt;img onerror=alert(1)&gt;"));
}

}  // namespace
}  // namespace voxshard
