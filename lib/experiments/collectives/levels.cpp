#include "experiments/collectives/levels.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "comm/exchange.hpp"
#include "host/facts.hpp"

namespace ranklab::experiments {

namespace {

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
    HostsOfJob hosts;
    hosts.by_rank = comm::gather_texts(control, host::host_name());
    struct Host {
        int first, ranks;
    };
    std::unordered_map<std::string_view, Host> of;
    for (std::size_t rank = 0; rank < hosts.by_rank.size(); ++rank)
        ++of.try_emplace(hosts.by_rank[rank], Host{static_cast<int>(rank), 0}).first->second.ranks;
    for (const auto& name : hosts.by_rank) {
        const Host& host = of.at(name);
        hosts.first_of.push_back(host.first);
        hosts.ranks_of.push_back(host.ranks);
    }
    hosts.count = static_cast<int>(of.size());
    hosts.most_ranks = std::ranges::max(hosts.ranks_of);
    return hosts;
}

std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control, const HostsOfJob& hosts,
                               bool all) {
    std::vector<Level> levels;
    levels.push_back(
        {.name = "job", .ranks = control.world_size(), .active = true, .data = &data, .control = &control});
    if (!all || !hosts.has_levels()) return levels;
    const auto me = static_cast<std::size_t>(control.rank());
    const bool is_first_here = hosts.first_of[me] == control.rank();
    levels.push_back(
        part_of(data, control, "host", hosts.first_of[me], hosts.ranks_of[me] == hosts.most_ranks));
    levels.push_back(part_of(data, control, "hosts", is_first_here ? 0 : 1, is_first_here));
    return levels;
}

namespace {

constexpr double kOld = 3;        // seconds
constexpr double kDrift = 50e-6;  // of quartz clocks that nobody steers: twice 20 ppm, and some

}  // namespace

JobClocks::JobClocks(comm::Communicator& control, std::vector<std::string> hosts)
    : control_(control),
      hosts_(std::move(hosts)),
      several_hosts_(std::ranges::any_of(hosts_, [this](const auto& host) { return host != hosts_[0]; })),
      first_(measure::clock_offsets(control, hosts_)),
      now_(first_) {}

void JobClocks::refresh() {
    if (!several_hosts_) return;
    if (comm::from_root(control_, measure::clock_seconds() - now_[0].at_s > kOld))
        now_ = measure::clock_offsets(control_, hosts_);
}

double JobClocks::error_s() const {
    const double least_sure = std::ranges::max(now_, {}, &measure::ClockOffset::error_s).error_s;
    if (!several_hosts_) return least_sure;
    const double age = measure::clock_seconds() - now_[static_cast<std::size_t>(control_.rank())].at_s;
    return least_sure + kDrift * std::max(age, kOld);
}

}  // namespace ranklab::experiments
