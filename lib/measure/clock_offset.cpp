#include "measure/clock_offset.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "comm/exchange.hpp"
#include "comm/mpi_environment.hpp"

namespace ranklab::measure {
namespace {

constexpr int kTag = 7473;
constexpr int kRounds = 30;
constexpr double kOld = 3;        // s; older offsets are measured again
constexpr double kDrift = 50e-6;  // s per s, between two quartz clocks of 20 ppm, with a margin

double received(comm::Communicator& control, int from) {
    double value = 0;
    comm::receive(control, comm::view(std::span(&value, 1)), from, kTag);
    return value;
}

void send(comm::Communicator& control, double value, int to) {
    comm::send(control, comm::view(std::span<const double>(&value, 1)), to, kTag);
}

// Rank 0's side of the exchange. Assumes that `rank` answers in the middle of the round trip.
ClockOffset ask(comm::Communicator& control, int rank) {
    ClockOffset best{.error_s = std::numeric_limits<double>::infinity()};
    for (int round = 0; round < kRounds; ++round) {
        const double asked = clock_seconds();
        send(control, asked, rank);
        const double theirs = received(control, rank);
        const double heard = clock_seconds();
        const double error = (heard - asked) / 2;
        if (error < best.error_s) best = {theirs - (asked + heard) / 2, error, theirs};
    }
    return best;
}

void answer(comm::Communicator& control) {
    for (int round = 0; round < kRounds; ++round) {
        received(control, 0);
        send(control, clock_seconds(), 0);
    }
}

}  // namespace

JobClocks::JobClocks(comm::Communicator& control, std::vector<std::string> hosts)
    : control_(control),
      hosts_(std::move(hosts)),
      several_hosts_(std::ranges::adjacent_find(hosts_, std::ranges::not_equal_to()) !=
                     hosts_.end()),
      offsets_(hosts_.size()) {
    measure();
}

void JobClocks::measure() {
    offsets_[0].at_s = clock_seconds();
    std::unordered_map<std::string_view, int> asked;  // by host: the lowest rank above 0
    for (int rank = 1; rank < control_.world_size(); ++rank) {
        const auto [first, is_new] = asked.try_emplace(hosts_[rank], rank);
        if (!is_new) {
            offsets_[rank] = offsets_[first->second];
        } else if (control_.rank() == 0) {
            offsets_[rank] = ask(control_, rank);
        } else if (control_.rank() == rank) {
            answer(control_);
        }
    }
    control_.broadcast(comm::view(std::as_writable_bytes(std::span(offsets_))), 0);
}

void JobClocks::refresh() {
    if (!several_hosts_) return;
    if (comm::from_root(control_, clock_seconds() - offsets_[0].at_s > kOld)) measure();
}

double JobClocks::error_s() const {
    const double largest = std::ranges::max(offsets_, {}, &ClockOffset::error_s).error_s;
    if (!several_hosts_) return largest;
    const double age = clock_seconds() - offsets_[static_cast<std::size_t>(control_.rank())].at_s;
    return largest + kDrift * std::max(age, kOld);
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
