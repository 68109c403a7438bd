// The thread in the background: it works beside its caller, gives back what it made and what it threw, and ends with
// its owner.
#include "libcore/base/background_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <thread>

namespace voxshard {
namespace {

TEST(BackgroundThreadTest, WorksBesideItsCaller) {
  BackgroundThread thread;
  std::promise<int> given;
  int found = 0;
  std::thread::id ran_on;
  ASSERT_TRUE(thread.start([&] { found = given.get_future().get() + 1, ran_on = std::this_thread::get_id(); }));
  given.set_value(41);  // the caller goes on while the work waits for it
  thread.wait();
  EXPECT_EQ(found, 42);
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST(BackgroundThreadTest, OneThreadTakesOnePieceOfWorkAfterAnother) {
  BackgroundThread thread;
  thread.wait();  // nothing was started
  std::thread::id first;
  ASSERT_TRUE(thread.start([&] { first = std::this_thread::get_id(); }));
  thread.wait();
  int sum = 0;
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(thread.start([&] { sum += std::this_thread::get_id() == first ? i : 0; }));
    thread.wait();
  }
  EXPECT_EQ(sum, 5050);
}

TEST(BackgroundThreadTest, AnExceptionIsThrownOnceWhereItIsWaitedFor) {
  BackgroundThread thread;
  ASSERT_TRUE(thread.start([] { throw std::runtime_error("torn file"); }));
  EXPECT_THROW(thread.wait(), std::runtime_error);
  thread.wait();
  bool ran = false;
  ASSERT_TRUE(thread.start([&] { ran = true; }));
  thread.wait();
  EXPECT_TRUE(ran) << "the thread outlives what its work throws";
}

TEST(BackgroundThreadTest, ItsEndWaitsForTheWork) {
  bool ran = false;
  {
    BackgroundThread thread;
    ASSERT_TRUE(thread.start([&] { ran = true; }));
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace voxshard
