// Archives for tests, written by libarchive from lists of entries.
//
//   write_bytes(dir.path() / "a.zip", archive_bytes("zip", {{"study/1", bytes}, {.name = "l", .link_to = "/etc"}}));
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace voxshard {

struct PackedEntry {
  std::string name;
  std::string bytes = {};
  std::string link_to = {};       // of a symbolic link
  std::string hard_link_to = {};  // of another name of an entry
  bool is_device = false;
};

/// Returns an archive of a kind: zip, tar, tar.gz, tar.xz, tar.zst or tar.bz2. `password`: encrypts a zip.
inline std::string archive_bytes(const std::string& kind, const std::vector<PackedEntry>& entries,
                                 const std::string& password = "") {
  archive* out = archive_write_new();
  std::size_t most = 1 << 20;
  for (const PackedEntry& entry : entries) most += entry.bytes.size() + 4096;
  std::string bytes(most, '\0');
  std::size_t used = 0;
  const auto require = [&](int result) {
    if (result < ARCHIVE_WARN) throw std::runtime_error(archive_error_string(out));
  };
  require(kind == "zip" ? archive_write_set_format_zip(out) : archive_write_set_format_pax_restricted(out));
  if (kind == "tar.gz") require(archive_write_add_filter_gzip(out));
  if (kind == "tar.xz") require(archive_write_add_filter_xz(out));
  if (kind == "tar.zst") require(archive_write_add_filter_zstd(out));
  if (kind == "tar.bz2") require(archive_write_add_filter_bzip2(out));
  if (!password.empty()) {
    require(archive_write_set_options(out, "zip:encryption=traditional"));
    require(archive_write_set_passphrase(out, password.c_str()));
  }
  archive_write_set_bytes_in_last_block(out, 1);
  require(archive_write_open_memory(out, bytes.data(), bytes.size(), &used));
  for (const PackedEntry& item : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, item.name.c_str());
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_filetype(entry, item.is_device ? AE_IFCHR : item.link_to.empty() ? AE_IFREG : AE_IFLNK);
    if (!item.link_to.empty()) archive_entry_set_symlink(entry, item.link_to.c_str());
    if (!item.hard_link_to.empty()) archive_entry_set_hardlink(entry, item.hard_link_to.c_str());
    archive_entry_set_size(entry, static_cast<std::int64_t>(item.bytes.size()));
    require(archive_write_header(out, entry));
    if (!item.bytes.empty()) archive_write_data(out, item.bytes.data(), item.bytes.size());
    archive_entry_free(entry);
  }
  require(archive_write_close(out));
  archive_write_free(out);
  return bytes.substr(0, used);
}

}  // namespace voxshard
