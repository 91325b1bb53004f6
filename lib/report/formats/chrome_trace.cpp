#include "report/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "report/formats/json_dump.hpp"
#include "report/formats/parts.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Measurement;
using results::Run;

constexpr double kMicroseconds = 1e6;
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
            const std::size_t all = steps->rows();
            if (is_folded(run, *steps)) {
                const std::string why = kOnlySlowest;
                untold_ = true;
                if (left_out_.empty() || left_out_.back().first != run.id)
                    left_out_.emplace_back(run.id, why);
                told_.push_back({{"run", run.id},
                                 {"of", whole->name},
                                 {"drawn", 0},
                                 {"stored", 0},
                                 {"why", "not known of each rank: " + why}});
                continue;
            }
            drew_ = true;
            const auto pids = name_processes(run, steps->columns);
            for (std::size_t rank = 0; rank < steps->columns; ++rank)
                add_rank(run, *steps, *whole, rank, std::min(all, most_steps_), pids.at(rank));
            told_.push_back({{"run", run.id},
                             {"of", whole->name},
                             {"drawn", std::min(all, most_steps_)},
                             {"stored", all}});
        }
        if (!has_times) left_out_.emplace_back(run.id, "it has no times of steps or repetitions");
    }

    /// A sentence a run that is not drawn.
    std::vector<std::string> left_out() const {
        std::vector<std::string> sentences;
        for (const auto& [id, why] : left_out_)
            sentences.push_back(fmt::format("run {} is not drawn: {}", id, why));
        return sentences;
    }
    Json told() const { return told_; }
    bool drew() const { return drew_; }
    /// Whether a run has times, but not those of each rank.
    bool untold() const { return untold_; }

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

    // Steps one after another; inside each the phases of the same row, which end with it at the latest.
    void add_rank(const Run& run, const Measurement& steps, const vocabulary::Quantity& whole,
                  std::size_t rank, std::size_t most, std::size_t pid) {
        const auto phases = vocabulary::parts_of(whole);
        double start = 0;
        for (std::size_t step = 0; step < most; ++step) {
            const double length = steps.samples[step * steps.columns + rank];
            if (!(length >= 0)) continue;
            const std::string name = fmt::format("{} {}", steps.axis.empty() ? "step" : steps.axis, step + 1);
            event(name, "step", pid, rank, start, length);
            double at = start;
            for (const auto* phase : phases) {
                const Measurement* m = run.find(phase->name);
                const std::size_t place = step * steps.columns + rank;
                if (m == nullptr || m->columns != steps.columns || place >= m->samples.size()) continue;
                const double part = std::min(m->samples[place], start + length - at);
                if (!(part > 0)) continue;
                event(std::string(phase->name.substr(0, phase->name.find("_time_s"))), "phase", pid, rank, at,
                      part);
                at += part;
            }
            start += length;
        }
    }

    void event(const std::string& name, const char* category, std::size_t pid, std::size_t tid,
               double start_s, double length_s) {
        put({{"name", name},
             {"cat", category},
             {"ph", "X"},
             {"ts", start_s * kMicroseconds},
             {"dur", length_s * kMicroseconds},
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
    bool untold_ = false;
    Json told_ = Json::array();
    bool drew_ = false;
    std::vector<std::pair<std::string, std::string>> left_out_;  // id, why
};

// Of all of them the newest alone. How many there were.
std::size_t visit(const model::ChosenRuns& runs, const std::function<void(const Run&)>& take) {
    if (!runs.everything()) {
        runs.visit(results::Detail::all, take);
        return runs.handed_over();
    }
    const auto headers = runs.file().runs();
    if (!headers.empty()) take(runs.file().read(headers.back().id));
    return std::min<std::size_t>(headers.size(), 1);
}

}  // namespace

std::vector<std::string> write_chrome_trace(const model::ChosenRuns& runs, std::size_t most_steps,
                                            const model::Sink& sink) {
    sink("{\"traceEvents\":[");
    Trace trace(most_steps, sink);
    const std::size_t met = visit(runs, [&](const Run& run) { trace.add(run); });
    if (!trace.drew() && trace.untold())
        throw base::OptionError(
            fmt::format("a trace is made of the times of each rank, which are not known: {}; choose others",
                        kOnlySlowest),
            {"where", "run"});
    if (trace.told().empty() && met > 0)
        throw base::OptionError(
            fmt::format("a trace is made of the times of steps or repetitions, and {} {} none; choose others",
                        runs.everything() ? "the newest run" : model::counted(met, "run"),
                        met == 1 ? "has" : "have"),
            {"where", "run"});
    const Json other = {
        {"time",
         "of each rank's own steps, one after another from 0; what lies between steps is left out, and ranks "
         "are not aligned with each other"},
        {"phase_order", "nominal: durations are measured, their order and starts inside a step are not"},
        {"runs", trace.told()}};
    sink("\n],\"displayTimeUnit\":\"ms\",\"otherData\":" + json_line(other) + "}\n");
    return trace.left_out();
}

}  // namespace ranklab::report::formats
