#include "libcore/graph/line_scanner.h"

#include <charconv>

namespace voxshard {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;
constexpr std::size_t kLongestText = std::size_t{1} << 28, kShown = 100;

}  // namespace

void LineScanner::skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }

bool LineScanner::done() {
  skip_blanks();
  return rest_.empty();
}

bool LineScanner::take(std::string_view token) {
  skip_blanks();
  if (!rest_.starts_with(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

void LineScanner::expect(std::string_view token) {
  if (!take(token)) fail("expected " + std::string(token));
}

void LineScanner::expect_end() {
  if (!done()) fail("expected nothing more, got " + std::string(rest_.substr(0, kShown)));
}

std::string_view LineScanner::word() {
  skip_blanks();
  const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r,"));
  if (word.empty()) fail("expected a word");
  rest_.remove_prefix(word.size());
  return word;
}

std::string_view LineScanner::key() {
  skip_blanks();
  const std::size_t length = rest_.find_first_of(" \t\r,=");
  if (length == std::string_view::npos || length == 0 || rest_[length] != '=') fail("expected name=value");
  const std::string_view key = rest_.substr(0, length);
  rest_.remove_prefix(length + 1);
  return key;
}

std::size_t LineScanner::one_of(std::span<const char* const> names, const char* what) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (take(names[i])) return i;
    list += (i > 0 ? ", " : "") + std::string(names[i]);
  }
  fail(std::string("expected ") + what + ": " + list);
}

template <class Number>
Number LineScanner::read(const char* what) {
  skip_blanks();
  Number value{};
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc()) fail(std::string("expected ") + what);
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::int64_t LineScanner::integer() {
  const auto value = read<std::int64_t>("a whole number");
  if (value > kLargest || value < -kLargest) fail("a number is too large");
  return value;
}

double LineScanner::number() { return read<double>("a number"); }

void LineScanner::add_axis(Dims& dims, std::int64_t extent) const {
  if (dims.axes() == kMaxAxes) fail("expected at most " + std::to_string(kMaxAxes) + " axes");
  if (extent < 0) fail("expected extents of at least 0");
  dims.push_back(extent);
  check_size(dims);
}

void LineScanner::check_size(const Dims& dims) const {
  double elements = 1;
  for (auto e : dims) elements *= static_cast<double>(std::max<std::int64_t>(1, e));
  if (elements > static_cast<double>(kLargest)) fail("the extents " + to_string(dims) + " are too large");
}

Dims LineScanner::dims() {
  Dims dims;
  if (take("scalar")) return dims;
  do add_axis(dims, integer());
  while (rest_.starts_with('x') && take("x"));
  return dims;
}

std::pair<std::int64_t, std::int64_t> LineScanner::interval() {
  const std::int64_t begin = integer();
  expect(":");
  const std::int64_t end = integer();
  if (end < begin) fail("expected an interval that ends where it begins or later");
  return {begin, end};
}

Box LineScanner::box() {
  Box box;
  expect("[");
  do {
    const auto [begin, end] = interval();
    add_axis(box.extent, end - begin);
    box.begin.push_back(begin);
  } while (take(","));
  expect("]");
  return box;
}

DType LineScanner::dtype() {
  for (DType type : {DType::kF32, DType::kBF16, DType::kF64, DType::kI32, DType::kU8})
    if (take(dtype_name(type))) return type;
  fail("expected a type: f32, bf16, f64, i32 or u8");
}

void LineScanner::fail(const std::string& what) const {
  const std::string shown(text_.substr(0, kShown));
  throw Error(ErrorKind::kConfig, "[text] line " + std::to_string(number_) + ": " + what + ": " + shown);
}

std::vector<LineScanner> lines_of(std::string_view text) {
  if (text.size() > kLongestText) throw Error(ErrorKind::kConfig, "[text] expected at most 2^28 characters");
  std::vector<LineScanner> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    LineScanner line(text.substr(0, length), number);
    if (!line.done() && !line.take("#")) lines.push_back(line);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines;
}

}  // namespace voxshard
