// Reads values from a parsed DICOM data set, for the sources of io/dicom and io/dicom_out only. Values from outside are
// bounded here, once. Callers include <dcmtk/dcmdata/dctk.h> for the names of tags.
//
//   const OpenDicom open = open_dicom(path, 4096);
//   const DicomValues v(*open.file->getDataset());
//   v.text(DCM_Modality)                              // "CT"
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

class DcmElement;
class DcmItem;
class DcmSequenceOfItems;
class DcmTagKey;

namespace voxshard {

/// Bytes of a value that is parsed; UIDs have 64, names 64 a part.
inline constexpr std::uint32_t kMostDicomText = 1024;

/// Larger numbers, and NaN, count as missing: no place (mm) or factor needs them, and grids are counted from quotients.
inline constexpr double kMostDicomNumber = 1e9;

/// The one UID among those that were added; an empty one counts as none.
class OneUid {
 public:
  void add(const std::string& uid) {
    several_ = several_ || (!uid.empty() && !uid_.empty() && uid != uid_);
    if (uid_.empty()) uid_ = uid;
  }
  std::string get() const { return several_ ? "" : uid_; }

 private:
  std::string uid_;
  bool several_ = false;
};

/// Reads values of a data set, which may be a nested one. Values that are missing or malformed are empty.
class DicomValues {
 public:
  explicit DicomValues(DcmItem& set) : set_(&set) {}

  /// Returns the text of an element without the padding around it.
  std::string text(const DcmTagKey& tag) const;

  /// Returns the text of an element in UTF-8, without characters that control a terminal.
  ///   character_set  of the file; the data set may name its own
  std::string name(const DcmTagKey& tag, const std::string& character_set) const;

  /// Calls body(text) with a value of at most `most_bytes`, which is not kept. Returns false for a longer one. A text
  /// of more than 64 KiB has the type UN in explicit files, and is one nevertheless.
  bool in_long_text(const DcmTagKey& tag, std::uint32_t most_bytes,
                    const std::function<void(std::string_view text)>& body) const;

  /// Returns one of the values of a text, which backslashes separate.
  std::string part(const DcmTagKey& tag, std::size_t index) const;

  /// Returns the decimal numbers of a text; none unless there are exactly N, of at most `most`.
  template <std::size_t N>
  std::optional<std::array<double, N>> numbers(const DcmTagKey& tag, double most = kMostDicomNumber) const {
    const std::string all = text(tag);
    std::array<double, N> found{};
    const char *at = all.data(), *end = all.data() + all.size();
    for (std::size_t i = 0; i < N; ++i) {
      while (at < end && (*at == ' ' || *at == '+')) ++at;
      const auto [after, error] = std::from_chars(at, end, found[i]);
      if (error != std::errc() || !(std::abs(found[i]) <= most)) return std::nullopt;
      for (at = after; at < end && *at == ' ';) ++at;
      const bool last = i + 1 == N;
      if (last ? at != end : at == end || *at++ != '\\') return std::nullopt;
    }
    return found;
  }
  std::optional<double> number(const DcmTagKey& tag, double most = kMostDicomNumber) const {
    const auto found = numbers<1>(tag, most);
    return found ? std::optional((*found)[0]) : std::nullopt;
  }

  /// Returns an unsigned number of 16 bits; 0 without one.
  std::int64_t small_number(const DcmTagKey& tag) const;

  /// Returns a number of 16 bits that is meant as a stored value, with the sign of the pixels: some files mistake the
  /// type, US for SS, but not the bits. None without one.
  std::optional<std::int64_t> stored_value(const DcmTagKey& tag, bool is_signed) const;

  bool has_sequence(const DcmTagKey& tag) const { return items(tag) != nullptr; }
  /// Calls body with each item of a sequence, until it returns false.
  void in_each_item(const DcmTagKey& tag, const std::function<bool(const DicomValues& item)>& body) const;
  /// Calls body with the first item of a sequence, if there is one.
  void in_first_item(const DcmTagKey& tag, const std::function<void(const DicomValues& item)>& body) const;
  /// Returns the UID that the items of a sequence name; empty when they name none, or several.
  std::string only_uid(const DcmTagKey& sequence, const DcmTagKey& tag) const;

 private:
  DcmElement* small_element(const DcmTagKey& tag) const;
  DcmSequenceOfItems* items(const DcmTagKey& tag) const;
  DcmItem* set_;
};

}  // namespace voxshard
