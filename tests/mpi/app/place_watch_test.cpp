#include "app/place_watch.hpp"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "base/cast.hpp"
#include "comm/exchange.hpp"
#include "host/facts.hpp"
#include "mpi_world.hpp"

namespace ranklab::app {
namespace {

constexpr double kLate = 0.05;      // CPU seconds that others spend on waiting for the rank that looks
constexpr int kPatience = 5000;     // an MPI library whose ranks wait without work shows nothing here
constexpr double kRounding = 0.01;  // between the two ways in which the kernel tells a process' CPU time

double cpu_seconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return base::real(time.tv_sec) + 1e-9 * base::real(time.tv_nsec);
}

/// A host on which nobody but the ranks works, and whose looks come late.
class RanksAlone : public ::testing::Test {
  protected:
    RanksAlone() {
        for (const auto pid : comm::gather_values(control_, getpid())) {
            clockid_t clock{};
            EXPECT_EQ(clock_getcpuclockid(pid, &clock), 0);
            clocks_.push_back(clock);
        }
        for (int rank = 0; rank < control_.world_size(); ++rank) {
            host::Placement place;
            place.rank = place.local_rank = rank;
            place.host = host::host_name();
            place.cpus = {0, 1};
            places_.push_back(place);
        }
    }

    double of_all_ranks() const {
        return std::accumulate(clocks_.begin(), clocks_.end(), 0.0,
                               [](double sum, clockid_t clock) { return sum + cpu_seconds(clock); });
    }
    // As a rank does that the system leaves without a CPU meanwhile. The others' waiting is work.
    void come_late() const {
        if (clocks_.size() == 1) return;
        const double before = of_all_ranks();
        for (int i = 0; i < kPatience && of_all_ranks() < before + kLate; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    PlaceLooks looks(bool late) {
        PlaceLooks looks;
        looks.host = [this, late](const std::vector<int>& cpus) {
            host::Activity activity;
            if (!cpus.empty()) {
                if (late) come_late();
                activity.busy_s = of_all_ranks();
            }
            activity.at_s =
                std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
            activity.all_s = 1000 * activity.at_s;
            return activity;
        };
        looks.clock = [this] { return clock_; };
        return looks;
    }

    comm::Communicator& control_ = testing::world();
    std::vector<clockid_t> clocks_;
    std::vector<host::Placement> places_;
    std::optional<host::CpuClock> clock_;
};

TEST_F(RanksAlone, KeepTheirCpusBusyThemselvesHoweverLateOneLooks) {
    PlaceWatch watch(control_, places_, looks(true));
    watch.begin();
    const auto spans = watch.spans();
    ASSERT_EQ(spans.size(), places_.size());
    double own = 0;
    for (const auto& span : spans) own += span.own_s;
    ASSERT_TRUE(spans.front().busy_s);
    EXPECT_GE(own + kRounding, *spans.front().busy_s) << "nobody else was there";
}

TEST_F(RanksAlone, HaveTheClocksOfWhatWasCounted) {
    PlaceWatch watch(control_, places_, looks(false));
    watch.begin();
    EXPECT_FALSE(watch.spans().front().mhz_before) << "nothing was counted";
    clock_ = host::CpuClock{7, 1200};
    watch.counting_begins();
    clock_ = host::CpuClock{7, 3400};
    EXPECT_FALSE(watch.spans().front().mhz_before) << "it has not ended";
    watch.counting_ends();
    EXPECT_EQ(watch.spans().back().mhz_before, 1200);
    EXPECT_EQ(watch.spans().back().mhz_after, 3400);
    clock_ = host::CpuClock{8, 3400};
    watch.counting_ends();
    EXPECT_FALSE(watch.spans().front().mhz_before) << "another CPU";
}

TEST_F(RanksAlone, SayNothingBeforeTheBeginning) {
    PlaceWatch watch(control_, places_, looks(false));
    EXPECT_TRUE(host::facts_of(host::quiet_of(watch.spans())).empty());
}

}  // namespace
}  // namespace ranklab::app
