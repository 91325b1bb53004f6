// What is known of ranks, of one or of a thousand, in a bounded number of bytes: who does not answer, of whom
// nothing is known, and what the others are doing.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "comm/rank_group.hpp"

namespace ranklab::comm {

struct Standing {
    struct Activity {
        std::string text;
        RankRanges ranks;
        static auto fields(auto& self) { return std::tie(self.text, self.ranks); }
        bool operator==(const Activity&) const = default;
    };
    /// Of more activities than this the most common ones and the rarest are kept, and the others counted.
    static constexpr std::size_t kActivities = 8;
    static constexpr std::size_t kCommon = 3;

    RankGroup silent;                  ///< their notes have stopped
    RankGroup unknown;                 ///< not connected, or behind one that is silent
    std::vector<Activity> activities;  ///< of those that answer
    int at_others = 0;                 ///< ranks whose activities are not kept

    void add_activity(const std::string& text, const RankRanges& ranks);
    void add(const Standing& others);
    /// "rank 0: training, ranks 1-3: writing a checkpoint"
    std::string activities_text() const;

    static auto fields(auto& self) {
        return std::tie(self.silent, self.unknown, self.activities, self.at_others);
    }
    bool operator==(const Standing&) const = default;

  private:
    void shorten();
};

}  // namespace ranklab::comm
