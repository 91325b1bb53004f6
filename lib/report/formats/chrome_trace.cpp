#include "report/formats/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include "base/error.hpp"

#include "report/formats/names.hpp"
#include "report/frame/readable.hpp"
#include "report/frame/write.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Measurement;
using results::Run;
using Json = nlohmann::ordered_json;

constexpr double kNanoseconds = 1e9;
constexpr const char* kOnlySlowest =
    "this run stored the slowest rank's time alone, as runs of more than 64 ranks do";

// One column of several ranks that took part is their maximum.
bool is_folded(const Run& run, const Measurement& steps) {
    return steps.columns == 1 && run.hosts.size() > 1 && run.fact("storage", "participants") != "1";
}

class Trace {
  public:
    Trace(std::size_t most_steps, const model::Sink& sink) : most_steps_(most_steps), sink_(sink) {}

    void add(const Run& run) {
        bool has_times = false;
        for (const auto* whole : vocabulary::wholes()) {
            const Measurement* steps = run.find(whole->name);
            if (steps == nullptr || steps->samples.empty() || steps->columns == 0) continue;
            has_times = true;
            if (is_folded(run, *steps)) {
                left_out_.push_back(fmt::format("run {} is not drawn: {}", run.id, kOnlySlowest));
                return;
            }
            const std::size_t drawn = std::min(steps->rows(), most_steps_);
            const auto pids = name_processes(run, steps->columns);
            for (std::size_t rank = 0; rank < steps->columns; ++rank)
                add_rank(run, *steps, *whole, rank, drawn, pids.at(rank));
            drawn_.push_back(
                {{"run", run.id}, {"of", whole->name}, {"drawn", drawn}, {"stored", steps->rows()}});
        }
        if (!has_times)
            left_out_.push_back(
                fmt::format("run {} is not drawn: it has no times of steps or repetitions", run.id));
    }

    /// A sentence a run that is not drawn.
    const std::vector<std::string>& left_out() const { return left_out_; }
    const Json& drawn() const { return drawn_; }

  private:
    // They lie in the order of ranks; a search for each would be quadratic in them.
    static std::vector<results::HostRow>::const_iterator row_of(const Run& run, std::size_t rank) {
        if (rank < run.hosts.size() && run.hosts[rank].rank == static_cast<int>(rank))
            return run.hosts.begin() + static_cast<std::ptrdiff_t>(rank);
        return std::ranges::find(run.hosts, static_cast<int>(rank), &results::HostRow::rank);
    }

    // A process for each host that has ranks, in the order of ranks.
    std::vector<std::size_t> name_processes(const Run& run, std::size_t ranks) {
        std::map<std::string, std::size_t> of_host;
        std::vector<std::size_t> pids(ranks, 0);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const auto row = row_of(run, rank);
            const bool known = row != run.hosts.end();
            const std::string host = known ? row->host : "unknown host";
            const auto [place, fresh] = of_host.try_emplace(host, processes_);
            if (fresh) {
                ++processes_;
                name("process_name", place->second, 0,
                     fmt::format("{} {} on {}", run.id, workload_name(run), host));
            }
            pids[rank] = place->second;
            name("thread_name", place->second, rank,
                 known ? fmt::format("rank {} (cpus {}, {})", rank, row->cpus, row->device)
                       : fmt::format("rank {}", rank));
        }
        return pids;
    }

    void name(const char* what, std::size_t pid, std::size_t tid, const std::string& text) {
        put({{"name", what}, {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"args", {{"name", text}}}});
    }

    // Steps one after another; inside each the phases of the same row, which end with it at the latest. In
    // whole nanoseconds, so that no rounding lets a phase end behind its step.
    void add_rank(const Run& run, const Measurement& steps, const vocabulary::Quantity& whole,
                  std::size_t rank, std::size_t most, std::size_t pid) {
        const auto phases = vocabulary::parts_of(whole);
        std::int64_t start = 0;
        for (std::size_t step = 0; step < most; ++step) {
            const double seconds = steps.samples[step * steps.columns + rank];
            if (!(seconds >= 0)) continue;
            const std::int64_t end = start + std::llround(seconds * kNanoseconds);
            const std::string name = fmt::format("{} {}", steps.axis.empty() ? "step" : steps.axis, step + 1);
            event(name, "step", pid, rank, start, end - start);
            std::int64_t at = start;
            for (const auto* phase : phases) {
                const Measurement* m = run.find(phase->name);
                const std::size_t place = step * steps.columns + rank;
                if (m == nullptr || m->columns != steps.columns || place >= m->samples.size()) continue;
                const double length = m->samples[place] * kNanoseconds;
                const std::int64_t part =
                    length > 0 ? std::min(static_cast<std::int64_t>(length), end - at) : 0;
                if (part == 0) continue;
                event(std::string(phase->phase), "phase", pid, rank, at, part);
                at += part;
            }
            start = end;
        }
    }

    void event(const std::string& name, const char* category, std::size_t pid, std::size_t tid,
               std::int64_t start_ns, std::int64_t length_ns) {
        put({{"name", name},
             {"cat", category},
             {"ph", "X"},
             {"ts", static_cast<double>(start_ns) / 1e3},  // the format's microseconds
             {"dur", static_cast<double>(length_ns) / 1e3},
             {"pid", pid},
             {"tid", tid}});
    }

    void put(const Json& event) {
        sink_(between_ + json_line(event));
        between_ = ",\n";
    }

    std::size_t most_steps_;
    const model::Sink& sink_;
    std::size_t processes_ = 1;  // pid 0 is the idle task's
    std::string between_ = "\n";
    Json drawn_ = Json::array();
    std::vector<std::string> left_out_;
};

// Of all of them the newest alone.
void visit(const model::ChosenRuns& runs, const std::function<void(const Run&)>& take) {
    if (!runs.everything()) return runs.visit(results::Detail::all, take);
    if (const auto headers = runs.file().runs(); !headers.empty()) take(runs.file().read(headers.back().id));
}

}  // namespace

std::vector<std::string> write_chrome_trace(const model::ChosenRuns& runs, std::size_t most_steps,
                                            const model::Sink& sink) {
    sink("{\"traceEvents\":[");
    Trace trace(most_steps, sink);
    visit(runs, [&](const Run& run) { trace.add(run); });
    if (trace.drawn().empty() && !trace.left_out().empty())
        throw base::OptionError(trace.left_out().front() + "; choose others", {"where", "run"});
    const Json other = {
        {"time",
         "of each rank's own steps, one after another from 0; what lies between steps is left out, and ranks "
         "are not aligned with each other"},
        {"phase_order", "nominal: durations are measured, their order and starts inside a step are not"},
        {"runs", trace.drawn()}};
    sink("\n],\"displayTimeUnit\":\"ms\",\"otherData\":" + json_line(other) + "}\n");
    return trace.left_out();
}

}  // namespace ranklab::report::formats
