// The queue that sums buckets in the background: right sums, one order, errors that reach the
// caller, and an end that waits for nobody. No tensors: it is also what is run under
// ThreadSanitizer (docs/overlap.md).
#include "train/reduction_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/error.hpp"
#include "comm/silent.hpp"
#include "forecast/step.hpp"
#include "mpi_world.hpp"

namespace ranklab::train {
namespace {

using ranklab::testing::world;

// A forecast cuts buffers as the queue does.
static_assert(kBlockingPieceBytes == forecast::kBlockingPiece &&
              kBackgroundPieceBytes == forecast::kBackgroundPiece);

struct Way {
    Progress progress;
    Transfer transfer;
    std::size_t piece_bytes;
};

class Queue : public ::testing::TestWithParam<Way> {
  protected:
    ReductionQueue make(comm::Communicator& comm) const {
        return ReductionQueue(comm, GetParam().progress, GetParam().transfer,
                              GetParam().piece_bytes);
    }
    static std::vector<double> values(std::size_t count, int rank, int step) {
        std::vector<double> all(count);
        for (std::size_t i = 0; i < count; ++i)
            all[i] = static_cast<double>((i * 7 + 3 * rank + step) % 13);
        return all;
    }
    static std::vector<double> sums(std::size_t count, int step) {
        std::vector<double> all(count, 0.0);
        for (int rank = 0; rank < world().world_size(); ++rank) {
            const auto part = values(count, rank, step);
            std::transform(all.begin(), all.end(), part.begin(), all.begin(), std::plus<>());
        }
        return all;
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, Queue,
                         ::testing::Values(Way{Progress::none, Transfer::background, 4096},
                                           Way{Progress::poll, Transfer::background, 1000},
                                           Way{Progress::thread, Transfer::background, 0},
                                           Way{Progress::thread, Transfer::background, 4096},
                                           Way{Progress::none, Transfer::blocking, 0},
                                           Way{Progress::poll, Transfer::blocking, 64},
                                           Way{Progress::thread, Transfer::blocking, 64}));

TEST_P(Queue, SumsWhatIsPushedStepAfterStep) {
    auto queue = make(world());
    const std::vector<std::size_t> counts{1, 103, 0, 7, 1000};
    for (int step = 0; step < 3; ++step) {
        queue.begin_step();
        std::vector<std::vector<double>> buffers;
        for (const std::size_t count : counts)
            buffers.push_back(values(count, world().rank(), step));
        for (auto& buffer : buffers) {
            queue.push(comm::view(std::span(buffer)));
            queue.poll();
        }
        queue.finish();
        ASSERT_EQ(queue.stamps().size(), counts.size());
        for (std::size_t i = 0; i < counts.size(); ++i) {
            EXPECT_EQ(buffers[i], sums(counts[i], step)) << "step " << step << ", buffer " << i;
            EXPECT_EQ(queue.stamps()[i].bytes, counts[i] * sizeof(double));
        }
    }
}

// Other operations than sums, two at a time; the second is pushed once the first is complete.
TEST_P(Queue, MakesWhatItIsGiven) {
    ReductionQueue queue(world(), GetParam().progress, GetParam().transfer, GetParam().piece_bytes,
                         2);
    const auto ranks = static_cast<std::size_t>(world().world_size());
    const auto rank = static_cast<std::ptrdiff_t>(world().rank());
    for (const std::size_t part : {std::size_t{1}, std::size_t{1009}}) {
        queue.begin_step();
        auto mine = values(part * ranks, world().rank(), 1);
        std::vector<double> scattered(part), gathered(part * ranks);
        queue.push(comm::view(std::span(mine)), {},
                   comm::Transfer{.operation = comm::Operation::reduce_scatter,
                                  .send = comm::view(std::span(mine)),
                                  .receive = comm::view(std::span(scattered))});
        const auto all = sums(part * ranks, 1);
        const std::vector<double> wanted(all.begin() + rank * std::ssize(scattered),
                                         all.begin() + (rank + 1) * std::ssize(scattered));
        queue.wait(1);
        EXPECT_EQ(scattered, wanted);
        queue.push(comm::view(std::span(gathered)), {},
                   comm::Transfer{.operation = comm::Operation::allgather,
                                  .send = comm::view(std::span(scattered)),
                                  .receive = comm::view(std::span(gathered))});
        queue.finish();
        EXPECT_EQ(gathered, all);
        EXPECT_EQ(queue.stamps().size(), 2U);
    }
}

TEST_P(Queue, CallsBackOnceForEach) {
    auto queue = make(world());
    std::atomic<int> calls = 0;
    std::vector<double> buffer(100, 1.0);
    queue.begin_step();
    for (int i = 0; i < 3; ++i) {
        queue.push(comm::view(std::span(buffer)),
                   [&calls](const std::exception_ptr& error) { calls += error ? 100 : 1; });
    }
    queue.hurry();
    queue.finish();
    EXPECT_EQ(calls, 3);
}

TEST_P(Queue, EndsWithoutWork) {
    auto queue = make(world());
    queue.begin_step();
    queue.finish();
    EXPECT_TRUE(queue.stamps().empty());
}

/// Fails in every collective, as a library does whose network went away.
class Broken final : public comm::Communicator {
  public:
    int rank() const override { return 0; }
    int world_size() const override { return 1; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 1; }
    void barrier() override {}
    comm::Request start(const comm::Transfer&) override {
        throw base::Error("the network is gone");
    }
    std::unique_ptr<comm::Communicator> split(int, int) override { return nullptr; }
};

TEST_P(Queue, AnErrorReachesTheCaller) {
    Broken broken;
    auto queue = make(broken);
    std::vector<double> buffer(100, 1.0);
    queue.begin_step();
    EXPECT_THROW(
        {
            queue.push(comm::view(std::span(buffer)));
            queue.poll();
            queue.finish();
        },
        base::Error);
}

/// Its sums never come: another rank is gone.
class Waiting final : public comm::Request::State {
    void wait() override { ADD_FAILURE() << "nobody may wait for a rank that does not come"; }
    bool test() override { return false; }
};
class Lonely final : public comm::Communicator {
  public:
    int rank() const override { return 0; }
    int world_size() const override { return 2; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 1; }
    void barrier() override {}
    void run(const comm::Transfer&) override {}
    comm::Request start(const comm::Transfer&) override {
        return comm::Request(std::make_unique<Waiting>());
    }
    std::unique_ptr<comm::Communicator> split(int, int) override { return nullptr; }
};

TEST_P(Queue, AnErrorElsewhereDoesNotMakeItWait) {
    Lonely lonely;
    std::vector<double> buffer(100, 1.0);
    {
        auto queue = make(lonely);
        queue.begin_step();
        queue.push(comm::view(std::span(buffer)));
        queue.poll();
    }
    SUCCEED() << "the queue went while a sum was under way";
}

/// Like a library that works on a stream of a device: what is started completes by itself, in
/// order, and nobody has to ask. `complete` says how many have.
class Streamed final : public comm::Communicator {
  public:
    int rank() const override { return 0; }
    int world_size() const override { return 2; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 2; }
    void barrier() override {}
    void run(const comm::Transfer&) override { ADD_FAILURE() << "the host would wait"; }
    comm::Request start(const comm::Transfer& transfer) override {
        EXPECT_EQ(transfer.receive.memory, comm::Memory::device);
        started.push_back(transfer.receive.data);
        return comm::Request(std::make_unique<OnStream>(*this, started.size()));
    }
    std::unique_ptr<comm::Communicator> split(int, int) override { return nullptr; }

