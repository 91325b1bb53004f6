// The lifeline among real ranks: they meet in spite of strangers and of ranks that are late, and hear of each
// other's progress.
#include "comm/lifeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "comm/exchange.hpp"
#include "comm/line_addresses.hpp"
#include "mpi_world.hpp"

namespace ranklab::comm {
namespace {

using base::Motion;
using ranklab::testing::world;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

// Counts what it calls.
struct Heard {
    std::atomic<int> lost{0};
    std::promise<std::string> unreached;

    LifelineCalls calls() {
        return {[this](const std::string&) { ++lost; }, [this](const std::string&) { ++lost; },
                [this](const std::string& who) { unreached.set_value(who); }};
    }
};

int ranks_at(const Standing& all, const std::string& activity) {
    int ranks = 0;
    for (const auto& one : all.activities)
        if (one.text == activity) ranks += one.ranks.count();
    return ranks;
}

// Notes go to and fro until all ranks have heard `motion` of others: of rank `teller`, who alone moves.
void tell_until_all_hear(Lifeline& line, int teller) {
    bool heard = world().rank() == teller;
    for (std::int64_t all = 0; all == 0;) {
        heard = line.heard() == Motion::seen || heard;
        line.tell(world().rank() == teller ? Motion::seen : Motion::none, "testing");
        all = heard ? 1 : 0;
        world().allreduce(view(std::span(&all, 1)), ReduceOp::min);
    }
}

TEST(Lifeline, EveryRankHearsOfEveryOther) {
    Heard heard;
    {
        Lifeline line(world(), "node", heard.calls());
        for (int teller = 0; teller < world().world_size(); ++teller) tell_until_all_hear(line, teller);
        const auto others = line.others().value();
        EXPECT_TRUE(others.unknown.empty()) << others.unknown.text();
        EXPECT_TRUE(others.silent.empty()) << others.silent.text();
        if (world().rank() == 0) {
            EXPECT_EQ(ranks_at(others, "testing"), world().world_size() - 1);
        }
        world().barrier();
    }
    EXPECT_EQ(heard.lost, 0);
}

TEST(Lifeline, RanksOfOneHostListenOnLoopbackAlone) {
    Heard heard;
    const Lifeline line(world(), "node", heard.calls());
    EXPECT_THAT(line.places(), ::testing::SizeIs(1));
    EXPECT_THAT(line.places(), Each(::testing::StartsWith("127.0.0.1:")));
}

TEST(Lifeline, RanksOfOtherHostsFindEachOther) {
    Heard heard;
    Lifeline line(world(), world().rank() == 0 ? "node0" : "node1", heard.calls());
    tell_until_all_hear(line, world().world_size() - 1);
}

// The ranks' first tries, of 20 ms, are over when rank 0 begins to look: they wait in its backlog.
TEST(Lifeline, ALateRank0LosesNobody) {
    Heard heard;
    std::promise<void> all_gave_up;
    LifelineSettings settings;
    settings.patience.first = milliseconds(20);
    if (world().rank() == 0) settings.before_meeting = [&] { all_gave_up.get_future().wait(); };
    {
        Lifeline line(world(), "node", heard.calls(), settings);
        if (world().rank() != 0) {  // as the line's own thread does
            const Socket never(::socket(AF_INET, SOCK_STREAM, 0));
            for (int i = 0; i < 5; ++i)
                EXPECT_FALSE(reach(std::vector<LineTarget>{{0, line.places(), {"x", "y"}}}, world().rank(),
                                   never.get(), {milliseconds(20), milliseconds(20)})
                                 .socket);
        }
        world().barrier();
        all_gave_up.set_value();
        tell_until_all_hear(line, 0);
        tell_until_all_hear(line, world().world_size() - 1);
        world().barrier();
    }
    EXPECT_EQ(heard.lost, 0);
}

// Far more than the 2 x ranks knocks after which there was no lifeline, without a word.
TEST(Lifeline, StrangersWhoComeFirstChangeNothing) {
    Heard heard;
    std::promise<void> strangers_came;
    LifelineSettings settings;
    if (world().rank() != 0) settings.before_meeting = [&] { strangers_came.get_future().wait(); };
    std::vector<Socket> strangers;
    {
        Lifeline line(world(), "node", heard.calls(), settings);
        if (world().rank() == 0) {
            for (int i = 0; i < 200; ++i) {
                const auto place = place_of(line.places().front());
                auto& stranger = strangers.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
                EXPECT_EQ(connect(stranger.get(), reinterpret_cast<const sockaddr*>(&*place), sizeof *place),
                          0);
                if (i % 2 == 0) send_now(stranger.get(), "GET / HTTP/1.0\r\n\r\n");
            }
        }
        world().barrier();
        strangers_came.set_value();
        tell_until_all_hear(line, world().world_size() - 1);
        world().barrier();
    }
    EXPECT_EQ(heard.lost, 0);
}

TEST(Lifeline, ARankThatCannotComeIsSaidAndNoLoss) {
    Heard heard;
    LifelineSettings settings;
    settings.open_for = milliseconds(1);
    if (world().rank() != 0) settings.patience.all = milliseconds(0);
    {
        Lifeline line(world(), "node", heard.calls(), settings);
        if (world().rank() == 0) {
            EXPECT_THAT(
                heard.unreached.get_future().get(),
                AllOf(HasSubstr("rank 1 on node"), HasSubstr(std::to_string(world().world_size() - 1))));
        }
        EXPECT_EQ(line.heard(), Motion::unknown) << "it may work, for all that is known";
        EXPECT_EQ(line.others()->unknown.count(), world().rank() == 0 ? world().world_size() - 1 : 1);
        world().barrier();
    }
    EXPECT_EQ(heard.lost, 0);
}

std::vector<LineDoor::Arrival> all_arrivals(LineDoor& door) {
    std::vector<LineDoor::Arrival> all;
    while (static_cast<int>(all.size()) < world().world_size() - 1) {
        for (auto& arrival : door.serve()) all.push_back(std::move(arrival));
        std::this_thread::yield();
    }
    return all;
}

// Rank 0's time for meeting ends between its answer and the rank's confirmation.
TEST(Lifeline, ARankThatIsHungUpOnAtTheDoorComesAgainAndLosesNobody) {
    Heard heard;
    if (world().rank() == 0) {
        const auto door = meet(world(), "node").door;  // as a Lifeline's rank 0 does
        static_cast<void>(all_arrivals(*door));        // closed at once
        const auto welcome = all_arrivals(*door);
        for (const auto& guest : welcome) send_now(guest.socket.get(), "+");
        world().barrier();
        for (const auto& guest : welcome) send_now(guest.socket.get(), "B");
        world().barrier();
    } else {
        Lifeline line(world(), "node", heard.calls());
        while (line.heard() != Motion::seen) std::this_thread::yield();
        world().barrier();
        world().barrier();
    }
    EXPECT_EQ(heard.lost, 0);
}

TEST(Lifeline, ARankThatIsSilentDoesNotAnswer) {
    Heard heard;
    Lifeline line(world(), "node", heard.calls());
    tell_until_all_hear(line, 1);
    if (world().rank() == 0) {
        // Ends with the test's time otherwise.
        while (line.others()->silent.count() < world().world_size() - 1) line.tell(Motion::none, "testing");
        static_cast<void>(line.heard());
        EXPECT_EQ(line.heard(), Motion::none);
    }
    world().barrier();
}

}  // namespace
}  // namespace ranklab::comm
