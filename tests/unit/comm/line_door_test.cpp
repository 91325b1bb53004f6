// The handshake of the lifeline: who is let in, who is not, and that nobody keeps others out.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include <future>
#include <map>
#include <string>
#include <vector>

#include "base/pack.hpp"
#include "comm/line_addresses.hpp"
#include "comm/line_door.hpp"
#include "comm/line_guest.hpp"

namespace ranklab::comm {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::vector<std::string> kHere{"127.0.0.1"};

Socket reach_one(const LineDoor& door, const LineKeys& keys, int rank, int stop, LinePatience patience) {
    const std::vector<LineTarget> targets{{0, door.places(), keys}};
    return reach(targets, rank, stop, patience).socket;
}

class LineDoorTest : public ::testing::Test {
  protected:
    const std::vector<int> ranks_{1, 2, 3};
    LineKeys keys_ = random_keys();
    LineDoor door_{kHere, keys_, ranks_};
    Socket never_{eventfd(0, 0)};
    Socket at_once_{eventfd(1, 0)};

    std::future<Socket> come(int rank, milliseconds first = milliseconds(20000)) {
        return std::async(std::launch::async, [this, rank, first] {
            return reach_one(door_, keys_, rank, never_.get(), {first, milliseconds(100000)});
        });
    }
    // Until so many are in, by rank.
    std::map<int, Socket> serve_until(std::size_t count) {
        std::map<int, Socket> in;
        while (in.size() < count) {
            pollfd one{door_.descriptor(), POLLIN, 0};
            poll(&one, 1, 50);
            for (auto& arrival : door_.serve())
                EXPECT_TRUE(in.emplace(arrival.rank, std::move(arrival.socket)).second);
        }
        return in;
    }
    // Connected, having said that.
    Socket stranger(const std::string& words) const {
        Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const auto place = place_of(door_.places().front());
        EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&*place), sizeof *place), 0);
        EXPECT_EQ(send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(words.size()));
        return socket;
    }
    // Serves until the door hangs up on the socket.
    void expect_hung_up(const Socket& socket) {
        char byte = 0;  // of an answer, to one that confirms wrongly
        ssize_t got = 0;
        do {
            EXPECT_THAT(door_.serve(), IsEmpty());
            got = recv(socket.get(), &byte, 1, MSG_DONTWAIT);
        } while (got == 1 || (got < 0 && errno == EAGAIN));
    }
    // Until so many stand there.
    void serve_until_guests(std::size_t count) {
        while (door_.guests() < count) EXPECT_THAT(door_.serve(), IsEmpty());
    }
};

TEST_F(LineDoorTest, RanksComeInAndTheLineWorksBothWays) {
    auto one = come(1);
    auto two = come(2);
    auto in = serve_until(2);
    const Socket guest = one.get();
    ASSERT_TRUE(guest);
    ASSERT_TRUE(two.get());
    EXPECT_TRUE(send_now(in.at(1).get(), "x"));
    char byte = 0;
    pollfd wait{guest.get(), POLLIN, 0};
    EXPECT_EQ(poll(&wait, 1, 20000), 1);
    EXPECT_EQ(recv(guest.get(), &byte, 1, 0), 1);
    EXPECT_EQ(byte, 'x');
}

// Rank 0 was late, the rank had given up and was gone: it was let in from the backlog, and declared lost.
TEST_F(LineDoorTest, OneThatGaveUpIsNoPeerAndMayComeAgain) {
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(reach_one(door_, keys_, 1, never_.get(), {milliseconds(20), milliseconds(20)}));
    for (int i = 0; i < 20; ++i) EXPECT_THAT(door_.serve(), IsEmpty());
    EXPECT_EQ(door_.guests(), 0U);
    auto again = come(1);
    auto in = serve_until(1);
    EXPECT_EQ(in.begin()->first, 1);
    EXPECT_TRUE(again.get());
}

TEST_F(LineDoorTest, AShortPatienceGrowsUntilALateRank0IsMet) {
    auto guest = come(3, milliseconds(1));
    while (door_.guests() < 2) {  // as many as have given up and wait in the backlog
        pollfd one{door_.descriptor(), POLLIN, 0};
        ASSERT_EQ(poll(&one, 1, 20000), 1);
        for (auto& arrival : door_.serve()) {
            EXPECT_EQ(arrival.rank, 3);
            EXPECT_TRUE(guest.get());
            return;
        }
    }
}

TEST_F(LineDoorTest, SilentStrangersKeepNobodyOut) {
    std::vector<Socket> strangers;
    for (std::size_t i = 0; i < 3 * door_.most_guests(); ++i) {
        strangers.push_back(stranger(""));
        EXPECT_THAT(door_.serve(), IsEmpty());
    }
    EXPECT_LE(door_.guests(), door_.most_guests());
    auto one = come(1);
    auto two = come(2);
    auto three = come(3);
    EXPECT_EQ(serve_until(3).size(), 3U);
    EXPECT_TRUE(one.get() && two.get() && three.get());
}

TEST_F(LineDoorTest, WhoSaysSomethingElseIsHungUpOn) {
    const auto hello = hello_of(keys_, 1);
    auto other_password = hello;
    other_password[20] ^= 1;
    for (const auto& words : {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(100000, 'x'), other_password,
                              keys_.password + "zzzzzzzz", hello_of(keys_, 0), hello_of(keys_, 4),
                              keys_.password + "ffffffff", hello + "X"}) {
        SCOPED_TRACE(words.substr(0, 60));
        expect_hung_up(stranger(words));
    }
    EXPECT_EQ(door_.guests(), 0U);
}

