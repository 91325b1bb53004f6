// The lifeline of ten thousand ranks, without a socket: the nodes of the tree talk over a network that is a
// map of texts, and time is a number.
#include "comm/line_node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/pack.hpp"

namespace ranklab::comm {
namespace {

using base::Motion;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The host of a rank.
using Placed = std::function<int(int rank)>;
Placed blocks_of(int per_host) {
    return [per_host](int rank) { return rank / per_host; };
}
Placed cyclic_over(int hosts) {
    return [hosts](int rank) { return rank % hosts; };
}

std::vector<std::uint64_t> hosts_of(int ranks, const Placed& placed) {
    std::vector<std::uint64_t> hosts;
    for (int rank = 0; rank < ranks; ++rank) hosts.push_back(static_cast<std::uint64_t>(placed(rank)));
    return hosts;
}

// Whom a standing counts, as whatever.
int counted(const Standing& standing) {
    int ranks = standing.silent.count() + standing.unknown.count() + standing.at_others;
    for (const auto& one : standing.activities) ranks += one.ranks.count();
    return ranks;
}

/// A job's nodes. tick() is a second: each looks at what it heard and tells its neighbours.
class Job {
  public:
    Job(int ranks, int per_host) : Job(ranks, blocks_of(per_host)) {}
    Job(int ranks, Placed placed) : size_(ranks), placed_(std::move(placed)) {
        const LineTree tree(hosts_of(ranks, placed_));
        nodes_.reserve(static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) {
            auto seat = tree.seat_of(rank);
            std::map<int, std::string> names;
            const auto name = [&](int one) { names[one] = name_of(one); };
            if (seat.parent >= 0) name(seat.parent);
            if (seat.grandparent >= 0) name(seat.grandparent);
            for (const auto& branch : seat.branches) {
                name(branch.rank);
                for (const auto& twig : branch.twigs) name(twig.rank);
            }
            nodes_.emplace_back(std::move(seat), std::move(names), now_);
        }
    }

    std::string name_of(int rank) const { return fmt::format("rank {} on node{:03}", rank, placed_(rank)); }
    LineNode& at(int rank) { return nodes_[static_cast<std::size_t>(rank)]; }
    int size() const { return size_; }
    int depth() { return at(0).seat().depth; }
    int parent(int rank) { return at(rank).seat().parent; }

    void connect(int below, int above) {
        if (!at(above).joined(below, now_) || !at(below).joined(above, now_))
            throw std::logic_error("they know each other already, or have no business with each other");
        lines_.insert({below, above});
        send(above, below, spoken(Motion::unknown));
    }
    void connect_all(const std::set<int>& but = {}) {
        for (int rank = 1; rank < size_; ++rank)
            if (!but.contains(rank)) connect(rank, parent(rank));
    }

    // Those that are stopped do nothing. What each heard, by rank.
    void tick(
        const std::function<Motion(int)>& motion,
        const std::function<std::string(int)>& activity = [](int) { return std::string("training"); }) {
        now_ += seconds(1);
        heard_.assign(static_cast<std::size_t>(size_), Motion::unknown);
        std::vector<std::tuple<int, int, std::string>> said;
        for (int rank = 0; rank < size_; ++rank) {
            if (silent_.contains(rank)) continue;
            heard_[static_cast<std::size_t>(rank)] = at(rank).heard(now_);
            at(rank).tell(motion(rank), activity(rank), now_);
        }
        for (const auto& [below, above] : lines_) {
            if (!silent_.contains(below)) said.emplace_back(below, above, at(below).words_for(above));
            if (!silent_.contains(above)) said.emplace_back(above, below, at(above).words_for(below));
        }
        bytes_ = 0;
        for (const auto& [from, to, words] : said) {
            bytes_ += words.size();
            longest_ = std::max(longest_, words.size());
            send(from, to, words);
        }
    }
    void ticks(int count, Motion motion = Motion::none) {
        for (int i = 0; i < count; ++i) tick([motion](int) { return motion; });
    }
    Motion heard_by(int rank) const { return heard_[static_cast<std::size_t>(rank)]; }
    bool all_heard(Motion motion) const { return std::ranges::count(heard_, motion) == std::ssize(heard_); }
    std::size_t bytes() const { return bytes_; }
    std::size_t longest() const { return longest_; }

