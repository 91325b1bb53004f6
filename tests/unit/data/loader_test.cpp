#include "data/loader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/error.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::data {
namespace {

using std::chrono::milliseconds;

/// Input: eight bytes of the index; target: the random number. `before` is called in each read.
class Numbers final : public Source {
  public:
    using Before = std::function<void(const Draw&)>;
    explicit Numbers(Before before = {})
        : Source({{Element::u8, {8}}, {Element::i64, {}}}, 1 << 20), before_(std::move(before)) {}
    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        ++reads;
        if (before_) before_(draw);
        std::memcpy(input, &draw.index, 8);
        std::memcpy(target, &draw.random, 8);
        times += {1, 2, 4};
    }
    mutable std::atomic<int> reads{0};

  private:
    Before before_;
};

std::vector<Draw> draws_of(const Batch& batch) {
    std::vector<Draw> draws(static_cast<std::size_t>(batch.count));
    for (std::size_t i = 0; i < draws.size(); ++i) {
        std::memcpy(&draws[i].index, batch.input.get() + 8 * i, 8);
        std::memcpy(&draws[i].random, batch.target.get() + 8 * i, 8);
    }
    return draws;
}

/// Batches of 0 to 5 samples.
std::vector<Draw> ragged(std::int64_t b) {
    std::vector<Draw> draws;
    for (std::int64_t i = 0; i < (b * 7) % 6; ++i)
        draws.push_back({100 * b + i, random_of(1, 2, 100 * b + i)});
    return draws;
}

/// Batches of four samples: 4 b, ..
std::vector<Draw> fours(std::int64_t b) {
    std::vector<Draw> draws;
    for (std::int64_t i = 4 * b; i < 4 * b + 4; ++i)
        draws.push_back({i, static_cast<std::uint64_t>(i)});
    return draws;
}

Loader::Config config(int workers, int prefetch = 2, std::int64_t batch = 5) {
    return {.workers = workers, .prefetch = prefetch, .batch = batch, .allocate = {}};
}

TEST(Loader, GivesTheSameBatchesAtAnyWorkerCount) {
    // Samples take times of their own, so that workers overtake each other.
    const Numbers source([](const Draw& draw) {
        std::this_thread::sleep_for(std::chrono::microseconds(draw.random % 200));
    });
    for (const int workers : {0, 1, 2, 3, 8}) {
        for (const int prefetch : {0, 1, 3}) {
            Loader loader(source, config(workers, prefetch));
            loader.start(ragged, 5, 20);
            for (std::int64_t b = 5; b < 25; ++b) {
                const Batch& batch = loader.next();
                EXPECT_EQ(draws_of(batch), ragged(b)) << workers << " workers, batch " << b;
                const auto n = static_cast<double>(batch.count);
                EXPECT_EQ(batch.times.read, n);
                EXPECT_EQ(batch.times.decode, 2 * n);
                EXPECT_EQ(batch.times.augment, 4 * n);
            }
            EXPECT_THROW(loader.next(), base::Error) << "more than were planned";
        }
    }
}

TEST(Loader, PlansInOrderOnceEachAndNoFurtherAheadThanAsked) {
    const Numbers source;
    for (const int prefetch : {0, 1, 4}) {
        std::atomic<std::int64_t> next_planned{0};
        std::atomic<std::int64_t> asked{0};
        std::atomic<int> planning{0};
        std::atomic<bool> good{true};
        Loader loader(source, config(3, prefetch));
        loader.start(
            [&](std::int64_t b) {
                if (planning++ != 0 || b != next_planned++ || b > asked + prefetch) good = false;
                std::this_thread::sleep_for(milliseconds(1));
                --planning;
                return fours(b);
            },
            0, 30);
        for (std::int64_t b = 0; b < 30; ++b) {
            asked = b;
            EXPECT_EQ(draws_of(loader.next()), fours(b));
        }
        EXPECT_TRUE(good) << prefetch;
        EXPECT_EQ(next_planned, 30);
    }
}

TEST(Loader, ABatchStandsUntilTheNextCall) {
    const Numbers source;
    Loader loader(source, config(2, 1));
    loader.start(fours, 0, 10);
    for (std::int64_t b = 0; b < 10; ++b) {
        const Batch& batch = loader.next();
        std::this_thread::sleep_for(milliseconds(5));  // the workers make what they may
        EXPECT_LE(source.reads, 4 * (b + 2)) << "one batch ahead";
        EXPECT_EQ(draws_of(batch), fours(b));
    }
}

