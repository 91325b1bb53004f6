#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "comm/exchange.hpp"
#include "experiments/storage/record.hpp"
#include "host/process.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {
namespace {

using nlohmann::json;

// Ids of threads are unique in a process: a rank has its workers' ids after its own.
constexpr int kLanesOfRank = 10'000;

void name(json& all, const char* what, std::size_t process, int thread, const std::string& text) {
    all.push_back({{"name", what},
                   {"ph", "M"},
                   {"pid", process},
                   {"tid", thread},
                   {"args", {{"name", text}}}});
}

// The events of this rank's lanes.
json lanes_of(const std::vector<TracedStrategy>& mine, int rank) {
    json all = json::array();
    for (std::size_t process = 0; process < mine.size(); ++process) {
        const auto& [begin, lanes] = mine[process].traced;
        name(all, "process_name", process, 0, mine[process].name);
        int thread = rank * kLanesOfRank;
        for (const auto& lane : lanes) {
            const int worker = thread - rank * kLanesOfRank;
            name(all, "thread_name", process, thread,
                 fmt::format("rank {} on {}{}", rank, host::host_name(),
                             worker == 0 ? "" : fmt::format(", worker {}", worker - 1)));
            for (const auto& event : lane)
                all.push_back(
                    {{"name", event.what < base::kIoPhaseCount ? base::kIoPhaseNames[event.what]
                                                               : "record"},
                     {"ph", "X"},
                     {"ts", 1e6 * base::seconds_between(begin, event.begin)},
                     {"dur", 1e6 * event.seconds()},
                     {"pid", process},
                     {"tid", thread}});
            ++thread;
        }
    }
    return all;
}

}  // namespace

void write_trace(const std::string& path, const std::vector<TracedStrategy>& mine,
                 comm::Communicator& control) {
    const std::string own = lanes_of(mine, control.rank()).dump();
    json all = json::array();
    for (int rank = 0; rank < control.world_size(); ++rank) {
        const auto text = comm::broadcast_text(control, rank == control.rank() ? own : "", rank);
        if (control.rank() > 0) continue;
        const json events = json::parse(text);
        all.insert(all.end(), events.begin(), events.end());
    }
    comm::all_or_throw(control, [&] {
        if (control.rank() > 0) return;
        const json whole{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(all)}};
        results::write_text(path, whole.dump(), "trace");
    });
}

}  // namespace ranklab::experiments
