// How the ranks of a lifeline find each other.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

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
    const auto texts = gather_texts(control, serialise({network_id(host), own_addresses()}));
    if (rank_ == 0) {
        std::vector<RankPlace> ranks;
        std::transform(texts.begin(), texts.end(), std::back_inserter(ranks), deserialise_place);
        keys_ = random_keys();
        door_ = std::make_unique<LineDoor>(addresses_to_listen_on(ranks), keys_, control.world_size());
        places_ = door_->places();
    }
    std::istringstream words(broadcast_text(
        control, fmt::format("{} {} {}", keys_.password, keys_.answer, fmt::join(places_, " ")), 0));
    words >> keys_.password >> keys_.answer;
    places_.clear();
    for (std::string place; words >> place;) places_.push_back(place);
    // Loopback is another machine's own, elsewhere.
    const bool near = deserialise_place(texts[rank_]).network == deserialise_place(texts.front()).network;
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
