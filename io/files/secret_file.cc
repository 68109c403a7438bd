#include "io/files/secret_file.h"

#include <nettle/base16.h>
#include <nettle/hmac.h>

#include <array>
#include <cstdint>
#include <system_error>

#include "io/files/open_file.h"
#include "libcore/base/error.h"

namespace voxshard {

Secret read_secret(const std::filesystem::path& path, const std::string& option) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::kUsage, "[usage] " + option + " " + path.string() + " " + what + "; give a file of " +
                                       std::to_string(kLeastSecretBytes) + " to " + std::to_string(kMostSecretBytes) +
                                       " bytes, such as `head -c 32 /dev/urandom` writes");
  };
  InputFile in(path);
  if (!in) refuse(in.problem());
  Secret secret{.bytes = std::string(kMostSecretBytes + 1, '\0')};
  in.read(secret.bytes.data(), static_cast<std::streamsize>(secret.bytes.size()));
  secret.bytes.resize(in.gcount());
  if (secret.bytes.size() < kLeastSecretBytes || secret.bytes.size() > kMostSecretBytes)
    refuse("has " + (secret.bytes.size() > kMostSecretBytes ? "too many" : std::to_string(secret.bytes.size())) +
           " bytes");
  using std::filesystem::perms;
  std::error_code error;
  const perms mode = std::filesystem::status(path, error).permissions();
  secret.exposed = error || (mode & (perms::group_read | perms::others_read)) != perms::none;
  return secret;
}

std::string keyed_hash(const Secret& secret, std::string_view text) {
  hmac_sha256_ctx context;
  const auto bytes = [](std::string_view from) { return reinterpret_cast<const std::uint8_t*>(from.data()); };
  hmac_sha256_set_key(&context, secret.bytes.size(), bytes(secret.bytes));
  hmac_sha256_update(&context, text.size(), bytes(text));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  hmac_sha256_digest(&context, digest.size(), digest.data());
  std::string hex(BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE), '\0');
  base16_encode_update(hex.data(), digest.size(), digest.data());
  return hex;
}

}  // namespace voxshard
