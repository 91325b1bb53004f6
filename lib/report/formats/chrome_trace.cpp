#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "report/formats/formats.hpp"
#include "report/frame/frame.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Measurement;
using results::Run;
using Json = nlohmann::ordered_json;

// Eighths of a microsecond: viewers multiply a time in us by 1000 and cut it to whole nanoseconds,
// which is exact for eighths, so that no phase ends after its step.
constexpr std::int64_t kTicksPerMicrosecond = 8;
constexpr std::size_t kMostNamed = 12;

// Whether the run stored only the maximum over its ranks.
bool is_folded(const Run& run, const Measurement& steps) {
    return steps.columns == 1 && run.hosts.size() > 1 && run.fact(fact::kParticipants) != "1";
}

std::int64_t ticks(const Measurement& m, std::size_t place) {
    const double seconds = place < m.samples.size() ? m.samples[place] : 0;
    return seconds > 0 && std::isfinite(seconds)
               ? std::llround(seconds * 1e6 * kTicksPerMicrosecond)
               : 0;
}

class Trace {
  public:
    Trace(std::size_t most_steps, const model::Sink& sink) : most_steps_(most_steps), sink_(sink) {}

    void add(const Run& run) {
        const std::size_t before = drawn.size();
        for (const auto* whole : vocabulary::wholes()) {
            const Measurement* steps = run.find(whole->name);
            if (steps == nullptr || steps->samples.empty() || steps->columns == 0 ||
                is_folded(run, *steps))
                continue;
            const auto pids = name_ranks(run, steps->columns);
            const std::size_t count = std::min(steps->rows(), most_steps_);
            for (std::size_t rank = 0; rank < steps->columns; ++rank)
                add_rank(run, *steps, *whole, rank, count, pids[rank]);
            drawn.push_back({{"run", run.id},
                             {"of", whole->name},
                             {"drawn", count},
                             {"stored", steps->rows()}});
        }
        if (drawn.size() == before) left_out.push_back(run.id);
    }

    Json drawn = Json::array();         // runs, each with the number of its steps
    std::vector<std::string> left_out;  // ids of runs

  private:
    // Names a process per host and a thread per rank. Returns the process of each rank.
    std::vector<std::size_t> name_ranks(const Run& run, std::size_t ranks) {
        std::map<std::string, std::size_t> processes;
        std::vector<std::size_t> pids;
        auto hosts = run.hosts;
        hosts.resize(ranks, results::HostRow{0, 0, "unknown host", "", "", 0});
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const auto& row = hosts[rank];
            const auto [process, is_new] = processes.try_emplace(row.host, processes_);
            if (is_new)
                name("process_name", processes_++, 0,
                     fmt::format("{} {} on {}", run.id, workload_name(run), row.host));
            name("thread_name", process->second, rank,
                 fmt::format("rank {} (cpus {}, {})", rank, row.cpus, row.device));
            pids.push_back(process->second);
        }
        return pids;
    }

    void name(const char* what, std::size_t pid, std::size_t tid, const std::string& text) {
        put({{"name", what}, {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"args", {{"name", text}}}});
    }

    // Adds the steps in turn, and inside each step its phases, which end with the step at the
    // latest.
    void add_rank(const Run& run, const Measurement& steps, const vocabulary::Quantity& whole,
                  std::size_t rank, std::size_t most, std::size_t pid) {
        const auto add = [&](const auto& name, const char* category, std::int64_t from,
                             std::int64_t to) {
            put({{"name", name},
                 {"cat", category},
                 {"ph", "X"},
                 {"ts", base::real(from) / kTicksPerMicrosecond},  // in us
                 {"dur", base::real(to - from) / kTicksPerMicrosecond},
                 {"pid", pid},
                 {"tid", rank}});
        };
        const std::string axis = steps.axis.empty() ? "step" : steps.axis;
        std::int64_t start = 0;
        for (std::size_t step = 0; step < most; ++step) {
            const std::size_t place = step * steps.columns + rank;
            if (!(steps.samples[place] >= 0)) continue;
            const std::int64_t end = start + ticks(steps, place);
            add(fmt::format("{} {}", axis, step + 1), "step", start, end);
            for (const auto* phase : vocabulary::parts_of(whole)) {
                const Measurement* m = run.find(phase->name);
                if (m == nullptr || m->columns != steps.columns) continue;
                const std::int64_t until = std::min(start + ticks(*m, place), end);
                if (until > start) add(phase->phase, "phase", start, until);
                start = until;
            }
            start = end;
        }
    }

    void put(const Json& event) { sink_(std::exchange(between_, ",\n") + json_line(event)); }

    std::size_t most_steps_;
    const model::Sink& sink_;
    std::size_t processes_ = 1;  // 0 is the idle task in viewers
    std::string between_ = "\n";
};

}  // namespace

void write_chrome_trace(const model::ChosenRuns& runs, std::size_t most_steps,
                        const model::Sink& sink) {
    sink("{\"traceEvents\":[");
    Trace trace(most_steps, sink);
    if (!runs.everything())
        runs.visit(results::Detail::all, [&](const Run& run) { trace.add(run); });
    else if (const auto headers = runs.file().runs(); !headers.empty())
        trace.add(runs.file().read(headers.back().id));
    if (!trace.left_out.empty()) {
        const auto message = fmt::format(
            "not drawn, since the times of each rank are not stored: {}; above 64 ranks a run "
            "stores only the slowest rank's times",
            some_of(trace.left_out, kMostNamed));
        if (trace.drawn.empty())
            throw base::OptionError(message + "; choose other runs", {"where", "run"});
        base::log::warn(message);
    }
    const Json other = {
        {"time",
         "of each rank's own steps, one after another from 0; what lies between steps is left out, "
         "and ranks are not aligned with each other"},
        {"phase_order",
         "nominal: durations are measured, their order and starts inside a step are not"},
        {"runs", trace.drawn}};
    sink("\n],\"displayTimeUnit\":\"ms\",\"otherData\":" + json_line(other) + "}\n");
}

}  // namespace ranklab::report::formats
