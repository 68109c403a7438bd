// The layout of a sheet: one block per case with a caption line and three square tiles (axial, coronal, sagittal), then
// a legend. Volumes are reoriented to LPS first, so that rows of an axial slice run to the back and columns to the
// patient's left. All three tiles of a case have the same millimetres per pixel.
//
//   write_rgb("overlay.png", overlay_sheet(cases, {.label_names = names}));
#include "io/image/overlay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <opencv2/imgproc.hpp>

#include "io/image/class_scalar.h"
#include "io/image/opencv_threads.h"
#include "io/resampling/resample.h"

namespace voxshard {
namespace {

constexpr int kCaptionPx = 26, kGapPx = 6, kLegendRowPx = 24, kCasesPerRow = 2;
const cv::Scalar kPaper(18, 18, 20), kInk(225, 225, 225), kFaint(150, 150, 150);

/// Returns the slice orthogonal to `axis` (0 z, 1 y, 2 x of the LPS tensor) at `index`; coronal and sagittal: head on
/// top.
template <class T>
cv::Mat slice(const Tensor& t, int axis, std::int64_t index, int type) {
  const Shape s = t.shape();
  const int row_axis = axis == 0 ? 1 : 0, column_axis = axis == 2 ? 1 : 2;
  const Dims strides = dense_strides(s);
  cv::Mat canvas(static_cast<int>(s[row_axis]), static_cast<int>(s[column_axis]), type);
  for (int r = 0; r < canvas.rows; ++r) {
    const std::int64_t from = row_axis == 0 ? s[0] - 1 - r : r;
    for (int c = 0; c < canvas.cols; ++c)
      canvas.at<T>(r, c) = t.as<T>()[index * strides[axis] + from * strides[row_axis] + c * strides[column_axis]];
  }
  return canvas;
}

/// Returns the slice index per axis: the centre of mass of all labels, rounded; the middle slice without labels.
std::array<std::int64_t, 3> centre_of(const Volume* label, const Shape& shape) {
  std::array<std::int64_t, 3> middle{shape[0] / 2, shape[1] / 2, shape[2] / 2};
  if (!label) return middle;
  std::array<double, 3> sum{};
  double count = 0;
  const std::int32_t* v = label->voxels.as<std::int32_t>();
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x)
        if (*v++ > 0)
          sum[0] += static_cast<double>(z), sum[1] += static_cast<double>(y), sum[2] += static_cast<double>(x),
              count += 1;
  if (count == 0) return middle;
  return {std::llround(sum[0] / count), std::llround(sum[1] / count), std::llround(sum[2] / count)};
}

/// The labels in a slice and, for each, its mask with smooth edges at the size of the tile.
std::map<int, cv::Mat> masks_of(const cv::Mat& labels, cv::Size size) {
  std::map<int, cv::Mat> masks;
  for (int r = 0; r < labels.rows; ++r)
    for (int c = 0; c < labels.cols; ++c) {
      const int label = labels.at<std::int32_t>(r, c);
      if (label <= 0) continue;
      cv::Mat& mask = masks[label];
      if (mask.empty()) mask = cv::Mat::zeros(labels.size(), CV_8U);
      mask.at<std::uint8_t>(r, c) = 255;
    }
  for (auto& [label, mask] : masks) {
    cv::resize(mask, mask, size, 0, 0, cv::INTER_LINEAR);
    cv::threshold(mask, mask, 127, 255, cv::THRESH_BINARY);
  }
  return masks;
}

void fill(cv::Mat& canvas, const cv::Mat& mask, int label, double opacity) {
  const auto colour = class_colour(label);
  for (int r = 0; r < canvas.rows; ++r)
    for (int c = 0; c < canvas.cols; ++c) {
      if (!mask.at<std::uint8_t>(r, c)) continue;
      auto& pixel = canvas.at<cv::Vec3b>(r, c);
      for (int k = 0; k < 3; ++k)
        pixel[k] = static_cast<std::uint8_t>(std::lround((1 - opacity) * pixel[k] + opacity * colour[k]));
    }
}

void outline(cv::Mat& canvas, const cv::Mat& mask, int label) {
  std::vector<std::vector<cv::Point>> contours;
  cv::findContours(mask, contours, cv::RETR_LIST, cv::CHAIN_APPROX_NONE);
  cv::drawContours(canvas, contours, -1, class_scalar<cv::Scalar>(label), 1, cv::LINE_AA);
}

void text(cv::Mat& sheet, const std::string& words, cv::Point at, double scale, const cv::Scalar& colour) {
  cv::putText(sheet, words, at, cv::FONT_HERSHEY_SIMPLEX, scale, colour, 1, cv::LINE_AA);
}

cv::Mat windowed(const cv::Mat& slice_hu) {
  constexpr double kLowHu = -160, kHighHu = 240, kWidth = kHighHu - kLowHu;  // a soft tissue window
  cv::Mat grey, canvas;
  slice_hu.convertTo(grey, CV_8U, 255 / kWidth, -kLowHu * 255 / kWidth);
  cv::cvtColor(grey, canvas, cv::COLOR_GRAY2RGB);
  return canvas;
}

/// One case, reoriented to LPS and cropped to the body.
struct Scene {
  Volume image;
  Volume reference, prediction;  // empty tensors when not given
  Dims first;                    // voxels cropped before the first one, (D, H, W)
};

/// Returns the bounding box of all voxels denser than air (above -500 HU) or labelled; the whole volume when there are
/// none.
Box body_box(const Scene& scene) {
  const Shape shape = scene.image.voxels.shape();
  Dims low = shape, high = Dims::filled(3, 0);
  std::int64_t i = 0;
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x, ++i) {
        bool seen = scene.image.voxels.as<float>()[i] > -500;
        for (const Volume* label : {&scene.reference, &scene.prediction})
          seen = seen || (!label->voxels.empty() && label->voxels.as<std::int32_t>()[i] > 0);
        if (!seen) continue;
        const std::int64_t at[] = {z, y, x};
        for (int a = 0; a < 3; ++a) low[a] = std::min(low[a], at[a]), high[a] = std::max(high[a], at[a] + 1);
      }
  Box box = Box::whole(shape);
  for (int a = 0; a < 3; ++a)
    if (low[a] < high[a]) box.set(a, std::max<std::int64_t>(0, low[a] - 2), std::min(shape[a], high[a] + 2));
  return box;
}

