#include "app/place_watch.hpp"

#include <set>
#include <utility>

#include "comm/exchange.hpp"
#include "host/facts.hpp"
#include "host/process.hpp"

namespace ranklab::app {

PlaceWatch::PlaceWatch(comm::Communicator& control, const std::vector<host::Placement>& placements,
                       PlaceLooks looks)
    : control_(control), looks_(std::move(looks)) {
    const auto& mine = placements[static_cast<std::size_t>(control.rank())];
    std::set<int> cpus;
    for (const auto& place : placements)
        if (place.host == mine.host) cpus.insert(place.cpus.begin(), place.cpus.end());
    cpus_.assign(cpus.begin(), cpus.end());
    looks_at_host_ = mine.local_rank == 0;
}

void PlaceWatch::begin() {
    begin_ = look();
}

// Who waits at a barrier may spin, which the host counts as busy. The first one has all come, so that little
// of it lies between a rank's own time and the look.
PlaceWatch::Look PlaceWatch::look() const {
    Look look;
    control_.barrier();
    look.own_before = looks_.own_seconds();
    control_.barrier();
    look.host = looks_.host(looks_at_host_ ? cpus_ : std::vector<int>{});
    control_.barrier();
    look.own_after = looks_.own_seconds();
    return look;
}

// The most that the ranks can have used between the two looks at their host: what is left was others'.
std::vector<host::Span> PlaceWatch::spans() const {
    if (!begin_) return {};
    const Look end = look();
    host::Span span = host::span_of(begin_->host, end.host, static_cast<int>(cpus_.size()));
    span.own_s = end.own_after - begin_->own_before;
    span.rank = control_.rank();
    span.peak_rss_bytes = host::peak_rss_bytes();
    span.memory_limit_bytes = host::memory_asked_bytes();
    span.host = host::host_name();
    span.looks = looks_at_host_;
    host::add_clocks(span, clocks_.before, clocks_.after);
    return comm::gather_values(control_, span);
}

}  // namespace ranklab::app
