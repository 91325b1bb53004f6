#include "comm/line_tree.hpp"

#include <algorithm>
#include <unordered_map>

namespace ranklab::comm {

LineTree::LineTree(std::span<const std::uint64_t> hosts, int branches)
    : parents_(hosts.size(), -1), below_(hosts.size()) {
    const auto width = static_cast<std::size_t>(branches);
    std::unordered_map<std::uint64_t, std::size_t> known;
    std::vector<std::vector<int>> ranks_of;  // by host, in the order in which ranks meet them
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto [host, is_new] = known.try_emplace(hosts[rank], ranks_of.size());
        if (is_new) ranks_of.emplace_back();
        ranks_of[host->second].push_back(static_cast<int>(rank));
    }
    const auto put = [this](int rank, int parent) {
        parents_[static_cast<std::size_t>(rank)] = parent;
        below_[static_cast<std::size_t>(parent)].push_back(rank);
    };
    for (std::size_t host = 1; host < ranks_of.size(); ++host)
        put(ranks_of[host].front(), ranks_of[(host - 1) / width].front());
    for (const auto& ranks : ranks_of)
        for (std::size_t i = 1; i < ranks.size(); ++i) put(ranks[i], ranks[(i - 1) / width]);
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
        depth_ = std::max(depth_, level_of(static_cast<int>(rank)));
}

int LineTree::level_of(int rank) const {
    int level = 0;
    for (; parents_[static_cast<std::size_t>(rank)] >= 0; rank = parents_[static_cast<std::size_t>(rank)])
        ++level;
    return level;
}

RankRanges LineTree::ranks_at(int rank) const {
    std::vector<int> all{rank};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& below = below_[static_cast<std::size_t>(all[i])];
        all.insert(all.end(), below.begin(), below.end());
    }
    std::ranges::sort(all);
    RankRanges ranges;
    for (const int one : all) ranges.add(one, one);
    return ranges;
}

LineSeat LineTree::seat_of(int rank) const {
    const auto& at = [this](int one) -> const std::vector<int>& {
        return below_[static_cast<std::size_t>(one)];
    };
    LineSeat seat;
    seat.rank = rank;
    seat.parent = parents_[static_cast<std::size_t>(rank)];
    if (seat.parent >= 0) {
        seat.grandparent = parents_[static_cast<std::size_t>(seat.parent)];
        const auto& siblings = at(seat.parent);
        seat.turn = static_cast<int>(std::ranges::find(siblings, rank) - siblings.begin());
    }
    seat.level = level_of(rank);
    seat.depth = depth_;
    for (const int branch : at(rank)) {
        auto& added = seat.branches.emplace_back(LineSeat::Branch{branch, ranks_at(branch)});
        for (const int twig : at(branch)) added.twigs.push_back({twig, ranks_at(twig)});
    }
    return seat;
}

}  // namespace ranklab::comm
