#include "io/dicom/dicom_values.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include <algorithm>

#include "io/dicom/dicom_text.h"

namespace voxshard {

std::string DicomValues::text(const DcmTagKey& tag) const {
  DcmElement* element = small_element(tag);
  OFString value;
  if (element == nullptr || element->getOFStringArray(value).bad()) return {};
  std::string text(value.c_str());
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::string DicomValues::name(const DcmTagKey& tag, const std::string& character_set) const {
  const std::string own = text(DCM_SpecificCharacterSet);
  return plain_dicom_text(text(tag), own.empty() ? character_set : own);
}

bool DicomValues::in_long_text(const DcmTagKey& tag, std::uint32_t most_bytes,
                               const std::function<void(std::string_view text)>& body) const {
  DcmElement* element = nullptr;
  if (set_->findAndGetElement(tag, element).bad()) return true;
  const std::uint32_t bytes = element->getLengthField();
  if (bytes > most_bytes) return false;
  char* text = nullptr;
  Uint8* unknown = nullptr;
  if (element->getString(text).good() && text != nullptr)
    body(std::string_view(text));
  else if (element->getUint8Array(unknown).good() && unknown != nullptr)
    body(std::string_view(reinterpret_cast<const char*>(unknown), bytes));
  element->compact();
  return true;
}

std::string DicomValues::part(const DcmTagKey& tag, std::size_t index) const {
  const std::string all = text(tag);
  std::size_t begin = 0;
  for (; index > 0 && begin != std::string::npos; --index) {
    begin = all.find('\\', begin);
    if (begin != std::string::npos) ++begin;
  }
  return begin == std::string::npos ? "" : all.substr(begin, all.find('\\', begin) - begin);
}

std::int64_t DicomValues::small_number(const DcmTagKey& tag) const {
  DcmElement* element = small_element(tag);
  Uint16 number = 0;
  return element != nullptr && element->getUint16(number).good() ? number : 0;
}

std::optional<std::int64_t> DicomValues::stored_value(const DcmTagKey& tag, bool is_signed) const {
  DcmElement* element = small_element(tag);
  Uint16 bits = 0;
  Sint16 number = 0;
  if (element == nullptr) return std::nullopt;
  if (element->getSint16(number).good())
    bits = static_cast<Uint16>(number);
  else if (element->getUint16(bits).bad())
    return std::nullopt;
  return is_signed ? std::int64_t{static_cast<Sint16>(bits)} : std::int64_t{bits};
}

void DicomValues::in_each_item(const DcmTagKey& tag, const std::function<bool(const DicomValues& item)>& body) const {
  DcmSequenceOfItems* sequence = items(tag);
  if (sequence == nullptr) return;
  // Items are a list: next to next, not by number.
  DcmObject* item = sequence->nextInContainer(nullptr);
  while (item != nullptr && body(DicomValues(*static_cast<DcmItem*>(item)))) item = sequence->nextInContainer(item);
}

void DicomValues::in_first_item(const DcmTagKey& tag, const std::function<void(const DicomValues& item)>& body) const {
  in_each_item(tag, [&](const DicomValues& item) {
    body(item);
    return false;
  });
}

std::string DicomValues::only_uid(const DcmTagKey& sequence, const DcmTagKey& tag) const {
  OneUid found;
  in_each_item(sequence, [&](const DicomValues& item) {
    found.add(item.text(tag));
    return true;
  });
  return found.get();
}

/// Returns an element whose value is small; null without one. The length is the one in the file: DCMTK's getLength()
/// would load the value first, and a damaged file may promise 4 GB.
DcmElement* DicomValues::small_element(const DcmTagKey& tag) const {
  DcmElement* element = nullptr;
  const bool found = set_->findAndGetElement(tag, element).good() && element->getLengthField() <= kMostDicomText;
  return found ? element : nullptr;
}

/// Returns the items of a sequence; null when there is none.
DcmSequenceOfItems* DicomValues::items(const DcmTagKey& tag) const {
  DcmSequenceOfItems* sequence = nullptr;
  return set_->findAndGetSequence(tag, sequence).good() ? sequence : nullptr;
}

}  // namespace voxshard
