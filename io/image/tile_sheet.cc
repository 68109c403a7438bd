// The drawing order is voxels, bands, outlines, then names and widths, so that nothing hides the texts.
#include "io/image/tile_sheet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "io/image/class_scalar.h"
#include "io/image/draw_caption.h"
#include "io/image/opencv_threads.h"
#include "io/image/overlay.h"

namespace voxshard {
namespace {

constexpr int kSheetFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr int kTileGapPx = 14, kLeastBandPx = 6, kMostFramePx = 48, kStripePx = 4;
constexpr double kOneViewPx = 1280, kOfThreePx = 560;  // longest axis of one view, of each of three
constexpr std::size_t kViewsOfARow = 3;
constexpr double kLeastAxisPx = 120, kMostVoxelPx = 40;
const cv::Scalar kSheetPaper(18, 18, 20), kSheetInk(230, 230, 230), kSheetFaint(165, 165, 165), kOutside(46, 46, 52);

/// Longest text: longer ones would make the sheet too wide to look at.
constexpr std::size_t kMostLetters = 200;

std::string shortened(std::string text) {
  text = printable_text(std::move(text));
  if (text.size() > kMostLetters) text.replace(kMostLetters - 3, std::string::npos, "...");
  return text;
}

/// Letters of one size; scale 1 is about 22 pixels high.
struct Letters {
  double scale;
  int line_px = 1;
  cv::Size size(const std::string& text) const {
    int below = 0;
    cv::Size box = cv::getTextSize(text, kSheetFont, scale, line_px, &below);
    box.height += below;
    return box;
  }
  /// Writes a text with its upper left corner at `at`.
  void write(cv::Mat& sheet, const std::string& text, cv::Point at, const cv::Scalar& colour) const {
    int below = 0;
    const cv::Size box = cv::getTextSize(text, kSheetFont, scale, line_px, &below);
    cv::putText(sheet, text, {at.x, at.y + box.height}, kSheetFont, scale, colour, line_px, cv::LINE_AA);
  }
};

/// Returns the pixels per voxel: a whole number, or one over a whole number.
double voxel_px(std::int64_t longest, double room) {
  const auto voxels = static_cast<double>(longest);
  return voxels <= room ? std::clamp(std::floor(room / voxels), 1.0, kMostVoxelPx) : 1 / std::ceil(voxels / room);
}

double stretched(std::int64_t extent, double px) {
  const auto voxels = static_cast<double>(extent);
  return voxels * px >= kLeastAxisPx ? px
                                     : std::max(px, std::clamp(std::ceil(kLeastAxisPx / voxels), 1.0, kMostVoxelPx));
}

cv::Rect pixels(const PlacedView& view, const Box& box) {
  const int y0 = view.y(box.begin[0]), y1 = view.y(box.end(0)), x0 = view.x(box.begin[1]), x1 = view.x(box.end(1));
  return {x0, std::min(y0, y1), x1 - x0, std::abs(y1 - y0)};
}

/// Returns the pixels of all that a tile holds; a band that is not empty is at least kLeastBandPx wide.
cv::Rect held_pixels(const PlacedView& view, const DrawnTile& tile) {
  const cv::Rect own = pixels(view, tile.own), held = pixels(view, tile.held);
  const auto band = [](bool any, int px) { return any ? std::max(px, kLeastBandPx) : 0; };
  const Box &o = tile.own, &h = tile.held;
  const bool first = h.begin[0]<o.begin[0], last = h.end(0)> o.end(0);
  const int above = band(view.upwards ? last : first, own.y - held.y);
  const int below = band(view.upwards ? first : last, held.br().y - own.br().y);
  const int before = band(h.begin[1] < o.begin[1], own.x - held.x);
  const int behind = band(h.end(1) > o.end(1), held.br().x - own.br().x);
  return {own.x - before, own.y - above, own.width + before + behind, own.height + above + below};
}

/// Draws stripes of the colour over the held area and a tint between them; outside of the view at half brightness.
void hatch(cv::Mat& sheet, const cv::Rect& held, const cv::Rect& own, const cv::Rect& view, int colour) {
  const auto rgb = class_colour(colour);
  const cv::Rect seen = held & cv::Rect(0, 0, sheet.cols, sheet.rows);
  const bool falls = colour % 2 == 0;
  for (int y = seen.y; y < seen.br().y; ++y)
    for (int x = seen.x; x < seen.br().x; ++x) {
      if (own.contains({x, y})) continue;
      auto& pixel = sheet.at<cv::Vec3b>(y, x);
      const bool stripe = ((falls ? x + y : x - y + 3 * sheet.rows) / kStripePx) % 2 == 0;
      for (int k = 0; k < 3; ++k) {
        const int ink = rgb[k] / (view.contains({x, y}) ? 1 : 2);
        pixel[k] = static_cast<std::uint8_t>(stripe ? ink : (3 * pixel[k] + ink) / 4);
      }
    }
}

/// Writes a text on a filled plate, centred at `at`, kept inside `room`; nothing is drawn where it does not fit.
void plate(cv::Mat& sheet, const std::string& text, cv::Point at, const cv::Rect& room, const Letters& letters,
           const cv::Scalar& ground, const cv::Scalar& ink) {
  const cv::Size size = letters.size(text);
  const int width = size.width + 6, height = size.height + 2;
  if (width > room.width || height > room.height) return;
  const int left = std::clamp(at.x - width / 2, room.x, room.br().x - width);
  const int top = std::clamp(at.y - height / 2, room.y, room.br().y - height);
  cv::rectangle(sheet, cv::Rect(left, top, width, height), ground, cv::FILLED);
  letters.write(sheet, text, {left + 3, top + 2}, ink);
}

cv::Scalar ink_on(const cv::Scalar& ground) {
  const double light = 0.299 * ground[0] + 0.587 * ground[1] + 0.114 * ground[2];  // luma of BT.601
  return light > 128 ? cv::Scalar(0, 0, 0) : cv::Scalar(255, 255, 255);
}

void name(cv::Mat& sheet, const PlacedView& view, const DrawnTile& tile, double scale) {
  cv::Rect own = pixels(view, tile.own);
  const cv::Scalar ground = class_scalar<cv::Scalar>(tile.colour);
  const std::string text = shortened(tile.name);
  for (const double letters : {0.62 * scale, 0.5, 0.38}) {
    const cv::Size size = Letters{letters, letters > 0.6 ? 2 : 1}.size(text);
    if (size.width + 10 > own.width || size.height + 6 > own.height) continue;
    plate(sheet, text, {own.x + own.width / 2, own.y + own.height / 2}, own, {letters, letters > 0.6 ? 2 : 1}, ground,
          ink_on(ground));
    return;
  }
}

/// Writes the widths of a tile's bands inside the view: of bands before the tile at a third of its side, of bands after
/// it at two thirds, so that the numbers of two neighbours do not overlap.
void widths(cv::Mat& sheet, const PlacedView& view, const DrawnTile& tile, double scale) {
  const cv::Rect own = pixels(view, tile.own),
                 whole(view.x(0), view.y(view.upwards ? view.rows : 0), view.x(view.columns) - view.x(0),
                       std::abs(view.y(view.rows) - view.y(0)));
  const cv::Rect held = held_pixels(view, tile);
  const Letters letters{0.42 * scale};
  const auto say = [&](std::int64_t voxels, cv::Point at) {
    if (voxels > 0)
      plate(sheet, std::to_string(voxels), at, whole, letters, class_scalar<cv::Scalar>(tile.colour),
            ink_on(class_scalar<cv::Scalar>(tile.colour)));
  };
  const bool rows_fit = own.width >= 56 && own.height >= 20 && (own.width >= 120 || own.height >= 40);
  const bool columns_fit = own.height >= 56 && own.width >= 20 && (own.height >= 120 || own.width >= 40);
  const auto inside = [](std::int64_t from, std::int64_t to, std::int64_t extent) {
    return std::clamp<std::int64_t>(to, 0, extent) - std::clamp<std::int64_t>(from, 0, extent);
  };
  const Box &o = tile.own, &h = tile.held;
  const auto row = [&](int y, bool before) { return cv::Point(own.x + own.width * (before ? 2 : 4) / 6, y); };
  const auto column = [&](int x, bool before) { return cv::Point(x, own.y + own.height * (before ? 2 : 4) / 6); };
  const int above = (held.y + own.y) / 2, below = (held.br().y + own.br().y) / 2;
  if (rows_fit) {
    say(inside(h.begin[0], o.begin[0], view.rows), row(view.upwards ? below : above, true));
    say(inside(o.end(0), h.end(0), view.rows), row(view.upwards ? above : below, false));
  }
  if (columns_fit) {
    say(inside(h.begin[1], o.begin[1], view.columns), column((held.x + own.x) / 2, true));
    say(inside(o.end(1), h.end(1), view.columns), column((held.br().x + own.br().x) / 2, false));
  }
}

void draw_view(cv::Mat& sheet, const TileView& view, const PlacedView& at, int frame, double scale) {
  const Box all = Box::whole({at.rows, at.columns});
  const cv::Rect place = pixels(at, all);
  cv::rectangle(sheet, cv::Rect(place.x - frame, place.y - frame, place.width + 2 * frame, place.height + 2 * frame),
                kOutside, cv::FILLED);
  const cv::Mat voxels(static_cast<int>(view.rgb.shape()[0]), static_cast<int>(view.rgb.shape()[1]), CV_8UC3,
                       view.rgb.data());
  cv::Mat image;
  cv::resize(voxels, image, place.size(), 0, 0,
             voxels.rows > place.height || voxels.cols > place.width ? cv::INTER_AREA : cv::INTER_NEAREST);
  if (view.upwards) cv::flip(image, image, 0);
  image.copyTo(sheet(place));
  cv::Mat framed = sheet(cv::Rect(place.x - frame, place.y - frame, place.width + 2 * frame, place.height + 2 * frame));
  const cv::Point shift(frame - place.x, frame - place.y);
  for (const DrawnTile& tile : view.tiles)
    hatch(framed, held_pixels(at, tile) + shift, pixels(at, tile.own) + shift, place + shift, tile.colour);
  for (const DrawnTile& tile : view.tiles) {
    const cv::Rect own = pixels(at, tile.own);
    const int thin = std::min(own.width, own.height), lines = thin < 24 ? 1 : thin < 80 ? 2 : 3;
    for (int in = 0; in < lines && thin > 2 * in; ++in)
      cv::rectangle(sheet, cv::Rect(own.x + in, own.y + in, own.width - 2 * in, own.height - 2 * in),
                    class_scalar<cv::Scalar>(tile.colour), 1);
  }
  for (const DrawnTile& tile : view.tiles) widths(sheet, at, tile, scale);
  for (const DrawnTile& tile : view.tiles) name(sheet, at, tile, scale);
}

/// Returns the width of the frame around a view: as wide as the widest band outside of it.
int frame_px(const TileView& view, const PlacedView& at) {
  const cv::Rect whole = pixels(at, Box::whole({at.rows, at.columns}));
  int most = 0;
  for (const DrawnTile& tile : view.tiles) {
    const cv::Rect held = held_pixels(at, tile);
    most = std::max({most, whole.x - held.x, whole.y - held.y, held.br().x - whole.br().x, held.br().y - whole.br().y});
  }
  return std::clamp(most + 2, 8, kMostFramePx);
}

}  // namespace

int PlacedView::y(std::int64_t edge) const {
  const std::int64_t from_top = upwards ? rows - edge : edge;
  return top + static_cast<int>(std::lround(static_cast<double>(from_top) * row_px));
}

int PlacedView::x(std::int64_t edge) const {
  return left + static_cast<int>(std::lround(static_cast<double>(edge) * column_px));
}

DrawnSheet draw_tiles(const TileSheet& sheet) {
  ensure(!sheet.views.empty(), "a sheet has a view");
  opencv_on_this_thread();
  std::int64_t longest = 1;
  for (const TileView& view : sheet.views) {
    ensure(view.rgb.dtype() == DType::kU8 && view.rgb.shape().axes() == 3 && view.rgb.shape()[2] == 3 &&
               view.rgb.count() > 0,
           "a view is (H, W, 3) u8");
    ensure(view.extent.axes() == 2 && element_count(view.extent) > 0, "a view has rows and columns");
    longest = std::max({longest, view.extent[0], view.extent[1]});
  }
  const double room = sheet.views.size() == 1 ? kOneViewPx : kOfThreePx;
  // a large image is shown small
  const double scale = sheet.views.size() == 1 && static_cast<double>(longest) > 300 ? 1.25 : 1;
  const double px = voxel_px(longest, room);
  const Letters heading{0.62 * scale}, text{0.48 * scale};
  const int line_height = text.size("Ag").height + 8;

  DrawnSheet drawn;
  std::vector<int> frames;
  int left = kTileGapPx, bottom = 0, widest = 0;
  int top = kTileGapPx + heading.size("Ag").height + 12;  // of a row of views
  for (const TileView& view : sheet.views) {
    if (!drawn.views.empty() && drawn.views.size() % kViewsOfARow == 0)
      left = kTileGapPx, top = bottom + line_height + 14;
    const std::int64_t rows = view.extent[0], columns = view.extent[1];
    PlacedView at{.rows = static_cast<int>(rows),
                  .columns = static_cast<int>(columns),
                  .row_px = stretched(rows, px),
                  .column_px = stretched(columns, px),
                  .upwards = view.upwards};
    frames.push_back(frame_px(view, at));
    at.left = left + frames.back(), at.top = top + frames.back();
    const cv::Rect place = pixels(at, Box::whole({rows, columns}));
    left += std::max(place.width + 2 * frames.back(), text.size(shortened(view.caption)).width) + kTileGapPx;
    bottom = std::max(bottom, place.br().y + frames.back()), widest = std::max(widest, left);
    drawn.views.push_back(at);
  }

  int width = std::max(widest, heading.size(shortened(sheet.title)).width + 2 * kTileGapPx), entry = 0;
  for (const std::string& line : sheet.lines)
    width = std::max(width, text.size(shortened(line)).width + 2 * kTileGapPx);
  for (const TileKey& key : sheet.key) entry = std::max(entry, text.size(shortened(key.text)).width + 44);
  width = std::max(width, entry + 2 * kTileGapPx);
  const int columns = entry > 0 ? std::max(1, (width - 2 * kTileGapPx) / entry) : 1;
  const int key_rows = (static_cast<int>(sheet.key.size()) + columns - 1) / columns;
  const int lines_top = bottom + line_height + 14,
            key_top = lines_top + static_cast<int>(sheet.lines.size()) * line_height + 6;
  cv::Mat paper(key_top + key_rows * line_height + kTileGapPx, width, CV_8UC3, kSheetPaper);

  heading.write(paper, shortened(sheet.title), {kTileGapPx, kTileGapPx}, kSheetInk);
  for (std::size_t i = 0; i < sheet.views.size(); ++i) {
    draw_view(paper, sheet.views[i], drawn.views[i], frames[i], scale);
    const int below =
        pixels(drawn.views[i], Box::whole({drawn.views[i].rows, drawn.views[i].columns})).br().y + frames[i];
    text.write(paper, shortened(sheet.views[i].caption), {drawn.views[i].left - frames[i], below + 6}, kSheetFaint);
  }
  for (std::size_t i = 0; i < sheet.lines.size(); ++i)
    text.write(paper, shortened(sheet.lines[i]), {kTileGapPx, lines_top + static_cast<int>(i) * line_height},
               kSheetInk);
  for (int i = 0; i < static_cast<int>(sheet.key.size()); ++i) {
    const TileKey& key = sheet.key[i];
    const cv::Point at(kTileGapPx + i / key_rows * entry,
                       key_top + i % key_rows * line_height);  // downwards, then to the right
    cv::rectangle(paper, cv::Rect(at.x, at.y, 16, line_height - 8), class_scalar<cv::Scalar>(key.colour), cv::FILLED);
    text.write(paper, shortened(key.text), {at.x + 24, at.y}, kSheetInk);
  }
  drawn.rgb = Tensor(DType::kU8, {paper.rows, paper.cols, 3});
  paper.copyTo(cv::Mat(paper.rows, paper.cols, CV_8UC3, drawn.rgb.data()));
  return drawn;
}

}  // namespace voxshard