TEST(Loader, AllWorkersMakeOneBatchTogether) {
    std::mutex mutex;
    std::condition_variable changed;
    int inside = 0;
    bool met = true;
    // Each of the batch's four samples waits for the other three.
    const Numbers source([&](const Draw&) {
        std::unique_lock lock(mutex);
        ++inside;
        changed.notify_all();
        met = changed.wait_for(lock, std::chrono::seconds(20), [&] { return inside == 4; }) && met;
    });
    Loader loader(source, config(4, 2, 4));
    loader.start(fours, 0, 1);
    EXPECT_EQ(draws_of(loader.next()), fours(0));
    EXPECT_TRUE(met);
}

TEST(Loader, AnErrorIsThrownWhereItsBatchWouldHaveBeenGiven) {
    for (const int workers : {0, 1, 3}) {
        const Numbers source([](const Draw& draw) {
            // Later than the other one.
            if (draw.index == 9) std::this_thread::sleep_for(milliseconds(5));
            if (draw.index == 9 || draw.index == 10)
                throw base::DataError("sample " + std::to_string(draw.index));
        });
        Loader loader(source, config(workers));
        loader.start(fours, 0, 5);
        EXPECT_EQ(draws_of(loader.next()), fours(0));
        EXPECT_EQ(draws_of(loader.next()), fours(1));
        EXPECT_EQ(tests::thrown_sentence<base::DataError>([&] { loader.next(); }), "sample 9")
            << "the first of them";
        EXPECT_EQ(draws_of(loader.next()), fours(3)) << "and what follows is not lost";
    }
}

TEST(Loader, APlanMayFailOrBeTooLong) {
    const Numbers source;
    for (const int workers : {0, 2}) {
        Loader loader(source, config(workers));
        loader.start(
            [](std::int64_t b) {
                if (b == 1) throw std::runtime_error("no plan");
                return std::vector<Draw>(b == 2 ? 6 : 2);
            },
            0, 4);
        EXPECT_EQ(loader.next().count, 2);
        EXPECT_THROW(loader.next(), std::runtime_error);
        EXPECT_THROW(loader.next(), base::Error) << "six samples do not fit into a batch of five";
        EXPECT_EQ(loader.next().count, 2);
    }
}

TEST(Loader, StartsAnewInMidFlight) {
    for (const int workers : {0, 1, 3}) {
        const Numbers source(
            [](const Draw&) { std::this_thread::sleep_for(std::chrono::microseconds(100)); });
        Loader loader(source, config(workers, 3));
        for (int round = 0; round < 20; ++round) {
            loader.start(ragged, round, 50);
            for (std::int64_t b = round; b < round + round % 4; ++b)
                EXPECT_EQ(draws_of(loader.next()), ragged(b))
                    << workers << " workers, round " << round;
        }
    }
}

TEST(Loader, EndsWithoutMakingWhatNobodyWants) {
    for (const int workers : {1, 4}) {
        const Numbers source([](const Draw&) { std::this_thread::sleep_for(milliseconds(1)); });
        {
            Loader loader(source, config(workers, 50));
            loader.start(fours, 0, 1000);
            loader.next();
        }
        EXPECT_LT(source.reads, 4 * 51);
    }
    const Numbers source;
    const Loader never_started(source, config(2));
}

TEST(Loader, AllocatesEachSlotOnce) {
    const Numbers source;
    for (const auto& [workers, slots] : {std::pair{0, 1}, {2, 4}}) {
        int calls = 0;
        std::size_t bytes = 0;
        auto with_own = config(workers, 3);
        with_own.allocate = [&](std::size_t n) {
            ++calls;
            bytes += n;
            return std::shared_ptr<std::byte>(new std::byte[n], std::default_delete<std::byte[]>());
        };
        Loader loader(source, with_own);
        for (int round = 0; round < 3; ++round) {
            loader.start(fours, 0, 20);
            for (int b = 0; b < 20; ++b) loader.next();
        }
        EXPECT_EQ(calls, 2 * slots) << "input and target";
        EXPECT_EQ(bytes, static_cast<std::size_t>(slots) * 5 * 16);
    }
}

}  // namespace
}  // namespace ranklab::data
