#include "base/io_times.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace ranklab::base {
namespace {

using Clock = IoTimes::Clock;

Clock::time_point at(int milliseconds) {
    return Clock::time_point(std::chrono::milliseconds(milliseconds));
}

TEST(IoTimes, AddsUpCallsTotalsAndTheLongest) {
    IoTimes times;
    times.add(IoPhase::write, at(10), at(12));
    times.add(IoPhase::write, at(20), at(27));
    times.add(IoPhase::write, at(30), at(31));
    EXPECT_EQ(times.of(IoPhase::write).calls, 3);
    EXPECT_DOUBLE_EQ(times.of(IoPhase::write).total_s, 0.010);
    EXPECT_DOUBLE_EQ(times.of(IoPhase::write).longest_s, 0.007);
    EXPECT_DOUBLE_EQ(times.of(IoPhase::write).shortest_s, 0.001);
    EXPECT_NEAR(times.of(IoPhase::write).deviation_s(), std::sqrt(31. / 3) * 1e-3, 1e-12);
    EXPECT_EQ(times.of(IoPhase::read).calls, 0);
    times.add_record(at(0), at(2), 8);
    times.add_record(at(2), at(9), 8);
    EXPECT_NEAR(times.records().deviation_s(), std::sqrt(12.5) * 1e-3, 1e-12);
    times.add_record(at(0), at(1), 8, 0);
    EXPECT_TRUE(std::isnan(times.records().deviation_s())) << "made with another rank";
}

TEST(IoTimes, KnowsTheFirstOpenAndTheLastClose) {
    IoTimes times;
    EXPECT_TRUE(std::isinf(times.first_open_s()) && times.first_open_s() > 0);
    EXPECT_TRUE(std::isinf(times.last_close_s()) && times.last_close_s() < 0);
    times.add(IoPhase::write, at(1), at(900));  // neither
    times.add(IoPhase::open, at(100), at(101));
    times.add(IoPhase::close, at(200), at(202));
    times.add(IoPhase::open, at(300), at(301));
    times.add(IoPhase::close, at(150), at(151));
    EXPECT_DOUBLE_EQ(times.first_open_s(), 0.100);
    EXPECT_DOUBLE_EQ(times.last_close_s(), 0.202);
}

TEST(IoTimes, MergesWhatTwoRanksDid) {
    IoTimes a;
    a.add(IoPhase::open, at(100), at(101));
    a.add(IoPhase::write, at(101), at(105));
    a.add(IoPhase::close, at(105), at(106));
    a.add_record(at(100), at(106), 800);
    IoTimes b;
    b.add(IoPhase::open, at(90), at(93));
    b.add(IoPhase::write, at(93), at(95));
    b.add(IoPhase::close, at(95), at(96));
    b.add(IoPhase::wait, at(96), at(99));
    b.add_record(at(90), at(96), 500);
    a.merge(b);
    EXPECT_EQ(a.of(IoPhase::write).calls, 2);
    EXPECT_DOUBLE_EQ(a.of(IoPhase::write).total_s, 0.006);
    EXPECT_DOUBLE_EQ(a.of(IoPhase::write).longest_s, 0.004);
    EXPECT_DOUBLE_EQ(a.of(IoPhase::open).longest_s, 0.003);
    EXPECT_EQ(a.of(IoPhase::wait).calls, 1);
    EXPECT_EQ(a.records().calls, 2);
    EXPECT_DOUBLE_EQ(a.records().total_s, 0.012);
    EXPECT_EQ(a.bytes(), 1300);
    EXPECT_DOUBLE_EQ(a.first_open_s(), 0.090);
    EXPECT_DOUBLE_EQ(a.last_close_s(), 0.106);
}

TEST(IoTimes, MergingWhatDidNothingChangesNothing) {
    IoTimes a;
    a.add(IoPhase::open, at(100), at(101));
    a.add(IoPhase::close, at(105), at(106));
    a.merge(IoTimes());
    EXPECT_DOUBLE_EQ(a.first_open_s(), 0.100);
    EXPECT_DOUBLE_EQ(a.last_close_s(), 0.106);
    EXPECT_EQ(a.of(IoPhase::open).calls, 1);
}

TEST(IoTimes, AMarkCountsItsOwnLifetime) {
    IoTimes times;
    const auto before = Clock::now();
    { const auto mark = times.phase(IoPhase::format); }
    const auto around = std::chrono::duration<double>(Clock::now() - before).count();
    EXPECT_EQ(times.of(IoPhase::format).calls, 1);
    EXPECT_GE(times.of(IoPhase::format).total_s, 0);
    EXPECT_LE(times.of(IoPhase::format).total_s, around);
}

TEST(IoTimes, EveryPhaseHasItsName) {
    EXPECT_EQ(kIoPhaseNames[static_cast<std::size_t>(IoPhase::generate)], "generate");
    EXPECT_EQ(kIoPhaseNames[static_cast<std::size_t>(IoPhase::wait)], "wait");
    EXPECT_EQ(kIoPhaseNames[static_cast<std::size_t>(IoPhase::close)], "close");
    EXPECT_EQ(kIoPhaseNames[static_cast<std::size_t>(IoPhase::parse)], "parse");
}

}  // namespace
}  // namespace ranklab::base
