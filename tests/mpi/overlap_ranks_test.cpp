// A run whose overlap is known by construction: two ranks, the queue that sums buckets, and a communicator
// whose allreduce travels for a known time once all ranks have come. Of two equal buckets the first can hide
// behind what is left of backward, the second cannot: with somebody who moves data half of the communication
// is hidden, with nobody none of it. What is asserted are shares of those times, medians over pairs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "comm/silent.hpp"
#include "experiments/communication.hpp"
#include "mpi_world.hpp"
#include "train/reduction_queue.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::world;
using train::Clock;

constexpr std::chrono::milliseconds kTravel{60};
constexpr std::chrono::milliseconds kBackward{120};  // after the first bucket, before the second
constexpr int kPairs = 8;

// Sums at once, then travels: nobody has to compute for it.
class Travelling final : public comm::Request::State {
  public:
    explicit Travelling(comm::Request sum) : sum_(std::move(sum)) {}
    void wait() override {
        sum_.wait();
        begin();
        std::this_thread::sleep_until(begin_ + kTravel);
    }
    bool test() override {
        if (!sum_.test()) return false;
        begin();
        return Clock::now() >= begin_ + kTravel;
    }

  private:
    void begin() {
        if (begin_ == Clock::time_point()) begin_ = Clock::now();
    }
    comm::Request sum_;
    Clock::time_point begin_;
};

class SlowLink final : public comm::Communicator {
  public:
    explicit SlowLink(comm::Communicator& real) : real_(real) {}
    int rank() const override { return real_.rank(); }
    int world_size() const override { return real_.world_size(); }
    int local_rank() const override { return real_.local_rank(); }
    int local_size() const override { return real_.local_size(); }
    std::string backend() const override { return "slow link"; }
    void barrier() override { real_.barrier(); }
    void broadcast(comm::BufferView buffer, int root) override { real_.broadcast(buffer, root); }
    void allreduce(comm::BufferView buffer, comm::ReduceOp op) override { real_.allreduce(buffer, op); }
    comm::Request start_allreduce(comm::BufferView buffer, comm::ReduceOp op) override {
        return comm::Request(std::make_unique<Travelling>(real_.start_allreduce(buffer, op)));
    }
    void allgather(comm::BufferView send, comm::BufferView receive) override {
        real_.allgather(send, receive);
    }
    void reduce_scatter(comm::BufferView send, comm::BufferView receive, comm::ReduceOp op) override {
        real_.reduce_scatter(send, receive, op);
    }
    std::unique_ptr<comm::Communicator> split(int color, int key) override { return real_.split(color, key); }

  private:
    comm::Communicator& real_;
};

class TwoBuckets {
  public:
    explicit TwoBuckets(train::Progress progress)
        : data_(world().split(0, world().rank())),  // the queue's thread has a communicator of its own
          link_(*data_),
          silent_(link_),
          queue_(silent_, progress, train::Transfer::background) {}

    OverlapProbe probe() {
        OverlapProbe probe;
        for (int pair = 0; pair < kPairs; ++pair) {
            for (const bool silent : {pair % 2 == 0, pair % 2 != 0}) {
                const auto [step, seconds] = make_step(silent);
                const double backward = step.backward_end - step.backward_begin;
                (silent ? probe.without : probe.with).push_back(seconds);
                (silent ? probe.backward_without : probe.backward_with).push_back(backward);
                if (!silent) probe.reductions.push_back(step);
            }
        }
        return probe;
    }

  private:
    std::pair<StepReductions, double> make_step(bool silent) {
        world().barrier();
        silent_.silence(silent);
        const auto begin = Clock::now();
        const auto seconds = [begin](Clock::time_point when) {
            return std::chrono::duration<double>(when - begin).count();
        };
        queue_.begin_step();
        queue_.push(comm::view(std::span(first_)));
        std::this_thread::sleep_until(begin + kBackward);  // the first bucket's gradients were there at once
        queue_.push(comm::view(std::span(second_)));
        const auto backward_end = Clock::now();
        queue_.hurry();
        queue_.finish();
        StepReductions step{0, seconds(backward_end), {}};
        for (const auto& stamp : queue_.stamps())
            step.reductions.push_back(
                {seconds(stamp.ready), seconds(stamp.start), seconds(stamp.moving), seconds(stamp.end)});
        return {step, seconds(Clock::now())};
    }

    std::unique_ptr<comm::Communicator> data_;
    SlowLink link_;
    comm::SilentCommunicator silent_;
    std::vector<float> first_ = std::vector<float>(100, 1.0F), second_ = std::vector<float>(100, 1.0F);
    train::ReductionQueue queue_;
};

results::Run measured(train::Progress progress) {
    results::Run run;
    const OverlapProbe probe = TwoBuckets(progress).probe();
    add_communication(run, {}, probe, {}, {}, "here", world());
    return run;
}

std::string why_none(const results::Run& run) {
    for (const auto& fact : run.context)
        if (fact.section == "communication" && fact.key == "no_overlap") return fact.value;
    return "";
}

double travelled() {
    return 2 * std::chrono::duration<double>(kTravel).count();
}

TEST(KnownOverlap, IsHalfWhereSomebodyMovesTheFirstBucket) {
    const auto run = measured(train::Progress::thread);
    EXPECT_EQ(why_none(run), "");
    EXPECT_NEAR(run.median("communication_s") / travelled(), 1, 0.25);
    EXPECT_NEAR(run.median("overlap"), 0.5, 0.2);
    EXPECT_NEAR(run.median("overlap_balance"), 1, 0.25);
    const auto& ci = run.find("overlap")->summary.ci95;
    EXPECT_LE(ci.low, run.median("overlap"));
    EXPECT_GE(ci.high, run.median("overlap"));
    EXPECT_EQ(run.find("overlap")->summary.n, static_cast<std::size_t>(kPairs));
}

// Nobody moves anything during backward: all is paid after it, and no hidden share is made up.
TEST(KnownOverlap, IsNoneWhereNobodyMovesAnything) {
    const auto run = measured(train::Progress::none);
    EXPECT_NEAR(run.median("communication_exposed_s") / travelled(), 1, 0.25);
    EXPECT_NEAR(run.median("communication_s") / travelled(), 1, 0.25) << "lying there is no travelling";
    EXPECT_LT(run.median("communication_inside_backward_s") / travelled(), 0.1);
    const double overlap = run.median("overlap");
    if (std::isnan(overlap))
        EXPECT_FALSE(why_none(run).empty());
    else
        EXPECT_LT(overlap, 0.2);
}

}  // namespace
}  // namespace ranklab::experiments
