#include "measure/clock_offset.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>

#include "comm/exchange.hpp"
#include "comm/point_to_point.hpp"

namespace ranklab::measure {
namespace {

constexpr int kTag = 7473;

double received(comm::Communicator& control, int from) {
    double value = 0;
    comm::receive(control, comm::view(std::span(&value, 1)), from, kTag);
    return value;
}

void send(comm::Communicator& control, double value, int to) {
    comm::send(control, comm::view(std::span<const double>(&value, 1)), to, kTag);
}

// Rank 0's part. Takes the time of the answer to be in the middle between question and arrival.
ClockOffset ask(comm::Communicator& control, int rank, int rounds) {
    ClockOffset best{.error_s = std::numeric_limits<double>::infinity()};
    for (int round = 0; round < rounds; ++round) {
        const double asked = clock_seconds();
        send(control, asked, rank);
        const double theirs = received(control, rank);
        const double heard = clock_seconds();
        const double error = (heard - asked) / 2;
        if (error < best.error_s) best = {theirs - (asked + heard) / 2, error, theirs};
    }
    return best;
}

void answer(comm::Communicator& control, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        received(control, 0);
        send(control, clock_seconds(), 0);
    }
}

}  // namespace

std::vector<ClockOffset> clock_offsets(comm::Communicator& control,
                                       const std::vector<std::string>& hosts, int rounds) {
    std::unordered_map<std::string_view, std::size_t> numbers;
    std::vector<std::size_t> host_of;  // by rank
    std::vector<int> asked;            // by host: its lowest rank other than rank 0, if any
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto [place, fresh] = numbers.try_emplace(hosts[rank], asked.size());
        host_of.push_back(place->second);
        if (fresh) asked.push_back(static_cast<int>(rank));
        if (asked[place->second] == 0) asked[place->second] = static_cast<int>(rank);
    }
    std::vector<ClockOffset> seen(1 + asked.size());  // rank 0's own, then by host
    seen[0].at_s = clock_seconds();
    for (std::size_t host = 0; host < asked.size(); ++host) {
        if (asked[host] == 0) continue;
        if (control.rank() == 0) seen[1 + host] = ask(control, asked[host], rounds);
        if (control.rank() == asked[host]) answer(control, rounds);
    }
    control.broadcast(comm::view(std::as_writable_bytes(std::span(seen))), 0);
    std::vector<ClockOffset> all;
    for (const auto host : host_of) all.push_back(seen[1 + host]);
    all[0] = seen[0];
    return all;
}

double clock_resolution() {
    double shortest = std::numeric_limits<double>::infinity();
    for (int look = 0; look < 1000; ++look) {
        const auto begin = base::Clock::now();
        auto end = begin;
        while (end == begin) end = base::Clock::now();
        shortest = std::min(shortest, base::seconds_between(begin, end));
    }
    return shortest;
}

}  // namespace ranklab::measure
