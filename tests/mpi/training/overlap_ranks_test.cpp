// A run whose overlap is known by construction: two ranks, the queue that sums buckets, and a
// communicator whose allreduce travels for a known time once all ranks have come. Of two equal
// buckets the first can hide behind what is left of backward, the second cannot: with somebody who
// moves data half of the communication is hidden, with nobody none of it. What is printed is
// compared with what the link's and the steps' own clocks say of the same steps; where the machine
// kept the times that were asked for, with the shares too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "comm/silent.hpp"
#include "experiments/training/communication.hpp"
#include "measure/samples.hpp"
#include "mpi_world.hpp"
#include "stats/summary.hpp"
#include "train/reduction_queue.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::world;
using train::Clock;

constexpr std::chrono::milliseconds kTravel{60};
constexpr std::chrono::milliseconds kBackward{120};  // after the first bucket, before the second
constexpr int kPairs = 8;

double seconds(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

// Sums at once, then travels: nobody has to compute for it. Says how long it really took until it
// was seen.
class Travelling final : public comm::Request::State {
  public:
    Travelling(comm::Request sum, double& travelled)
        : sum_(std::move(sum)), travelled_(travelled) {}
    void wait() override {
        sum_.wait();
        begin();
        std::this_thread::sleep_until(begin_ + kTravel);
        travelled_ += seconds(Clock::now() - begin_);
    }
    bool test() override {
        if (!sum_.test()) return false;
        begin();
        const auto now = Clock::now();
        if (now < begin_ + kTravel) return false;
        travelled_ += seconds(now - begin_);
        return true;
    }

  private:
    void begin() {
        if (begin_ == Clock::time_point()) begin_ = Clock::now();
    }
    comm::Request sum_;
    double& travelled_;
    Clock::time_point begin_;
};

class SlowLink final : public comm::Communicator {
  public:
    explicit SlowLink(comm::Communicator& real) : real_(real) {}
    int rank() const override { return real_.rank(); }
    int world_size() const override { return real_.world_size(); }
    int local_rank() const override { return real_.local_rank(); }
    int local_size() const override { return real_.local_size(); }
    void barrier() override { real_.barrier(); }
    void run(const comm::Transfer& transfer) override { real_.run(transfer); }
    comm::Request start(const comm::Transfer& transfer) override {
        return comm::Request(std::make_unique<Travelling>(real_.start(transfer), travelled));
    }
    std::unique_ptr<comm::Communicator> split(int color, int key) override {
        return real_.split(color, key);
    }

    // Seconds, of all that arrived; the queue's thread writes, finish() comes after.
    double travelled = 0;

  private:
    comm::Communicator& real_;
};

// Seconds of the steps with communication, by this rank's own clocks.
struct Truth {
    std::vector<double> total, exposed;
};

struct Probe {
    OverlapPairs pairs;
    std::vector<StepReductions> reductions;
};

class TwoBuckets {
  public:
    explicit TwoBuckets(train::Progress progress)
        // The queue's thread has a communicator of its own.
        : data_(world().split(0, world().rank())),
          link_(*data_),
          silent_(link_),
          queue_(silent_, progress, train::Transfer::background) {}

    Probe probe(Truth& truth) {
        Probe probe;
        for (int pair = 0; pair < kPairs; ++pair) {
            for (const bool silent : {pair % 2 == 0, pair % 2 != 0}) {
                link_.travelled = 0;
                const auto [step, whole] = make_step(silent);
                const double backward = step.backward_end - step.backward_begin;
                (silent ? probe.pairs.without : probe.pairs.with).push_back(whole);
                (silent ? probe.pairs.backward_without : probe.pairs.backward_with)
                    .push_back(backward);
                if (silent) continue;
                probe.reductions.push_back(step);
                truth.total.push_back(link_.travelled);
                truth.exposed.push_back(whole - step.backward_end);
            }
        }
        return probe;
    }

  private:
    std::pair<StepReductions, double> make_step(bool silent) {
        world().barrier();
        silent_.silence(silent);
        const auto begin = Clock::now();
        const auto at = [begin](Clock::time_point when) { return seconds(when - begin); };
        queue_.begin_step();
        queue_.push(comm::view(std::span(first_)));
        // The first bucket's gradients were there at once.
        std::this_thread::sleep_until(begin + kBackward);
        queue_.push(comm::view(std::span(second_)));
        const auto backward_end = Clock::now();
        queue_.hurry();
        queue_.finish();
        StepReductions step{0, at(backward_end), {}};
        for (const auto& stamp : queue_.stamps())
            step.reductions.push_back(
                {at(stamp.ready), at(stamp.start), at(stamp.moving), at(stamp.end)});
        return {step, at(Clock::now())};
    }

    std::unique_ptr<comm::Communicator> data_;
    SlowLink link_;
    comm::SilentCommunicator silent_;
    std::vector<float> first_ = std::vector<float>(100, 1.0F),
                       second_ = std::vector<float>(100, 1.0F);
    train::ReductionQueue queue_;
};

double median(const std::vector<double>& mine) {
    return stats::quantile(measure::largest_of_ranks(world(), mine), 0.5);
}

struct Measured {
    results::Run run;
    // Medians over steps of the slowest rank's time, by the test's own clocks.
    double total, exposed, without;

    double overlap() const { return 1 - exposed / total; }
    // Whether times were what was asked for: a machine that does much else does not keep them.
    bool kept_time(double expected_exposed) const {
        const double travel = 2 * seconds(kTravel);
        return std::abs(total / travel - 1) < 0.1 &&
               std::abs(without / seconds(kBackward) - 1) < 0.1 &&
               std::abs(exposed - expected_exposed) < 0.1 * travel;
    }
};

Measured measured(train::Progress progress) {
    Truth truth;
    const Probe probe = TwoBuckets(progress).probe(truth);
    Measured all{{}, median(truth.total), median(truth.exposed), median(probe.pairs.without)};
    add_overlap(all.run, probe.pairs, probe.reductions, world());
    return all;
}

std::string why_none(const results::Run& run) {
    for (const auto& fact : run.context)
        if (fact.section == "communication" && fact.key == "no_overlap") return fact.value;
    return "";
}

// However busy the machine: a number with its interval that is near what really was, or none and a
// reason. Steps without communication that were disturbed tell nothing of those with it.
void expect_true_or_none(const Measured& all) {
    const double overlap = all.run.median("overlap");
    const auto& ci = all.run.find("overlap")->summary.ci95;
    EXPECT_EQ(all.run.find("overlap")->summary.n, static_cast<std::size_t>(kPairs));
    EXPECT_EQ(std::isnan(overlap), !why_none(all.run).empty()) << why_none(all.run);
    if (std::isnan(overlap)) return;
    EXPECT_TRUE(overlap >= 0 && overlap <= 1 && ci.low <= overlap && overlap <= ci.high);
    if (std::abs(all.without / seconds(kBackward) - 1) < 0.1) {
        EXPECT_NEAR(overlap, all.overlap(), 0.3)
            << "of " << all.total << " s " << all.exposed << " exposed";
    }
}

class KnownOverlap : public ::testing::Test {
  protected:
    void SetUp() override {
        if (world().world_size() < 2) GTEST_SKIP() << "one rank sends nothing";
    }
};

TEST_F(KnownOverlap, IsHalfWhereSomebodyMovesTheFirstBucket) {
    const Measured all = measured(train::Progress::thread);
    expect_true_or_none(all);
    if (!all.kept_time(seconds(kTravel))) GTEST_SKIP() << "the machine is too busy to keep times";
    EXPECT_EQ(why_none(all.run), "");
    EXPECT_NEAR(all.run.median("communication_s") / all.total, 1, 0.2);
    EXPECT_NEAR(all.run.median("overlap"), 0.5, 0.2);
    EXPECT_NEAR(all.run.median("overlap_balance"), 1, 0.2);
}

// Nobody moves anything during backward: all is paid after it, and no hidden share is made up.
TEST_F(KnownOverlap, IsNoneWhereNobodyMovesAnything) {
    const Measured all = measured(train::Progress::none);
    expect_true_or_none(all);
    EXPECT_LT(all.run.median("communication_inside_backward_s"), 0.1 * all.total)
        << "lying is no travelling";
    if (!all.kept_time(2 * seconds(kTravel)))
        GTEST_SKIP() << "the machine is too busy to keep times";
    EXPECT_NEAR(all.run.median("communication_s") / all.total, 1, 0.2);
    const double overlap = all.run.median("overlap");
    EXPECT_TRUE(std::isnan(overlap) || overlap < 0.2) << overlap;
}

}  // namespace
}  // namespace ranklab::experiments
