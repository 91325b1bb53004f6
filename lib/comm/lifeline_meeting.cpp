#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "base/text.hpp"
#include "comm/by_root.hpp"
#include "comm/exchange.hpp"
#include "comm/line_addresses.hpp"
#include "comm/line_meeting.hpp"
#include "comm/point_to_point.hpp"

namespace ranklab::comm {
namespace {

constexpr int kTag = 4713;

// Who a rank is, for those above it.
struct Card {
    int rank = 0;
    std::string host;
    RankPlace place;
    static auto fields(auto& self) { return std::tie(self.rank, self.host, self.place); }
};

// Whose door a rank may come to.
struct Invitation {
    int rank = 0;
    std::string host;
    std::string network;
    std::vector<std::string> places;
    LineKeys keys;
    static auto fields(auto& self) {
        return std::tie(self.rank, self.host, self.network, self.places, self.keys);
    }
};

template <class Value>
void send_value(Communicator& control, const Value& value, int to) {
    const std::string bytes = base::packed(value);
    const std::int64_t size = std::ssize(bytes);
    send(control, view(std::span(&size, 1)), to, kTag);
    send(control, view(std::span(bytes)), to, kTag);
}

template <class Value>
Value receive_value(Communicator& control, int from) {
    std::int64_t size = 0;
    receive(control, view(std::span(&size, 1)), from, kTag);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    receive(control, view(std::span(bytes)), from, kTag);
    return understood<Value>(bytes);
}

std::string name_of(int rank, const std::string& host) {
    return fmt::format("rank {} on {}", rank, host);
}

// From those right below, of themselves and of those right below them.
std::vector<Card> cards_from_below(Communicator& control, const LineSeat& seat) {
    std::vector<Card> cards;
    for (const auto& branch : seat.branches)
        for (auto& card : receive_value<std::vector<Card>>(control, branch.rank))
            cards.push_back(std::move(card));
    return cards;
}

// A rank's own card and its children's: theirs are of no use two levels further up.
void send_cards_up(Communicator& control, const LineSeat& seat, const Card& own, std::vector<Card> cards) {
    std::erase_if(cards, [&](const Card& card) {
        return std::ranges::find(seat.branches, card.rank, &LineSeat::Branch::rank) == seat.branches.end();
    });
    cards.insert(cards.begin(), own);
    send_value(control, cards, seat.parent);
}

// Loopback is another machine's own, elsewhere.
std::vector<std::string> places_from(const std::string& network, const Invitation& door) {
    auto places = door.places;
    if (network != door.network && places.size() > 1)
        std::erase_if(places, [](const std::string& place) { return place.starts_with("127."); });
    return places;
}

void open_door(LineMeeting& meeting, const Card& own, const std::vector<Card>& cards) {
    if (cards.empty()) return;
    std::vector<RankPlace> places{own.place};
    for (const auto& card : cards) places.push_back(card.place);
    meeting.keys = random_keys();
    meeting.door =
        std::make_unique<LineDoor>(addresses_to_listen_on(places), meeting.keys, guests_of(meeting.seat));
}

}  // namespace

std::vector<int> guests_of(const LineSeat& seat) {
    std::vector<int> ranks;
    for (const auto& branch : seat.branches) {
        ranks.push_back(branch.rank);
        for (const auto& twig : branch.twigs) ranks.push_back(twig.rank);
    }
    return ranks;
}

LineMeeting meet(Communicator& control, const std::string& host, int branches) {
    const Card own{control.rank(), host, {network_id(host), own_addresses()}};
    const std::uint64_t network = base::fingerprint(own.place.network);
    std::vector<std::uint64_t> hosts(static_cast<std::size_t>(control.world_size()));
    gather_to_all(control, view(std::as_bytes(std::span(&network, 1))),
                  view(std::as_writable_bytes(std::span(hosts))));
    LineMeeting meeting;
    meeting.seat = LineTree(hosts, branches).seat_of(own.rank);
    const LineSeat& seat = meeting.seat;
    const auto cards = cards_from_below(control, seat);
    open_door(meeting, own, cards);
    std::vector<Invitation> invitations;
    if (seat.parent >= 0) {
        send_cards_up(control, seat, own, cards);
        invitations = receive_value<std::vector<Invitation>>(control, seat.parent);
    }
    meeting.names[own.rank] = name_of(own.rank, host);
    for (const auto& card : cards) meeting.names[card.rank] = name_of(card.rank, card.host);
    for (const auto& door : invitations) {
        meeting.names[door.rank] = name_of(door.rank, door.host);
        meeting.targets.push_back({door.rank, places_from(own.place.network, door), door.keys});
    }
    if (!meeting.door) return meeting;
    std::vector<Invitation> below{{own.rank, host, own.place.network, meeting.door->places(), meeting.keys}};
    if (!invitations.empty()) below.push_back(invitations.front());
    for (const auto& branch : seat.branches) send_value(control, below, branch.rank);
    return meeting;
}

}  // namespace ranklab::comm
