// How the ranks of a lifeline find each other.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "comm/lifeline.hpp"
#include "comm/line_addresses.hpp"

namespace ranklab::comm {

// Rank 0 opens its door and tells the others where.
void Lifeline::meet(Communicator& control, const std::string& host) {
    const auto hosts = gather_texts(control, host);
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
        names_.push_back(fmt::format("rank {} on {}", rank, hosts[rank]));
    const auto ranks = gather_values(control, RankPlace{network_id(host), own_addresses()});
    if (rank_ == 0) {
        keys_ = random_keys();
        door_ = std::make_unique<LineDoor>(addresses_to_listen_on(ranks), keys_, control.world_size());
        places_ = door_->places();
    }
    keys_ = from_root(control, keys_);
    places_ = from_root(control, places_);
    // Loopback is another machine's own, elsewhere.
    const bool near = ranks[rank_].network == ranks.front().network;
    if (!near && places_.size() > 1)
        std::erase_if(places_, [](const std::string& place) { return place.starts_with("127."); });
}

// Again where rank 0 closed its door just then.
void Lifeline::knock() {
    constexpr int kMostTimes = 3;
    for (int i = 0; i < kMostTimes && !over_; ++i) {
        turned_away_ = false;
        join(0, reach_rank_0(places_, keys_, rank_, stop_.get(), settings_.patience));
        while (!over_ && !turned_away_) follow_peers();
    }
}

void Lifeline::say_unreached() {
    std::vector<std::string> missing;
    for (const auto& peer : peers())
        if (!peer.connected) missing.push_back(peer.name);
    constexpr std::size_t kNamed = 4;
    const std::size_t more = missing.size() - std::min(missing.size(), kNamed);
    missing.resize(std::min(missing.size(), kNamed));
    const std::string others = more > 0 ? fmt::format(" and {} more", more) : "";
    if (!missing.empty() && calls_.unreached) calls_.unreached(base::join(missing, ", ") + others);
}

}  // namespace ranklab::comm
