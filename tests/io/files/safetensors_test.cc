// The safetensors form: what is saved comes back, equal input gives equal bytes, and a hostile header is refused.
#include "io/files/safetensors.h"

#include <nlohmann/json.hpp>

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

std::vector<NamedTensor> samples() {
  std::vector<NamedTensor> list;
  for (DType type : {DType::kF32, DType::kBF16, DType::kF64, DType::kI32, DType::kU8}) {
    Tensor t(type, {2, 3});
    for (std::int64_t i = 0; i < 6; ++i) store(t.view(), i, static_cast<double>(i));
    list.push_back({std::string("layer.") + dtype_name(type), t});
  }
  list.push_back({"a scalar", Tensor(DType::kF32, {})});
  list.push_back({"empty", Tensor(DType::kF32, {0, 4})});
  return list;
}

TEST(Safetensors, WhatIsSavedComesBackInOrder) {
  ScratchFolder dir;
  save_safetensors(dir.path() / "a.safetensors", samples(), {{"step", "12"}, {"note", "quote \" and ü"}});
  const SafetensorsFile file = load_safetensors(dir.path() / "a.safetensors");
  const auto want = samples();
  ASSERT_EQ(file.tensors.size(), want.size());
  for (const NamedTensor& t : want) {
    const Tensor* got = file.find(t.name);
    ASSERT_NE(got, nullptr) << t.name;
    EXPECT_EQ(got->shape(), t.tensor.shape());
    if (t.tensor.count() == 0) continue;
    EXPECT_TRUE(compare(got->view(), t.tensor.view()).bit_equal) << t.name;
  }
  EXPECT_EQ(file.tensors[0].name, "layer.f32");
  EXPECT_EQ(file.metadata.at("step"), "12");
  EXPECT_EQ(file.metadata.at("note"), "quote \" and ü");
  EXPECT_EQ(file.find("none"), nullptr);
}

TEST(Safetensors, HeaderIsPaddedAndBytesAreReproducible) {
  ScratchFolder dir;
  save_safetensors(dir.path() / "a.safetensors", samples(), {{"step", "12"}});
  save_safetensors(dir.path() / "b.safetensors", samples(), {{"step", "12"}});
  const std::string bytes = read_bytes(dir.path() / "a.safetensors");
  EXPECT_EQ(bytes, read_bytes(dir.path() / "b.safetensors"));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  EXPECT_EQ(header["layer.bf16"]["dtype"], "BF16");
  EXPECT_EQ(header["layer.bf16"]["data_offsets"], nlohmann::json({24, 36}));
  EXPECT_EQ(dir.files(), 2u);
}

TEST(Safetensors, AnyFlippedBitIsFound) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "a.safetensors";
  save_safetensors(path, samples(), {{"step", "12"}});
  EXPECT_TRUE(load_safetensors(path).has_hashes);
  const std::string bytes = read_bytes(path);
  for (std::size_t at = 8; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] ^= 1;
    write_bytes(path, flipped);
    EXPECT_THROW(load_safetensors(path), Error) << "byte " << at << " of " << bytes.size();
  }
}

TEST(Safetensors, AFileOfAnotherToolNeedsNoHashes) {
  ScratchFolder dir;
  const std::string header = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}   )";
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  write_bytes(dir.path() / "other", bytes + header + "ab");
  const SafetensorsFile file = load_safetensors(dir.path() / "other");
  EXPECT_FALSE(file.has_hashes);
  EXPECT_EQ(file.tensors.size(), 1u);
}

TEST(Safetensors, AViewIsSavedLikeItsTensor) {
  ScratchFolder dir;
  const auto list = samples();
  std::vector<NamedView> views;
  for (const NamedTensor& t : list) views.push_back({t.name, t.tensor.view()});
  save_safetensors(dir.path() / "a", list);
  save_safetensors(dir.path() / "b", views);
  EXPECT_EQ(read_bytes(dir.path() / "a"), read_bytes(dir.path() / "b"));
}

