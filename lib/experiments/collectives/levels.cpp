#include "experiments/collectives/levels.hpp"

#include <algorithm>
#include <utility>

#include "comm/exchange.hpp"

namespace ranklab::experiments {

namespace {

Level part_of(comm::Communicator& data, comm::Communicator& control, std::string name, int color,
              bool active) {
    Level level{.name = std::move(name), .active = active};
    level.data = data.split(color, data.rank());
    level.control = control.split(color, control.rank());
    level.ranks = static_cast<int>(comm::reduced<std::int64_t>(
        control, active ? level.data->world_size() : 1, comm::ReduceOp::max));
    return level;
}

}  // namespace

std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control,
                               const std::vector<std::string>& hosts, bool all) {
    std::vector<Level> levels;
    const std::shared_ptr<void> nobody;  // the caller owns both communicators
    levels.push_back({.name = "job",
                      .ranks = control.world_size(),
                      .data = {nobody, &data},
                      .control = {nobody, &control}});
    const auto& here = hosts[static_cast<std::size_t>(control.rank())];
    const auto first_here = static_cast<int>(std::ranges::find(hosts, here) - hosts.begin());
    const std::int64_t ranks_here = std::ranges::count(hosts, here);
    const auto most = comm::reduced(control, ranks_here, comm::ReduceOp::max);
    if (!all || most == 1 || most == control.world_size()) return levels;
    const bool is_first_here = first_here == control.rank();
    levels.push_back(part_of(data, control, "host", first_here, ranks_here == most));
    levels.push_back(part_of(data, control, "hosts", is_first_here ? 0 : 1, is_first_here));
    return levels;
}

}  // namespace ranklab::experiments
