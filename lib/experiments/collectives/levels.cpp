#include "experiments/collectives/levels.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "comm/exchange.hpp"
#include "host/process.hpp"

namespace ranklab::experiments {

namespace {

constexpr double kOld = 3;        // s; older offsets are measured again
constexpr double kDrift = 50e-6;  // s per s, between two quartz clocks of 20 ppm, with a margin

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

HostsOfJob hosts_of_job(comm::Communicator& control) {
    HostsOfJob hosts;
    hosts.by_rank = comm::gather_texts(control, host::host_name());
    std::unordered_map<std::string_view, int> ranks_of;
    for (const auto& name : hosts.by_rank)
        hosts.most_ranks = std::max(hosts.most_ranks, ++ranks_of[name]);
    const auto& here = hosts.by_rank[static_cast<std::size_t>(control.rank())];
    hosts.first_here =
        static_cast<int>(std::ranges::find(hosts.by_rank, here) - hosts.by_rank.begin());
    hosts.ranks_here = ranks_of[here];
    hosts.count = static_cast<int>(ranks_of.size());
    return hosts;
}

std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control,
                               const HostsOfJob& hosts, bool all) {
    std::vector<Level> levels;
    const std::shared_ptr<void> nobody;  // the caller owns both communicators
    levels.push_back({.name = "job",
                      .ranks = control.world_size(),
                      .data = {nobody, &data},
                      .control = {nobody, &control}});
    if (!all || !hosts.has_levels()) return levels;
    const bool is_first_here = hosts.first_here == control.rank();
    levels.push_back(
        part_of(data, control, "host", hosts.first_here, hosts.ranks_here == hosts.most_ranks));
    levels.push_back(part_of(data, control, "hosts", is_first_here ? 0 : 1, is_first_here));
    return levels;
}

JobClocks::JobClocks(comm::Communicator& control, std::vector<std::string> hosts)
    : control_(control),
      hosts_(std::move(hosts)),
      several_hosts_(
          std::ranges::any_of(hosts_, [this](const auto& host) { return host != hosts_[0]; })),
      offsets_(measure::clock_offsets(control, hosts_)) {}

void JobClocks::refresh() {
    if (!several_hosts_) return;
    if (comm::from_root(control_, measure::clock_seconds() - offsets_[0].at_s > kOld))
        offsets_ = measure::clock_offsets(control_, hosts_);
}

double JobClocks::error_s() const {
    const double largest = std::ranges::max(offsets_, {}, &measure::ClockOffset::error_s).error_s;
    if (!several_hosts_) return largest;
    const double age =
        measure::clock_seconds() - offsets_[static_cast<std::size_t>(control_.rank())].at_s;
    return largest + kDrift * std::max(age, kOld);
}

}  // namespace ranklab::experiments
