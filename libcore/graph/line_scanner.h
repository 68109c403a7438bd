// Reads one line of a text form word by word: names, numbers, extents, boxes. Errors are kConfig and quote the line
// with its number. Used by the parsers of graphs and programs.
//
//   LineScanner line("%2 sum = add %0, %1 : f32[4x2]", 7);
//   line.expect("%"); line.integer(); line.word();      // 2, "sum"
//   line.fail("expected =");                            // [text] line 7: expected =: %2 sum = ...
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/tensor/box.h"
#include "libcore/tensor/dtype.h"

namespace voxshard {

class LineScanner {
 public:
  LineScanner(std::string_view text, int number) : text_(text), rest_(text), number_(number) {}

  /// True when nothing but blanks is left.
  bool done();
  /// Skips `token` and returns true when it comes next, after blanks.
  bool take(std::string_view token);
  /// The functions below throw kConfig when something else comes next or a number is out of range.
  void expect(std::string_view token);
  void expect_end();
  std::string_view word();                                                   // up to the next blank or comma
  std::string_view key();                                                    // the key of "key=", both skipped
  std::size_t one_of(std::span<const char* const> names, const char* what);  // index into the names
  std::int64_t integer();                                                    // within +-2^40
  double number();                                                           // as std::to_chars writes it
  Dims dims();                                                               // "1x48x40"; "scalar" for none
  Box box();                                                                 // "[0:1, -1:25]"
  std::pair<std::int64_t, std::int64_t> interval();                          // "0:4"
  DType dtype();
  void check_size(const Dims& extents) const;  // at most 2^40 elements

  [[noreturn]] void fail(const std::string& what) const;

 private:
  void skip_blanks();
  void add_axis(Dims& dims, std::int64_t extent) const;
  template <class Number>
  Number read(const char* what);

  std::string_view text_, rest_;
  int number_;
};

/// The lines of a text form, without blank ones and comments ("# ..."), with their numbers. Errors: kConfig for a text
/// of more than 2^28 characters.
std::vector<LineScanner> lines_of(std::string_view text);

}  // namespace voxshard