void crop(Volume& v, const Box& box) {
  if (v.voxels.empty()) return;
  Tensor part(v.voxels.dtype(), box.extent);
  copy(v.voxels.view(), dense_view(part.data(), part.dtype(), box));
  v.voxels = std::move(part);
  const auto at = [&](int a) { return static_cast<double>(box.begin[a]); };
  v.geometry.origin = v.geometry.world({at(2), at(1), at(0)});
  v.geometry.size = {box.extent[2], box.extent[1], box.extent[0]};
}

Volume on_grid(const Volume* label, const Volume& image) {
  if (!label) return {};
  if (label->voxels.shape() != image.voxels.shape() || !same_geometry(label->geometry, image.geometry, 1e-2))
    throw Error(ErrorKind::kConfig, "[overlay] a label map is not on its image's grid; resample it first");
  return reorient(*label, "LPS");
}

Scene scene_of(const OverlayCase& one) {
  if (!one.image) throw Error(ErrorKind::kConfig, "[overlay] a case has no image");
  Scene scene{reorient(*one.image, "LPS"), on_grid(one.reference, *one.image), on_grid(one.prediction, *one.image), {}};
  const Box box = body_box(scene);
  for (Volume* v : {&scene.image, &scene.reference, &scene.prediction}) crop(*v, box);
  scene.first = box.begin;
  return scene;
}

/// The tile of one view, `side` pixels square.
cv::Mat tile(const Scene& scene, int axis, std::int64_t index, double mm_per_px, int side, const OverlayOptions& o) {
  const auto& spacing = scene.image.geometry.spacing;
  const double row_mm = axis == 0 ? spacing[1] : spacing[2], column_mm = axis == 2 ? spacing[1] : spacing[0];
  cv::Mat grey = slice<float>(scene.image.voxels, axis, index, CV_32F);
  auto pixels = [&](int count, double mm) {
    return std::clamp(static_cast<int>(std::lround(count * mm / mm_per_px)), 1, side);
  };
  const cv::Size size(pixels(grey.cols, column_mm), pixels(grey.rows, row_mm));
  cv::resize(grey, grey, size, 0, 0, cv::INTER_LINEAR);
  cv::Mat canvas = windowed(grey);
  if (!scene.prediction.voxels.empty())
    for (const auto& [label, mask] : masks_of(slice<std::int32_t>(scene.prediction.voxels, axis, index, CV_32S), size))
      fill(canvas, mask, label, o.fill_opacity);
  if (!scene.reference.voxels.empty())
    for (const auto& [label, mask] : masks_of(slice<std::int32_t>(scene.reference.voxels, axis, index, CV_32S), size))
      outline(canvas, mask, label);
  cv::Mat square(side, side, CV_8UC3, cv::Scalar(0, 0, 0));
  canvas.copyTo(square(cv::Rect((side - size.width) / 2, (side - size.height) / 2, size.width, size.height)));
  constexpr const char* kViews[] = {"axial", "coronal", "sagittal"};
  text(square, std::string(kViews[axis]) + " " + std::to_string(scene.first[axis] + index + 1), {6, side - 8}, 0.38,
       kFaint);
  text(square, axis == 2 ? "A" : "R", {6, side / 2}, 0.42, kFaint);
  text(square, axis == 2 ? "P" : "L", {side - 16, side / 2}, 0.42, kFaint);
  return square;
}