TEST_F(LineDoorTest, OneThatKnowsThePasswordIsNotPushedOutByStrangers) {
    const Socket slow = stranger(hello_of(keys_, 2));
    serve_until_guests(1);
    std::vector<Socket> strangers;
    for (std::size_t i = 0; i < 2 * door_.most_guests(); ++i) {
        strangers.push_back(stranger("ran"));
        EXPECT_THAT(door_.serve(), IsEmpty());
    }
    ASSERT_TRUE(send_now(slow.get(), std::string(1, kConfirmed)));
    EXPECT_EQ(serve_until(1).begin()->first, 2);
}

TEST_F(LineDoorTest, AGuestIsNotTakenInByAnotherServersAnswer) {
    LineDoor other(kHere, {keys_.password, random_keys().answer}, ranks_);
    auto guest = std::async(std::launch::async, [&] {
        return reach_one(other, keys_, 1, never_.get(), {milliseconds(20000), milliseconds(1)});
    });
    while (guest.wait_for(milliseconds(1)) != std::future_status::ready)
        EXPECT_THAT(other.serve(), IsEmpty());
    EXPECT_FALSE(guest.get());
}

TEST_F(LineDoorTest, AStoppedGuestDoesNotWait) {
    EXPECT_FALSE(reach_one(door_, keys_, 1, at_once_.get(), {milliseconds(3600000), milliseconds(3600000)}));
    EXPECT_FALSE(reach({}, 1, at_once_.get(), {milliseconds(3600000), milliseconds(3600000)}).socket);
}

TEST_F(LineDoorTest, WhoCannotReachOneDoorComesToTheNextWhenItIsLate) {
    const std::vector<LineTarget> targets{{7, {"127.0.0.1:1"}, keys_}, {0, door_.places(), keys_}};
    auto guest = std::async(std::launch::async, [&] {
        return reach(targets, 1, never_.get(), {milliseconds(50), milliseconds(1000)});
    });
    EXPECT_TRUE(serve_until(1).contains(1));
    EXPECT_EQ(guest.get().rank, 0);
}

TEST_F(LineDoorTest, ADoorThatWasClosedOpensAgainAtItsPlaceBesideItsLines) {
    const auto places = door_.places();
    auto one = come(1);
    const auto in = serve_until(1);
    ASSERT_TRUE(one.get());
    { const LineDoor closed = std::move(door_); }
    door_ = LineDoor(places, keys_, ranks_);
    EXPECT_EQ(door_.places(), places);
    auto two = come(2);
    EXPECT_TRUE(serve_until(1).contains(2));
    EXPECT_TRUE(two.get());
}

TEST_F(LineDoorTest, FewDescriptorsAreFewStrangers) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit few{64, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const LineDoor door(kHere, keys_, ranks_);
    EXPECT_LT(door.most_guests(), 16U);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(LineDoorTest, ListensWhereItIsToldAndNowhereElse) {
    ASSERT_EQ(door_.places().size(), 1U);
    EXPECT_EQ(door_.places().front().rfind("127.0.0.1:", 0), 0U);
    const LineDoor nowhere(std::vector<std::string>{"203.0.113.1", "no address"}, keys_, ranks_);
    EXPECT_THAT(nowhere.places(), IsEmpty());
}

// ---- where to listen

std::optional<std::string> by_ten(const std::string& remote) {
    return remote.rfind("10.", 0) == 0 ? std::optional<std::string>("10.0.0.1") : std::nullopt;
}

TEST(LineAddresses, RanksOfOneHostMeetOnLoopbackAlone) {
    const RankPlace here{"a/net:[1]", {"10.0.0.1", "172.17.0.1"}};
    EXPECT_THAT(addresses_to_listen_on({here, here, here}, by_ten), ElementsAre("127.0.0.1"));
}

TEST(LineAddresses, OtherHostsComeByTheAddressThatFacesThem) {
    const RankPlace here{"a/net:[1]", {"10.0.0.1", "172.17.0.1", "192.168.7.7"}};
    const RankPlace there{"b/net:[1]", {"10.0.0.2", "172.17.0.1"}};
    EXPECT_THAT(addresses_to_listen_on({here, there}, by_ten), ElementsAre("10.0.0.1"));
    EXPECT_THAT(addresses_to_listen_on({here, here, there}, by_ten),
                UnorderedElementsAre("127.0.0.1", "10.0.0.1"));
}

TEST(LineAddresses, ARankThatNothingFacesMayComeByAny) {
    const RankPlace here{"a/net:[1]", {"10.0.0.1", "192.168.7.7"}};
    const RankPlace there{"b/net:[1]", {"172.17.0.1"}};
    EXPECT_THAT(addresses_to_listen_on({here, there}, by_ten),
                UnorderedElementsAre("10.0.0.1", "192.168.7.7"));
    const RankPlace container{"b/net:[2]", {"10.0.0.1"}};
    EXPECT_THAT(addresses_to_listen_on({here, container}, by_ten),
                UnorderedElementsAre("10.0.0.1", "192.168.7.7"));
}

TEST(LineAddresses, AMachineWithoutANetworkHasLoopback) {
    EXPECT_THAT(addresses_to_listen_on({{"a", {}}, {"b", {}}}, by_ten), ElementsAre("127.0.0.1"));
    EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(address_towards("no address"), std::nullopt);
}

TEST(LineAddresses, APlaceSurvivesTheJourney) {
    const RankPlace there{"node/net:[4026531840]", {"10.0.0.1", "10.0.0.2"}};
    const auto place = base::unpacked<RankPlace>(base::packed(there)).value();
    EXPECT_EQ(place.network, "node/net:[4026531840]");
    EXPECT_THAT(place.addresses, ElementsAre("10.0.0.1", "10.0.0.2"));
    EXPECT_EQ(network_id("node"), network_id("node"));
}

}  // namespace
}  // namespace ranklab::comm
