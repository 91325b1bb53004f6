// What the sensor takes for work, with real threads, files and processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/motion_sensor.hpp"
#include "base/ticker.hpp"
#include "temp_folder.hpp"

namespace ranklab::base {
namespace {

// The thread that looks is never one that works.
Motion look(MotionSensor& sensor) {
    Motion seen = Motion::none;
    std::thread([&] {
        observe_only();
        seen = sensor.look();
    }).join();
    return seen;
}

// Uses processor time: far more than polling does, in however long that takes here.
void compute() {
    const auto used = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    for (const double end = used() + 0.1; used() < end;) {
    }
}

// What a look says of `work`, begun and ended between two looks.
Motion motion_of(const std::function<void()>& work) {
    MotionSensor sensor;
    static_cast<void>(look(sensor));
    work();
    return look(sensor);
}

TEST(Motion, ABeatIsSeen) {
    EXPECT_EQ(motion_of([] { beat(); }), Motion::seen);
}

TEST(Motion, NothingIsNothing) {
    const Waiting waiting;  // a test that waits for a processor is no nothing
    EXPECT_EQ(motion_of([] {}), Motion::none);
}

TEST(Motion, ComputingIsSeen) {
    EXPECT_EQ(motion_of(compute), Motion::seen);
}

TEST(Motion, WithoutSchedulerStatisticsTheTicksCount) {
    const std::string stat = "S 1 2 3 0 -1 4194304 10 20 30 40 7 5 900 900 20 0 1 0 12345\n";
    const auto tick = static_cast<std::uint64_t>(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
    EXPECT_EQ(detail::processor_ns("123456789 5 6\n", stat), 123456794U)
        << "and the time of waiting for a processor";
    EXPECT_EQ(detail::processor_ns("0 0 0\n", stat), 12 * tick);
    EXPECT_EQ(detail::processor_ns("", stat), 12 * tick);
    EXPECT_EQ(detail::processor_ns("", ""), 0U) << "the thread is gone";
}

TEST(Motion, AnotherThreadsComputingIsSeen) {
    std::atomic<bool> ends{false};
    std::thread worker;
    EXPECT_EQ(motion_of([&] {
                  std::atomic<bool> computed{false};
                  worker = std::thread([&] {
                      compute();
                      computed = true;
                      while (!ends) std::this_thread::yield();
                  });
                  while (!computed) std::this_thread::yield();
              }),
              Motion::seen);
    ends = true;
    worker.join();
}

TEST(Motion, TurningRoundInAWaitForOthersIsNone) {
    const Waiting waiting;
    EXPECT_EQ(motion_of(compute), Motion::none);
    const Waiting alone(false);
    EXPECT_EQ(motion_of(compute), Motion::none);
}

TEST(Motion, AWaitWithoutOthersIsNoWait) {
    const Waiting alone(false);
    EXPECT_EQ(motion_of(compute), Motion::seen);
}

TEST(Motion, TheEndOfAWaitIsSeen) {
    EXPECT_EQ(motion_of([] { const Waiting waiting; }), Motion::seen);
}

// The threads of an OpenMP that spins, while the main thread waits for other ranks.
TEST(Motion, WhileTheMainThreadWaitsNoThreadsTimeCounts) {
    const Waiting waiting;
    std::atomic<bool> ends{false};
    std::thread spins([&] {
        while (!ends) {
        }
    });
    EXPECT_EQ(motion_of(compute), Motion::none);
    ends = true;
    spins.join();
}

// The thread of a reduction queue, while the main thread is asleep for it.
TEST(Motion, AThreadThatWaitsForOthersIsNoWorker) {
    std::atomic<bool> ends{false};
    std::atomic<bool> spins{false};
    std::thread queue([&] {
        const Waiting waiting;
        spins = true;
        while (!ends) compute();
    });
    while (!spins) std::this_thread::yield();
    timespec pause{0, 400'000'000};
    // On a crowded machine this thread waits for a processor now and then, which counts. Ends with the test's
    // time otherwise.
    while (motion_of([&] { nanosleep(&pause, nullptr); }) != Motion::none) {
    }
    ends = true;
    queue.join();
}

TEST(Motion, AThreadThatOnlyLooksIsNoWorker) {
    std::atomic<int> ticks{0};
    const Waiting waiting;
    Ticker ticker(Ticker::Seconds(0.01), [&](double) {
        compute();
        ++ticks;
    });
    while (ticks < 2) std::this_thread::yield();
    EXPECT_EQ(motion_of([&] {
                  for (const int now = ticks; ticks < now + 2;) std::this_thread::yield();
              }),
              Motion::none);
}

TEST(Motion, BytesOfAFileAreSeenInAWaitToo) {
    const tests::TempFolder folder;
    const Waiting waiting;
    EXPECT_EQ(motion_of([&] { std::ofstream(folder / "file") << std::string(1 << 16, 'x'); }), Motion::seen);
}

// What timers and event descriptors of libraries do beside.
TEST(Motion, AFewBytesAreNot) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const Waiting waiting;
    EXPECT_EQ(motion_of([&] {
                  char byte = 0;
                  for (int i = 0; i < 8; ++i) EXPECT_EQ(write(ends[1], "x", 1) + read(ends[0], &byte, 1), 2);
              }),
              Motion::none);
    close(ends[0]);
    close(ends[1]);
}

// Opening a FIFO blocks in the kernel until there is another end: so does a call on a file whose server is
// slow.
TEST(Motion, ACallOnAFileThatDoesNotComeBackIsUnknown) {
    const tests::TempFolder folder;
    const std::string fifo = (folder / "fifo").string();
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    std::thread opener([&] { ::close(::open(fifo.c_str(), O_RDONLY)); });
    MotionSensor sensor;
    const Waiting waiting;
    while (look(sensor) != Motion::unknown) std::this_thread::yield();  // ends with the test's time otherwise
    EXPECT_EQ(look(sensor), Motion::unknown);
    ::close(::open(fifo.c_str(), O_WRONLY));
    opener.join();
    EXPECT_EQ(look(sensor), Motion::none);
}

TEST(Motion, WaitingForAPipeIsNone) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::atomic<bool> reads{false};
    std::thread reader([&] {
        char byte = 0;
        reads = true;
        EXPECT_EQ(read(ends[0], &byte, 1), 1);
    });
    while (!reads) std::this_thread::yield();
    while (motion_of([] {}) != Motion::none) {  // as above
    }
    EXPECT_EQ(write(ends[1], "x", 1), 1);
    reader.join();
    close(ends[0]);
    close(ends[1]);
}

TEST(Motion, WorkNobodySeesIsUnknown) {
    const Waiting waiting;  // so that the test's own processor time, or its wait for it, is none of it
    const AtWork here;
    EXPECT_EQ(motion_of([] {}), Motion::unknown);
}

pid_t start_shell(const char* script) {
    std::string words[] = {"sh", "-c", script};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    pid_t child = -1;
    EXPECT_EQ(posix_spawnp(&child, "sh", nullptr, nullptr, arguments, environ), 0);
    return child;
}

TEST(Motion, AWorkerProcessCounts) {
    const Waiting waiting;
    const pid_t child = start_shell("while :; do :; done");
    MotionSensor sensor;
    while (look(sensor) != Motion::seen) std::this_thread::yield();  // ends with the test's time otherwise
    kill(child, SIGSTOP);
    ASSERT_EQ(waitpid(child, nullptr, WUNTRACED), child);
    static_cast<void>(look(sensor));
    EXPECT_EQ(look(sensor), Motion::none) << "a stopped worker does nothing";
    kill(child, SIGKILL);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(Motion, TheLivelierWins) {
    EXPECT_EQ(livelier(Motion::none, Motion::unknown), Motion::unknown);
    EXPECT_EQ(livelier(Motion::seen, Motion::unknown), Motion::seen);
    EXPECT_EQ(livelier(Motion::none, Motion::seen), Motion::seen);
}

}  // namespace
}  // namespace ranklab::base
