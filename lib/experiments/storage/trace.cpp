#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "comm/exchange.hpp"
#include "experiments/storage/record.hpp"
#include "host/process.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {
namespace {

using nlohmann::json;

// Thread ids are unique in a process: a rank's workers get the ids after its own.
constexpr std::size_t kLanesOfRank = 10'000;

void name(json& all, const char* what, std::size_t process, std::size_t thread,
          const std::string& text) {
    all.push_back({{"name", what},
                   {"ph", "M"},
                   {"pid", process},
                   {"tid", thread},
                   {"args", {{"name", text}}}});
}

void add_lanes(json& all, const Repeater::Traced& traced, std::size_t process, std::size_t rank,
               const std::string& host) {
    for (std::size_t lane = 0; lane < traced.lanes.size(); ++lane) {
        const std::size_t thread = rank * kLanesOfRank + lane;
        name(all, "thread_name", process, thread,
             fmt::format("rank {} on {}{}", rank, host,
                         lane == 0 ? "" : fmt::format(", worker {}", lane - 1)));
        for (const auto& event : traced.lanes[lane])
            all.push_back(
                {{"name",
                  event.what < base::kIoPhaseCount ? base::kIoPhaseNames[event.what] : "record"},
                 {"ph", "X"},
                 {"ts", 1e6 * (base::IoTimes::since_epoch(event.begin) - traced.begin_s)},
                 {"dur", 1e6 * event.seconds()},
                 {"pid", process},
                 {"tid", thread}});
    }
}

}  // namespace

void write_trace(const std::string& path, const std::vector<std::string>& strategies,
                 const std::vector<Repeater::Traced>& mine, comm::Communicator& control) {
    const auto hosts = comm::gather_texts(control, host::host_name());
    json all = json::array();
    for (std::size_t process = 0; process < strategies.size(); ++process)
        name(all, "process_name", process, 0, strategies[process]);
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto of_rank = comm::from_root(control, mine, static_cast<int>(rank));
        for (std::size_t process = 0; process < of_rank.size() && control.rank() == 0; ++process)
            add_lanes(all, of_rank[process], process, rank, hosts[rank]);
    }
    comm::all_or_throw(control, [&] {
        if (control.rank() > 0) return;
        const json whole{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(all)}};
        results::write_text(path, whole.dump(), "trace");
    });
}

}  // namespace ranklab::experiments
