#include "app/stall_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace ranklab::app {
namespace {

std::string named(std::vector<std::string> names) {
    constexpr std::size_t kNamed = 4;
    const std::size_t more = names.size() - std::min(names.size(), kNamed);
    names.resize(std::min(names.size(), kNamed));
    return base::join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

// "rank 0: training, ranks 1-3: writing a checkpoint"
std::string activities(int rank, const std::string& own, const std::vector<comm::PeerState>& peers) {
    std::map<std::string, std::vector<int>> ranks{{own, {rank}}};
    for (const auto& peer : peers)
        if (peer.answers && !peer.activity.empty()) ranks[peer.activity].push_back(peer.rank);
    std::vector<std::string> parts;
    for (auto& [activity, who] : ranks) {
        std::ranges::sort(who);
        parts.push_back(
            fmt::format("rank{} {}: {}", who.size() > 1 ? "s" : "", base::compact_ranges(who), activity));
    }
    return base::join(parts, ", ");
}

}  // namespace

bool StallClock::pass(double seconds, base::Motion motion) {
    const double counted = std::min(seconds, 2 * period_);
    still_ = motion == base::Motion::seen ? 0 : still_ + counted;
    quiet_ = motion == base::Motion::none ? quiet_ + counted : 0;
    return quiet_ >= limit_ || still_ >= kMostPatience * limit_;
}

std::string stall_sentence(double seconds, int rank, const std::string& own,
                           const std::vector<comm::PeerState>& peers) {
    constexpr const char* kEnd = "the job is ended (--stall-timeout)";
    if (peers.empty()) return fmt::format("no progress for {:.0f} s while {}; {}", seconds, own, kEnd);
    std::vector<std::string> silent;
    std::vector<std::string> unknown;
    for (const auto& peer : peers) {
        if (!peer.connected) unknown.push_back(peer.name);
        if (peer.connected && !peer.answers) silent.push_back(peer.name);
    }
    std::string why;
    if (!silent.empty())
        why = fmt::format("{} {} not answer (stopped, or {} node hangs); ", named(silent),
                          silent.size() > 1 ? "do" : "does", silent.size() > 1 ? "their" : "its");
    if (!unknown.empty()) why += fmt::format("nothing is known of {}; ", named(unknown));
    if (why.empty()) why = "all that tell of themselves wait; ";
    return fmt::format("no progress for {:.0f} s on any rank: {}{}; {}", seconds, why,
                       activities(rank, own, peers), kEnd);
}

}  // namespace ranklab::app
