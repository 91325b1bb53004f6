#include "comm/rank_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace ranklab::comm {

void RankRanges::add(int first, int last) {
    std::vector<Range> kept;
    for (const Range& range : ranges_) {
        if (range.last + 1 < first || range.first > last + 1) {
            kept.push_back(range);
            continue;
        }
        first = std::min(first, range.first);
        last = std::max(last, range.last);
    }
    kept.insert(std::ranges::lower_bound(kept, first, {}, &Range::first), {first, last});
    ranges_ = std::move(kept);
    for (; ranges_.size() > kMost; ranges_.pop_back())
        more_ += ranges_.back().last - ranges_.back().first + 1;
}

void RankRanges::add(const RankRanges& others) {
    const auto ranges = others.ranges_;  // it may be this one
    for (const Range& range : ranges) add(range.first, range.last);
    more_ += others.more_;
}

void RankRanges::take_out(int rank) {
    const auto range = std::ranges::find_if(
        ranges_, [rank](const Range& one) { return one.first <= rank && rank <= one.last; });
    if (range == ranges_.end()) {
        --more_;
        return;
    }
    const Range whole = *range;
    const auto rest = ranges_.erase(range);
    std::vector<Range> kept;
    if (whole.first < rank) kept.push_back({whole.first, rank - 1});
    if (whole.last > rank) kept.push_back({rank + 1, whole.last});
    ranges_.insert(rest, kept.begin(), kept.end());
}

bool RankRanges::has(int rank) const {
    return std::ranges::any_of(
        ranges_, [rank](const Range& range) { return range.first <= rank && rank <= range.last; });
}

int RankRanges::count() const {
    int sum = more_;
    for (const Range& range : ranges_) sum += range.last - range.first + 1;
    return sum;
}

std::string RankRanges::text() const {
    std::vector<std::string> parts;
    for (const auto& [first, last] : ranges_)
        parts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    return base::join(parts, ",") + (more_ > 0 ? fmt::format(" and {} more", more_) : "");
}

void RankGroup::add(int rank, const std::string& name) {
    add(RankGroup{{{rank, name}}, RankRanges(rank)});
}

void RankGroup::add(const RankGroup& others) {
    ranks.add(others.ranks);
    for (const auto& one : others.named)
        if (std::ranges::find(named, one.rank, &Member::rank) == named.end()) named.push_back(one);
    std::ranges::sort(named, {}, &Member::rank);
    if (named.size() > kNamed) named.resize(kNamed);
}

std::string RankGroup::text() const {
    std::vector<std::string> names;
    RankRanges rest = ranks;
    for (const auto& one : named) {
        names.push_back(one.name);
        rest.take_out(one.rank);
    }
    const std::string others = rest.text();
    if (names.empty()) return fmt::format("rank{} {}", rest.count() == 1 ? "" : "s", others);
    return base::join(names, ", ") +
           (rest.empty() ? "" : fmt::format(" and {} more ({})", rest.count(), others));
}

}  // namespace ranklab::comm
