// Who is connected to whom on the lifeline: a tree over the job's ranks with a few neighbours each. The ranks
// of a host are below one of them, and these below each other, so that one line crosses the network for each
// host. Private to comm and its tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/rank_group.hpp"

namespace ranklab::comm {

/// One rank's neighbours.
struct LineSeat {
    /// A rank below this one, and all behind it.
    struct Branch {
        int rank = 0;
        RankRanges ranks;             ///< itself and all below it
        std::vector<Branch> twigs{};  ///< the ranks right below it, without theirs
    };

    int rank = 0;
    int parent = -1;       ///< -1: this is rank 0
    int grandparent = -1;  ///< -1: there is none
    int turn = 0;          ///< among the ranks below the same one, from 0 on
    int level = 0;         ///< lines from here to rank 0
    int depth = 0;         ///< the same of the rank that is farthest away
    std::vector<Branch> branches;
};

class LineTree {
  public:
    /// A rank has at most that many below it on its own host and, if it is its host's first, as many on
    /// others.
    static constexpr int kBranches = 8;

    /// By rank: what names the host that it is on.
    explicit LineTree(std::span<const std::uint64_t> hosts, int branches = kBranches);

    LineSeat seat_of(int rank) const;

  private:
    int level_of(int rank) const;
    RankRanges ranks_at(int rank) const;

    std::vector<int> parents_;
    std::vector<std::vector<int>> below_;
    int depth_ = 0;
};

}  // namespace ranklab::comm