    void stop(int rank) { silent_.insert(rank); }
    void go_on(int rank) {
        silent_.erase(rank);
        for (const auto& [from, words] : unread_[rank]) static_cast<void>(at(rank).take(from, words, now_));
        unread_.erase(rank);
    }
    // Those who are behind a silent one move to the next above, as far as both want it.
    int move_those_who_seek() {
        int moved = 0;
        for (int rank = 0; rank < size_; ++rank) {
            if (silent_.contains(rank) || !at(rank).seeks_another(now_)) continue;
            const int above = at(rank).seat().grandparent;
            if (silent_.contains(above) || !at(above).expects_more(now_)) continue;
            connect(rank, above);
            ++moved;
        }
        return moved;
    }

    // The process ends: the neighbours see it, and word of it goes up. Who was named to rank 0, in order.
    std::vector<std::string> die(const std::vector<int>& ranks) {
        std::vector<std::string> named;
        for (const int rank : ranks) silent_.insert(rank);
        for (const int rank : ranks) {
            for (const auto& [below, above] : std::set(lines_)) {
                if (below != rank && above != rank) continue;
                const int neighbour = below == rank ? above : below;
                lines_.erase({below, above});
                if (silent_.contains(neighbour)) continue;
                EXPECT_EQ(at(neighbour).ended(rank), LineNode::End::lost);
                send_up(neighbour, at(neighbour).name_of(rank), named);
            }
        }
        return named;
    }

    LineNode::Time now() const { return now_; }

  private:
    void send(int from, int to, const std::string& words) {
        if (silent_.contains(to))
            unread_[to].emplace_back(from, words);
        else
            static_cast<void>(at(to).take(from, words, now_));
    }
    void send_up(int rank, const std::string& who, std::vector<std::string>& named) {
        if (rank == 0) return named.push_back(who);
        for (const int above : at(rank).above()) {
            if (silent_.contains(above)) continue;
            const auto told = at(above).take(rank, spoken(LineWord::Kind::lost, who), now_);
            send_up(above, told.value(), named);
        }
    }

    int size_;
    Placed placed_;
    std::vector<LineNode> nodes_;
    std::set<std::pair<int, int>> lines_;  // below, above
    std::set<int> silent_;
    std::map<int, std::vector<std::pair<int, std::string>>> unread_;  // by those who are silent
    std::vector<Motion> heard_;
    std::size_t bytes_ = 0;
    std::size_t longest_ = 0;
    LineNode::Time now_{std::chrono::hours(1)};
};

// With many ranks below it, on its host and elsewhere.
int an_inner_rank(Job& job) {
    int most = 0;
    int found = -1;
    for (int rank = 1; rank < job.size(); ++rank) {
        int below = 0;
        for (const auto& branch : job.at(rank).seat().branches) below += branch.ranks.count();
        if (below > most) {
            most = below;
            found = rank;
        }
    }
    return found;
}

int a_leaf(Job& job) {
    for (int rank = job.size() - 1;; --rank)
        if (job.at(rank).seat().branches.empty()) return rank;
}

Motion stands_still(int) {
    return Motion::none;
}

class TenThousand : public ::testing::Test {
  protected:
    static const Job& strangers() {
        static const Job job(10000, 64);
        return job;
    }
    static const Job& met() {
        static const Job job = [] {
            Job all = strangers();
            all.connect_all();
            all.ticks(2 * all.depth() + 1);
            return all;
        }();
        return job;
    }
    void meet() { job_ = met(); }