    std::vector<void*> started;
    std::atomic<std::size_t> complete = 0;

  private:
    struct OnStream final : comm::Request::State {
        OnStream(Streamed& all, std::size_t number) : all_(all), number_(number) {}
        void wait() override {}  // what comes later on the stream comes after it; the host goes on
        bool test() override { return all_.complete >= number_; }
        Streamed& all_;
        std::size_t number_;
    };
};

// The second and third of three buckets go while the first is under way, in their order. A stream
// moves its own data, whatever moves the data of host memory.
TEST_P(Queue, OnADeviceAllAreHandedOverInOrder) {
    if (GetParam().progress == Progress::thread) GTEST_SKIP() << "its thread may still be asleep";
    Streamed stream;
    auto queue = make(stream);
    std::vector<double> buffer(3000);
    std::vector<void*> expected;
    std::vector<int> done;
    queue.begin_step();
    for (int i = 0; i < 3; ++i) {
        auto part = comm::view(std::span(buffer).subspan(1000 * static_cast<std::size_t>(i), 1000));
        part.memory = comm::Memory::device;
        expected.push_back(part.data);
        queue.push(part, [&done, i](const std::exception_ptr&) { done.push_back(i); });
        queue.poll();
    }
    EXPECT_EQ(stream.started, expected) << "before anybody waits";
    EXPECT_TRUE(done.empty());
    queue.finish();
    EXPECT_EQ(stream.started, expected) << "each once";
    EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
    for (const auto& stamp : queue.stamps())
        EXPECT_EQ(stamp.end, Clock::time_point()) << "the host saw the launch alone";
}

// The queue's thread, too: none completes before the last was handed over.
TEST(QueueThread, HandsAllOverOnADevice) {
    Streamed stream;
    ReductionQueue queue(stream, Progress::thread, Transfer::background);
    std::vector<double> buffer(30);
    std::atomic<int> done = 0;
    queue.begin_step();
    for (std::size_t i = 0; i < 3; ++i) {
        auto part = comm::view(std::span(buffer).subspan(10 * i, 10));
        part.memory = comm::Memory::device;
        queue.push(part, [&](const std::exception_ptr&) { ++done; });
    }
    stream.complete = 3;
    queue.finish();
    EXPECT_EQ(done, 3);
    EXPECT_EQ(stream.started.size(), 3U);
}

// In host memory one after another: k+1 may start only when k is there.
TEST_P(Queue, InHostMemoryOneIsUnderWay) {
    if (GetParam().progress == Progress::thread || GetParam().transfer == Transfer::blocking)
        GTEST_SKIP() << "seen without a thread, of what is handed over in the background";
    class Counting final : public comm::Communicator {
      public:
        struct Never final : comm::Request::State {
            void wait() override {}
            bool test() override { return false; }
        };
        int rank() const override { return 0; }
        int world_size() const override { return 2; }
        int local_rank() const override { return 0; }
        int local_size() const override { return 2; }
        void barrier() override {}
        void run(const comm::Transfer&) override {}
        comm::Request start(const comm::Transfer&) override {
            ++started;
            return comm::Request(std::make_unique<Never>());
        }
        std::unique_ptr<comm::Communicator> split(int, int) override { return nullptr; }
        int started = 0;
    } host;
    auto queue = make(host);
    std::vector<double> buffer(30);
    queue.begin_step();
    for (std::size_t i = 0; i < 3; ++i) {
        queue.push(comm::view(std::span(buffer).subspan(10 * i, 10)));
        queue.poll();
    }
    EXPECT_EQ(host.started, 1);
}

}  // namespace
}  // namespace ranklab::train
