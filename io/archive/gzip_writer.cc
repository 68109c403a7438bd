#include "io/archive/gzip_writer.h"

#include <libdeflate.h>

#include <algorithm>
#include <new>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr int kLevel = 6;  // as gzip and nibabel pack unless told otherwise

}  // namespace

struct GzipWriter::Compressor {
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> state{
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor};
};

GzipWriter::GzipWriter(std::ostream& out) : out_(out), compressor_(std::make_unique<Compressor>()) {
  if (compressor_->state == nullptr) throw std::bad_alloc();
  member_.reserve(kMemberBytes);
  packed_.resize(libdeflate_gzip_compress_bound(compressor_->state.get(), kMemberBytes));
}
GzipWriter::~GzipWriter() = default;

void GzipWriter::write(const char* bytes, std::int64_t count) {
  while (count > 0) {
    const std::int64_t taken = std::min(count, kMemberBytes - static_cast<std::int64_t>(member_.size()));
    member_.insert(member_.end(), bytes, bytes + taken);
    bytes += taken, count -= taken;
    if (static_cast<std::int64_t>(member_.size()) == kMemberBytes) write_member();
  }
}

void GzipWriter::finish() {
  if (!member_.empty() || !any_) write_member();
}

void GzipWriter::write_member() {
  const std::size_t bytes = libdeflate_gzip_compress(compressor_->state.get(), member_.data(), member_.size(),
                                                     packed_.data(), packed_.size());
  ensure(bytes > 0, "a packed member fits into the bound of its size");
  out_.write(packed_.data(), static_cast<std::streamsize>(bytes));
  member_.clear();
  any_ = true;
}

}  // namespace voxshard