    Job job_ = strangers();
};

TEST_F(TenThousand, EachHasFewNeighboursAndAllAreReached) {
    std::size_t most = 0;
    for (int rank = 0; rank < job_.size(); ++rank) {
        const auto& seat = job_.at(rank).seat();
        most = std::max(most, seat.branches.size() + (seat.parent >= 0 ? 1 : 0));
    }
    EXPECT_EQ(most, 2U * LineTree::kBranches + 1);
    EXPECT_EQ(job_.depth(), 5);
    RankRanges all(0);
    for (const auto& branch : job_.at(0).seat().branches) all.add(branch.ranks);
    EXPECT_EQ(all.count(), job_.size());
    EXPECT_TRUE(all.has(9999));
}

TEST_F(TenThousand, NothingIsKnownUntilAllHaveMetAndThenAllIsKnown) {
    const int late = an_inner_rank(job_);
    job_.connect_all({late});
    for (int i = 0; i < 30; ++i) {
        ASSERT_FALSE(job_.at(0).is_whole()) << "nobody waits for the others any more once it is";
        job_.ticks(1);
        const int count = counted(job_.at(0).others(job_.now()));
        ASSERT_LE(count, 9999);
        ASSERT_TRUE(count == 9999 || i <= 2 * job_.depth()) << count;
    }
    EXPECT_EQ(job_.heard_by(0), Motion::unknown);
    EXPECT_TRUE(job_.all_heard(Motion::unknown)) << "nobody may take the job for stalled";
    EXPECT_FALSE(job_.at(0).is_whole());
    const auto unknown = job_.at(0).others(job_.now()).unknown;
    EXPECT_EQ(unknown.named.front().name, job_.name_of(late)) << unknown.text();
    job_.connect(late, job_.parent(late));
    job_.ticks(2 * job_.depth() + 1);
    EXPECT_TRUE(job_.at(0).is_whole());
    EXPECT_TRUE(job_.all_heard(Motion::none));
    EXPECT_THAT(job_.at(0).others(job_.now()).unknown.ranks.count(), 0);
}

TEST_F(TenThousand, MotionIsEverywhereAfterTheWayThereAndBack) {
    meet();
    for (const int mover : {0, an_inner_rank(job_), a_leaf(job_), 9999}) {
        job_.tick([&](int rank) { return rank == mover ? Motion::seen : Motion::none; });
        std::set<int> heard{mover};
        for (int i = 0; i < 2 * job_.depth(); ++i) {
            job_.tick(stands_still);
            for (int rank = 0; rank < job_.size(); ++rank)
                if (job_.heard_by(rank) == Motion::seen) heard.insert(rank);
        }
        EXPECT_EQ(static_cast<int>(heard.size()), job_.size()) << "rank " << mover;
        job_.ticks(2 * job_.depth());
        EXPECT_TRUE(job_.all_heard(Motion::none)) << "there is no echo";
    }
}

TEST_F(TenThousand, ALineCarriesAByteASecondEachWayAndABoundedTextWhereActivitiesChange) {
    meet();
    job_.ticks(1);
    EXPECT_EQ(job_.bytes(), 2U * 9999);
    for (int second = 0; second < 8; ++second)
        job_.tick(stands_still,
                  [&](int rank) { return fmt::format("writing file {} of {:060}", rank + second, 1); });
    EXPECT_LT(job_.longest(), 4096U);
    EXPECT_EQ(job_.at(0).others(job_.now()).activities.size(), Standing::kActivities);
}

TEST_F(TenThousand, WhatStandsStillIsNamedAndTheRareAboveAll) {
    meet();
    for (int i = 0; i < job_.depth() + 1; ++i)
        job_.tick(stands_still, [](int rank) {
            return rank == 7777    ? "reading data"
                   : rank % 2 == 0 ? "summing gradients"
                                   : "storing a checkpoint";
        });
    const auto all = job_.at(0).others(job_.now());
    EXPECT_THAT(all.activities_text(), HasSubstr("rank 7777: reading data"));
    EXPECT_EQ(counted(all), 9999);
}

TEST_F(TenThousand, AnyOneDeathIsNamedAndNoOther) {
    meet();
    for (int rank = 1; rank < job_.size(); rank += 997) {
        Job copy = job_;
        EXPECT_THAT(copy.die({rank}), ElementsAre(job_.name_of(rank)));
    }
}

TEST(LineNode, EachDeathOfAFewHundredRanksIsNamedAndNoOther) {
    Job job(300, 20);
    job.connect_all();
    job.ticks(2 * job.depth() + 1);
    for (int rank = 1; rank < job.size(); ++rank) {
        Job copy = job;
        EXPECT_THAT(copy.die({rank}), ElementsAre(job.name_of(rank)));
    }
}

TEST_F(TenThousand, TheDeathOfAnInnerRankIsNotThatOfThoseBehindIt) {
    meet();
    const int inner = an_inner_rank(job_);
    EXPECT_THAT(job_.die({inner}), ElementsAre(job_.name_of(inner)));
}

TEST_F(TenThousand, OfTwoDeathsBothAreNamedWhereRank0CanHear) {
    meet();
    const int inner = an_inner_rank(job_);
    const int leaf = a_leaf(job_);
    ASSERT_NE(job_.parent(leaf), inner);
    Job copy = job_;
    EXPECT_THAT(copy.die({inner, leaf}), UnorderedElementsAre(job_.name_of(inner), job_.name_of(leaf)));
    // One behind the other: word of it reaches nobody, and the one in front is named.
    const int behind = job_.at(inner).seat().branches.front().rank;
    EXPECT_THAT(job_.die({inner, behind}), ElementsAre(job_.name_of(inner)));
}

TEST_F(TenThousand, ADeathOfRank0IsSeenByThoseBelowIt) {
    meet();
    EXPECT_THAT(job_.die({0}), IsEmpty());
    for (const auto& branch : job_.at(0).seat().branches)
        EXPECT_THAT(job_.at(branch.rank).above(), IsEmpty());
}

TEST_F(TenThousand, AStoppedInnerRankIsNamedAndThoseBehindItFindAnotherWay) {
    meet();
    const int inner = an_inner_rank(job_);
    const int behind = job_.at(inner).seat().branches.back().rank;
    job_.stop(inner);
    const auto moves = [&](int rank) { return rank == behind ? Motion::seen : Motion::none; };
    int moved = 0;
    int unheard = 0;
    for (int i = 0; i < 60; ++i) {
        job_.tick(moves);
        moved += job_.move_those_who_seek();
        unheard = job_.heard_by(0) == Motion::none ? unheard + 1 : 0;
        ASSERT_LT(unheard, 2 + job_.depth()) << "a rank that works was taken for one that does not";
    }
    EXPECT_EQ(moved, std::ssize(job_.at(inner).seat().branches));
    EXPECT_EQ(job_.heard_by(0), Motion::seen);
    const auto all = job_.at(0).others(job_.now());
    EXPECT_EQ(all.silent.text(), job_.name_of(inner));
    EXPECT_TRUE(all.unknown.empty()) << all.unknown.text();
    job_.ticks(2 * job_.depth() + 2);
    EXPECT_EQ(job_.heard_by(0), Motion::none) << "now nothing moves, and that is known";
    job_.go_on(inner);
    job_.ticks(2 * job_.depth() + 2);
    const auto again = job_.at(0).others(job_.now());
    EXPECT_TRUE(again.silent.empty());
    EXPECT_EQ(counted(again), 9999) << "those with two lines are counted once";
    EXPECT_TRUE(job_.all_heard(Motion::none));
}

// Of ranks in many pieces only a count is kept, from which nothing can be taken away that was not added.
TEST(LineNode, EachOfRanksDealtRoundRobinIsCountedOnceWhileAnInnerOneIsStopped) {
    Job job(1280, cyclic_over(20));
    job.connect_all();
    job.ticks(2 * job.depth() + 1);
    ASSERT_EQ(counted(job.at(0).others(job.now())), 1279);
    const int inner = an_inner_rank(job);
    ASSERT_GT(job.at(inner).seat().branches.size(), 3U);
    job.stop(inner);
    job.ticks(10);
    for (const auto& branch : job.at(inner).seat().branches) {
        EXPECT_EQ(counted(job.at(0).others(job.now())), 1279) << "before rank " << branch.rank << " moves";
        ASSERT_TRUE(job.at(branch.rank).seeks_another(job.now()));
        job.connect(branch.rank, job.parent(inner));
        job.ticks(job.depth() + 1);
    }
    EXPECT_EQ(counted(job.at(0).others(job.now())), 1279);
    job.go_on(inner);
    job.ticks(2 * job.depth() + 2);
    const auto again = job.at(0).others(job.now());
    EXPECT_TRUE(again.silent.empty() && again.unknown.empty()) << again.unknown.text();
    EXPECT_EQ(counted(again), 1279);
}

TEST_F(TenThousand, AHostThatHangsIsSilentAndTheHostsBehindItAreNot) {
    meet();
    const int leader = 64;  // of the second host
    for (int rank = leader; rank < leader + 64; ++rank) job_.stop(rank);
    for (int i = 0; i < 60; ++i) {
        job_.ticks(1);
        job_.move_those_who_seek();
    }
    const auto all = job_.at(0).others(job_.now());
    EXPECT_EQ(all.silent.text(), job_.name_of(leader));
    EXPECT_EQ(all.unknown.count(), 63);
    EXPECT_EQ(job_.heard_by(0), Motion::none) << "it is a stall, and known to be one";
}

TEST_F(TenThousand, WhoCannotReachTheOneAboveComesToTheNextAndIsKnown) {
    const int inner = an_inner_rank(job_);
    const int late = job_.at(inner).seat().branches.front().rank;
    job_.connect_all({late});
    job_.ticks(20);
    job_.connect(late, job_.parent(inner));
    job_.ticks(2 * job_.depth() + 2);
    EXPECT_TRUE(job_.at(0).is_whole());
    EXPECT_TRUE(job_.all_heard(Motion::none));
    EXPECT_THAT(job_.die({late}), ElementsAre(job_.name_of(late)));
}

TEST(LineNode, ABusyMachinesLateNotesAreNoSilence) {
    Job job(200, 64);
    job.connect_all();
    job.ticks(10);
    for (int round = 0; round < 20; ++round) {  // each rank comes to it every fourth second
        for (int rank = 1; rank < job.size(); ++rank)
            rank % 4 == round % 4 ? job.go_on(rank) : job.stop(rank);
        job.ticks(1);
        ASSERT_NE(job.heard_by(0), Motion::seen);
        ASSERT_TRUE(job.at(0).others(job.now()).silent.empty());
    }
}

TEST(LineNode, WhoSaysGoodbyeIsNoLossAndWhoWasNotWelcomedHasLostNobody) {
    Job job(2, 1);
    job.connect(1, 0);
    EXPECT_EQ(job.at(0).take(1, spoken(LineWord::Kind::goodbye), job.now()), std::nullopt);
    EXPECT_EQ(job.at(0).ended(1), LineNode::End::left);
    Job other(2, 1);
    static_cast<void>(other.at(1).joined(0, other.now()));
    EXPECT_EQ(other.at(1).ended(0), LineNode::End::turned_away);
    EXPECT_TRUE(other.at(1).joined(0, other.now())) << "it comes again";
}

TEST(LineWords, ComeInAnyPiecesAndNothingElseIsTakenForOne) {
    const std::string all = spoken(Motion::seen) + spoken(LineWord::Kind::lost, "rank 1 on node07") + "xyz" +
                            spoken(LineWord::Kind::standing, std::string(300, '+')) + spoken(Motion::none);
    for (const std::size_t piece : {1U, 2U, 7U, 1000U}) {
        LineEar ear;
        std::vector<LineWord> words;
        for (std::size_t begin = 0; begin < all.size(); begin += piece) {
            ear.hear(all.substr(begin, piece));
            while (const auto word = ear.next()) words.push_back(*word);
        }
        ASSERT_EQ(words.size(), 4U);
        EXPECT_EQ(words[0].motion(), Motion::seen);
        EXPECT_EQ(words[1].text, "rank 1 on node07");
        EXPECT_EQ(words[2].text, std::string(300, '+'));
        EXPECT_EQ(words[3].motion(), Motion::none);
    }
}

}  // namespace
}  // namespace ranklab::comm
