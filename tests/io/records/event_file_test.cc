// TensorBoard's event files: the bytes of records by hand, and names that sort by time and name no host.
#include "io/records/event_file.h"

#include "io/records/record_file.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TEST(EventFile, RecordsHaveTheBytesOfTensorFlowsMessages) {
  const ScratchFolder scratch("events");
  const fs::path file = scratch.path() / "x.tfrecord";
  write_bytes(file, event_file_head(0.5) + event_record({.time_s = 2, .step = 300, .values = {{"a", 0.5}, {"b", 0}}}));
  RecordReader reader(file);
  const std::string half("\x09\0\0\0\0\0\0\xe0\x3f", 9), two("\x09\0\0\0\0\0\0\0\x40", 9);  // field 1, double
  EXPECT_EQ(reader.next(), half +
                               "\x1a\x0d"
                               "brain.Event:2");
  EXPECT_EQ(reader.next(), half + "\x3a\x02\x08\x01") << "the start of a session";
  EXPECT_EQ(reader.next(), two + "\x10\xac\x02" + "\x2a\x14" +
                               std::string("\x0a\x08\x0a\x01"
                                           "a\x15\0\0\0\x3f",
                                           10) +
                               std::string("\x0a\x08\x0a\x01"
                                           "b\x15\0\0\0\0",
                                           10));
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(EventFile, NamesSortByTimeAndNameNoHost) {
  EXPECT_EQ(event_file_name(1'700'000'000), "events.out.tfevents.1700000000.voxshard");
  EXPECT_EQ(event_file_name(7), "events.out.tfevents.0000000007.voxshard");
  for (const std::int64_t time : {0LL, 7LL, 9'999'999'999LL}) EXPECT_EQ(event_file_time(event_file_name(time)), time);
  for (const char* name : {"", "events.out.tfevents.1700000000.node1", "events.out.tfevents.17.voxshard",
                           "events.out.tfevents.17000000x0.voxshard", "xvents.out.tfevents.1700000000.voxshard"})
    EXPECT_EQ(event_file_time(name), -1) << name;
}

}  // namespace
}  // namespace voxshard