void draw_case(cv::Mat& sheet, cv::Point at, const OverlayCase& one, const OverlayOptions& o,
               std::map<int, bool>& shown) {
  const Scene scene = scene_of(one);
  const Volume* aim = !scene.reference.voxels.empty()    ? &scene.reference
                      : !scene.prediction.voxels.empty() ? &scene.prediction
                                                         : nullptr;
  const auto centre = centre_of(aim, scene.image.voxels.shape());
  double longest_mm = 0;
  for (int a = 0; a < 3; ++a)
    longest_mm =
        std::max(longest_mm, static_cast<double>(scene.image.geometry.size[a]) * scene.image.geometry.spacing[a]);
  for (const Volume* label : {&scene.reference, &scene.prediction})
    for (std::int64_t i = 0; i < label->voxels.count() && !label->voxels.empty(); ++i)
      if (const int k = label->voxels.as<std::int32_t>()[i]; k > 0) shown[k] = true;
  text(sheet, one.caption, {at.x + 2, at.y + 18}, 0.5, kInk);
  for (int axis = 0; axis < 3; ++axis) {
    const cv::Rect place(at.x + axis * (o.tile_px + 2), at.y + kCaptionPx, o.tile_px, o.tile_px);
    tile(scene, axis, centre[axis], longest_mm / o.tile_px, o.tile_px, o).copyTo(sheet(place));
  }
}

/// The classes that occur, as coloured squares with their names.
cv::Mat legend(int width, const std::map<int, bool>& shown, const OverlayOptions& o) {
  const int per_row = std::max(1, width / 170);
  const int rows = (static_cast<int>(shown.size()) + per_row - 1) / per_row;
  cv::Mat strip(rows * kLegendRowPx + kLegendRowPx, width, CV_8UC3, kPaper);
  int at = 0;
  for (const auto& [label, unused] : shown) {
    const cv::Point corner(8 + at % per_row * 170, at / per_row * kLegendRowPx + 5);
    cv::rectangle(strip, cv::Rect(corner, cv::Size(14, 14)), class_scalar<cv::Scalar>(label), cv::FILLED);
    const auto k = static_cast<std::size_t>(label);
    const std::string name = k < o.label_names.size() ? o.label_names[k] : "class " + std::to_string(label);
    text(strip, name.substr(0, 18), {corner.x + 20, corner.y + 12}, 0.45, kInk);
    ++at;
  }
  text(strip, o.marks, {8, rows * kLegendRowPx + 16}, 0.42, kFaint);
  return strip;
}

}  // namespace

std::array<std::uint8_t, 3> class_colour(int label) {
  // Twelve hues that are distinct on grey; paired organs (3 and 4 in many data sets) have very different ones.
  constexpr std::uint8_t kTable[12][3] = {{230, 70, 70},   {70, 150, 255}, {255, 200, 40},  {60, 200, 110},
                                          {200, 110, 255}, {255, 140, 40}, {60, 215, 215},  {255, 120, 190},
                                          {170, 220, 60},  {150, 120, 80}, {120, 120, 255}, {245, 235, 170}};
  if (label <= 0) return {0, 0, 0};
  const auto* row = kTable[(label - 1) % 12];
  const double shade = std::pow(0.72, (label - 1) / 12 % 3);
  auto channel = [&](int k) { return static_cast<std::uint8_t>(std::lround(row[k] * shade)); };
  return {channel(0), channel(1), channel(2)};
}

Tensor overlay_sheet(const std::vector<OverlayCase>& cases, const OverlayOptions& o) {
  opencv_on_this_thread();
  if (cases.empty()) throw Error(ErrorKind::kConfig, "[overlay] no case to draw");
  const int per_row = std::min(kCasesPerRow, static_cast<int>(cases.size()));
  const int rows = (static_cast<int>(cases.size()) + per_row - 1) / per_row;
  const int block_width = 3 * o.tile_px + 4, block_height = kCaptionPx + o.tile_px;
  cv::Mat sheet(rows * (block_height + kGapPx) + kGapPx, per_row * (block_width + 2 * kGapPx), CV_8UC3, kPaper);
  std::map<int, bool> shown;
  for (int i = 0; i < static_cast<int>(cases.size()); ++i) {
    const cv::Point at(kGapPx + i % per_row * (block_width + 2 * kGapPx),
                       kGapPx + i / per_row * (block_height + kGapPx));
    draw_case(sheet, at, cases[i], o, shown);
  }
  if (!o.label_names.empty() && !shown.empty()) cv::vconcat(sheet, legend(sheet.cols, shown, o), sheet);
  Tensor rgb(DType::kU8, {sheet.rows, sheet.cols, 3});
  sheet.copyTo(cv::Mat(sheet.rows, sheet.cols, CV_8UC3, rgb.data()));
  return rgb;
}

}  // namespace voxshard
