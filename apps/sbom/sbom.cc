#include "apps/sbom/sbom.h"

#include <voxshard_linked.h>  // made by the build

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/sbom/licences.h"
#include "io/audit/sha256.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUnknown = "NOASSERTION";
constexpr const char* kProgramId = "SPDXRef-voxshard";

std::vector<std::string> blank_separated(const char* text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string joined_by_blanks(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Identifiers of SPDX have letters, digits, "." and "-".
std::string spdx_id(const std::string& package) {
  std::string id = "SPDXRef-Package-";
  for (const char c : package) id += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '-';
  return id;
}

/// Percent-encodes a part of a package URL.
std::string url_part(const std::string& text) {
  std::string part;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '.' || c == '-' || c == '_' || c == '~')
      part += c;
    else
      part += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
  }
  return part;
}

/// "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=amd64".
std::string package_url(const ThirdParty& one) {
  return "pkg:deb/" + url_part(kLinkedVendor) + "/" + url_part(one.package) + "@" + url_part(one.version) +
         "?arch=" + url_part(one.architecture);
}

Json package_json(const ThirdParty& one) {
  Json json = {{"name", one.package}, {"SPDXID", spdx_id(one.package)}};
  if (!one.version.empty()) json["versionInfo"] = one.version;
  json["downloadLocation"] = kUnknown;
  json["filesAnalyzed"] = false;
  json["licenseConcluded"] = kUnknown;
  json["licenseDeclared"] = one.licence;
  json["copyrightText"] = kUnknown;
  json["primaryPackagePurpose"] = "LIBRARY";
  if (!one.version.empty()) {
    json["sourceInfo"] = "Debian source package " + one.source + " " + one.source_version;
    json["externalRefs"] = Json::array({{{"referenceCategory", "PACKAGE-MANAGER"},
                                         {"referenceType", "purl"},
                                         {"referenceLocator", package_url(one)}}});
  }
  std::vector<std::string> names = one.linked;
  names.insert(names.end(), one.loaded.begin(), one.loaded.end());
  json["comment"] = one.compiled_in ? "compiled in from headers" : "libraries: " + joined_by_blanks(names);
  return json;
}

Json relationship(const std::string& from, const char* type, const std::string& to) {
  return {{"spdxElementId", from}, {"relationshipType", type}, {"relatedSpdxElement", to}};
}

}  // namespace

std::vector<ThirdParty> third_party() {
  std::vector<ThirdParty> all;
  for (const LinkedPackage& row : kLinkedPackages) {
    const auto known = library_row(row.source);
    ThirdParty one{.package = row.package,
                   .version = row.version,
                   .source = row.source,
                   .source_version = row.source_version,
                   .architecture = row.architecture,
                   .licence = known ? known->licence : spdx_of_debian(row.licence).value_or(kUnknown),
                   .use = {},
                   .linked = blank_separated(row.linked),
                   .loaded = blank_separated(row.loaded),
                   .compiled_in = row.compiled_in};
    if (known && one.direct()) one.use = known->use;
    all.push_back(std::move(one));
  }
  std::ranges::stable_sort(all, [](const ThirdParty& a, const ThirdParty& b) {
    return a.direct() != b.direct() ? a.direct() : a.package < b.package;
  });
  return all;
}

nlohmann::ordered_json spdx_document() {
  const std::string name = std::string("voxshard-") + VOXSHARD_VERSION;
  Json document = {
      {"spdxVersion", "SPDX-2.3"},
      {"dataLicense", "CC0-1.0"},
      {"SPDXID", "SPDXRef-DOCUMENT"},
      {"name", name},
      {"documentNamespace", ""},
      {"creationInfo", {{"created", kLinkedCreated}, {"creators", {"Tool: " + name}}}},
      {"comment",
       "Packages are those of the system that linked the program: DYNAMIC_LINK is linked, or loaded by the program "
       "itself, STATIC_LINK is compiled in from headers, DEPENDS_ON is loaded by one of those. Plugins that libraries "
       "open while they run are "
       "not listed. Licences of what the program links are those of the parts that it takes; of the rest they are what "
       "the copyright file of the package says of its files in general, where that has a name in the list of SPDX."},
      {"packages", Json::array({{{"name", "voxshard"},
                                 {"SPDXID", kProgramId},
                                 {"versionInfo", VOXSHARD_VERSION},
                                 {"downloadLocation", kUnknown},
                                 {"filesAnalyzed", false},
                                 {"licenseConcluded", "Apache-2.0"},
                                 {"licenseDeclared", "Apache-2.0"},
                                 {"copyrightText", kUnknown},
                                 {"primaryPackagePurpose", "APPLICATION"}}})},
      {"relationships", Json::array({relationship("SPDXRef-DOCUMENT", "DESCRIBES", kProgramId)})},
      {"hasExtractedLicensingInfos", Json::array()}};
  for (const ThirdParty& one : third_party()) {
    document["packages"].push_back(package_json(one));
    document["relationships"].push_back(relationship(kProgramId,
                                                     one.compiled_in       ? "STATIC_LINK"
                                                     : !one.linked.empty() ? "DYNAMIC_LINK"
                                                                           : "DEPENDS_ON",
                                                     spdx_id(one.package)));
    if (one.licence == kOwnLicence && document["hasExtractedLicensingInfos"].empty())
      document["hasExtractedLicensingInfos"].push_back(
          {{"licenseId", kOwnLicence}, {"name", "liblzma"}, {"extractedText", kOwnLicenceText}});
  }
  document["documentNamespace"] = "https://spdx.org/spdxdocs/" + name + "-" + sha256(document.dump());
  return document;
}

}  // namespace voxshard
