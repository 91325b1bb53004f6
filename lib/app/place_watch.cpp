#include "app/place_watch.hpp"

#include <set>

#include "comm/exchange.hpp"
#include "host/facts.hpp"

namespace ranklab::app {

PlaceWatch::PlaceWatch(comm::Communicator& control, const std::vector<host::Placement>& placements)
    : control_(control) {
    const auto& mine = placements[static_cast<std::size_t>(control.rank())];
    std::set<int> cpus;
    for (const auto& place : placements)
        if (place.host == mine.host) cpus.insert(place.cpus.begin(), place.cpus.end());
    cpus_.assign(cpus.begin(), cpus.end());
    looks_ = mine.local_rank == 0;
    begin_ = host::look_at(cpus_);
}

host::Quiet PlaceWatch::since_then() const {
    host::Span span = host::span_of(begin_, host::look_at(cpus_), static_cast<int>(cpus_.size()));
    span.rank = control_.rank();
    span.host = host::host_name();
    span.looks = looks_;
    return host::quiet_of(comm::gather_values(control_, span));
}

}  // namespace ranklab::app