TEST(Safetensors, AFailedSaveKeepsTheOldFile) {
  ScratchFolder dir;
  expect_error(ErrorKind::kOutput, "cannot write", [&] { save_safetensors(dir.path() / "no" / "a", samples()); });
  save_safetensors(dir.path() / "a", samples());
  auto twice = samples();
  twice.push_back(twice[0]);
  EXPECT_THROW(save_safetensors(dir.path() / "a", twice), Error);
  EXPECT_EQ(load_safetensors(dir.path() / "a").tensors.size(), samples().size());
  EXPECT_EQ(dir.files(), 1u);
}

std::string file_of(const std::string& header, std::size_t data, std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, '\0');
}

TEST(Safetensors, AHostileHeaderIsRefused) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "a.safetensors";
  auto refused = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    EXPECT_EQ(
        [&] {
          try {
            load_safetensors(path);
          } catch (const Error& e) {
            return static_cast<int>(e.kind());
          }
          return -1;
        }(),
        static_cast<int>(ErrorKind::kCheckpoint))
        << bytes.substr(0, 200);
  };
  auto header = [&](const std::string& text, std::size_t data) { refused(file_of(text, data, text.size())); };
  auto entry = [](const std::string& type, const std::string& shape, const std::string& offsets) {
    return "{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  refused("");
  refused("1234567");
  refused(file_of("{}", 0, ~std::uint64_t{0}));
  refused(file_of("{}", 0, 3));
  refused(file_of("{}", 0, 99'999'999));
  for (const char* text : {"", "[]", "{", "null", "{\"a\":1}", "{\"a\":{}}", "\xff\xfe", "{\"__metadata__\":{\"a\":1}}",
                           "{\"__metadata__\":[]}"})
    header(text, 0);
  header(std::string(200000, '['), 0);
  for (const auto& bad : {entry("F32", "[2]", "[0,7]"), entry("F32", "[2]", "[0,9]"), entry("F32", "[2]", "[8,0]"),
                          entry("F32", "[2]", "[8,16]"), entry("F32", "[-2]", "[0,8]"), entry("F32", "[2.0]", "[0,8]"),
                          entry("F32", "[\"2\"]", "[0,8]"), entry("F16", "[4]", "[0,8]"), entry("F32", "2", "[0,8]"),
                          entry("F32", "[1,1,1,1,1,1,2]", "[0,8]"), entry("F32", "[2]", "[0]"),
                          entry("F32", "[2]", "[0,8,9]"), entry("F32", "[18446744073709551615]", "[0,8]"),
                          entry("F32", "[4294967296,4294967296,4294967296,4294967296]", "[0,0]"),
                          entry("F32", "[1099511627776,1099511627776,0]", "[0,0]"), entry("F32", "[2]", "[-8,0]"),
                          entry("F32", "[1]", "[0,4]"), entry("F32", "[1]", "[4,8]")})
    header("{\"a\":" + bad + "}", 8);
  header("{\"a\":" + entry("F32", "[2]", "[0,8]") + ",\"b\":" + entry("F32", "[2]", "[0,8]") + "}", 8);
  header("{\"a\":" + entry("F32", "[2]", "[0,8]") + ",\"b\":" + entry("F32", "[2]", "[4,12]") + "}", 12);
  header("{\"a\":" + entry("F32", "[2]", "[0,8]") + ",\"b\":" + entry("F32", "[1]", "[12,16]") + "}", 16);
  expect_error(ErrorKind::kInput, "cannot be read: No such file", [&] { load_safetensors(dir.path() / "none"); });
}

TEST(Safetensors, EveryTruncationIsRefused) {
  ScratchFolder dir;
  save_safetensors(dir.path() / "a", samples(), {{"step", "1"}});
  const std::string bytes = read_bytes(dir.path() / "a");
  for (std::size_t length = 0; length < bytes.size(); length += 3) {
    write_bytes(dir.path() / "b", bytes.substr(0, length));
    EXPECT_THROW(load_safetensors(dir.path() / "b"), Error) << length;
  }
}

}  // namespace
}  // namespace voxshard
