// Ranks of a job in a few bytes, however many they are: by number in ranges, and a few by name.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace ranklab::comm {

/// Ranks by number. At most kMost ranges of them; of those beyond only their count is kept, so that what is
/// added must not be in it yet, and what is taken out must be.
class RankRanges {
  public:
    static constexpr std::size_t kMost = 8;

    RankRanges() = default;
    explicit RankRanges(int rank) { add(rank, rank); }

    void add(int first, int last);
    void add(const RankRanges& others);
    void take_out(int rank);
    bool has(int rank) const;
    int count() const;
    bool empty() const { return count() == 0; }
    std::string text() const;  ///< "0-3,9", "0-3,9 and 17 more"

    static auto fields(auto& self) { return std::tie(self.ranges_, self.more_); }
    bool operator==(const RankRanges&) const = default;

  private:
    struct Range {
        int first, last;
        bool operator==(const Range&) const = default;
    };
    std::vector<Range> ranges_;  // ascending, with gaps between them
    int more_ = 0;
};

/// Ranks of which the first few are known by name.
struct RankGroup {
    static constexpr std::size_t kNamed = 4;
    struct Member {
        int rank = 0;
        std::string name;
        static auto fields(auto& self) { return std::tie(self.rank, self.name); }
        bool operator==(const Member&) const = default;
    };
    std::vector<Member> named;
    RankRanges ranks;

    void add(int rank, const std::string& name);
    void add(const RankRanges& others) { ranks.add(others); }
    void add(const RankGroup& others);
    bool empty() const { return ranks.empty(); }
    int count() const { return ranks.count(); }
    std::string text() const;  ///< "rank 1 on node07, rank 5 on node09 and 3 more (6-8)"

    static auto fields(auto& self) { return std::tie(self.named, self.ranks); }
    bool operator==(const RankGroup&) const = default;
};

}  // namespace ranklab::comm
