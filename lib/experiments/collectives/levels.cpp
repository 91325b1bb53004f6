#include "experiments/collectives/levels.hpp"

#include <algorithm>
#include <utility>

#include "comm/exchange.hpp"
#include "host/facts.hpp"

namespace ranklab::experiments {
namespace {

// Where this rank is among the ranks of all hosts.
struct HostPlace {
    int hosts = 0;
    int most_ranks = 0;  ///< on one host
    int host = 0;        ///< its first rank
    int ranks_here = 0;
    bool is_first_here = false;
};

HostPlace place_of(comm::Communicator& control) {
    const auto names = comm::gather_texts(control, host::host_name());
    HostPlace place;
    for (std::size_t rank = 0; rank < names.size(); ++rank) {
        const auto first = std::ranges::find(names, names[rank]) - names.begin();
        const auto ranks = static_cast<int>(std::ranges::count(names, names[rank]));
        if (static_cast<std::size_t>(first) == rank) ++place.hosts;
        place.most_ranks = std::max(place.most_ranks, ranks);
        if (static_cast<int>(rank) != control.rank()) continue;
        place.host = static_cast<int>(first);
        place.ranks_here = ranks;
        place.is_first_here = static_cast<std::size_t>(first) == rank;
    }
    return place;
}

Level part_of(comm::Communicator& data, comm::Communicator& control, std::string name, int color,
              bool active) {
    Level level{.name = std::move(name),
                .ranks = 1,
                .active = active,
                .data = nullptr,
                .control = nullptr,
                .own_data = data.split(color, data.rank()),
                .own_control = control.split(color, control.rank())};
    level.data = level.own_data.get();
    level.control = level.own_control.get();
    level.ranks = static_cast<int>(
        comm::reduced<std::int64_t>(control, active ? level.data->world_size() : 1, comm::ReduceOp::max));
    return level;
}

}  // namespace

HostsOfJob hosts_of_job(comm::Communicator& control) {
    const HostPlace place = place_of(control);
    return {place.hosts, place.most_ranks};
}

std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control, bool all) {
    std::vector<Level> levels;
    levels.push_back(
        {.name = "job", .ranks = control.world_size(), .active = true, .data = &data, .control = &control});
    const HostPlace place = place_of(control);
    if (!all || place.hosts < 2) return levels;
    if (place.most_ranks > 1)
        levels.push_back(part_of(data, control, "host", place.host, place.ranks_here == place.most_ranks));
    if (place.most_ranks > 1)
        levels.push_back(part_of(data, control, "hosts", place.is_first_here ? 0 : 1, place.is_first_here));
    return levels;
}

}  // namespace ranklab::experiments
