// Runs in the JSON of Google Benchmark, for its compare.py.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "report/frame/frame.hpp"
#include "report/model/ladder.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Run;
using Json = nlohmann::ordered_json;

// Settings in a benchmark's name: KEY adds "value", KEY:AS adds "AS:value". With =VALUE the setting
// is left out if it has this value.
constexpr const char *kIo = "strategy layout:layout=files files:files size:size",
                     *kComm =
                         "op datatype redop:redop=sum from-model:from-model backend:backend=mpi "
                         "memory:memory=pageable sizes:sizes max-bytes:to",
                     *kTrain =
                         "model mode sync op data:data=synthetic precision:precision=fp32 "
                         "device:device=cpu input:input=real",
                     *kSize = "ranks:ranks replicas:replicas batch-size:batch",
                     *kWorkers = "workers:workers";

// Shortens a long part, since each repetition repeats its benchmark's name.
std::string brief(const std::string& part) {
    constexpr std::size_t kLongest = 100;
    return part.size() <= kLongest
               ? part
               : fmt::format("{}{:x}", base::shortened(part, kLongest), base::fingerprint(part));
}

std::string parts_of(const Run& run, const std::string& parts) {
    std::string text;
    for (const auto& part : base::split(parts, ' ')) {
        const auto named = base::split(part.substr(0, part.find('=')), ':');
        const std::string value = model::value_of(run, named.front());
        if (!value.empty() && !part.ends_with("=" + value))
            text += fmt::format("/{}{}", named.size() > 1 ? named[1] + ":" : "", brief(value));
    }
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) <= 0x20U || c == 0x7f; }, '_');
    return text;
}

// The workload with its size ("/ranks:2", batch, workers): runs of one name are repetitions.
std::string configuration_name(const Run& run) {
    return workload_name(run) + parts_of(run, kSize) +
           (model::workers_of(run) > 0 ? parts_of(run, kWorkers) : "");
}

constexpr std::size_t kMostRepetitions = 1000;  // per run: compare.py is slow with more
constexpr double kMiB = 1048576.0, kGB = 1e9;

// compare.py prints times without decimals: in us they keep their digits.
constexpr const char* kUnit = "us";
double microseconds_per(const std::string& unit) {
    return unit == "s" ? 1e6 : 1;
}

// Excludes differences of times, which may be negative.
bool is_time(const results::Measurement& m) {
    return m.kind == results::Kind::cost && (m.unit == "s" || m.unit == "us") &&
           !(m.summary.min < 0);
}

// The name without its unit: "step_time" for "step_time_s", "time:barrier:8" for
// "time_us:barrier:8".
std::string time_name(std::string_view name) {
    const std::string_view family = vocabulary::family_of(name);
    return std::string(family.substr(0, family.rfind('_'))) +
           std::string(name.substr(family.size()));
}

// The rate that belongs to a time. Google Benchmark's `counter` is `scale` times this rate.
struct Rate {
    std::string_view time, rate;
    const char* counter;
    double scale;
};
constexpr Rate kRates[] = {
    {vocabulary::kCallTime, "algbw_GBps", "bytes_per_second", kGB},
    {vocabulary::kStepTime, vocabulary::kThroughput, "items_per_second", 1},
    {vocabulary::kJobTime, vocabulary::kWriteRate, "bytes_per_second", kMiB},
    {vocabulary::kReadTime, vocabulary::kReadRate, "bytes_per_second", kMiB}};

// A time of one configuration: a median per run, or the repetitions of a single run.
struct Benchmark {
    std::string name, unit, run;  // of the first run
    std::size_t iterations = 0;
    std::vector<double> times, rates;  // in kUnit, and in the unit of `counter`
    const char* counter = nullptr;
};
// The benchmarks by configuration and time.
using Benchmarks = std::map<std::pair<std::string, std::string>, Benchmark>;

void add(Benchmarks& all, const Run& run) {
    for (const auto& m : run.measurements) {
        if (!run.valid || !is_time(m) || !std::isfinite(m.summary.median)) continue;
        Benchmark& one = all[{configuration_name(run), brief(time_name(m.name))}];
        if (one.times.empty()) one.name = m.name, one.unit = m.unit, one.run = run.id;
        one.iterations = m.summary.n;
        one.times.push_back(m.summary.median * microseconds_per(m.unit));
        for (const Rate& rate : kRates)
            if (m.name == rate.time) {
                one.counter = rate.counter;
                one.rates.push_back(run.median(rate.rate) * rate.scale);
            }
    }
}

// Takes the slowest rank's time of each repetition, or of every k-th if there are too many.
void take_repetitions(Benchmark& one, const Run& run) {
    const auto* m = run.find(one.name);
    const auto rows = m == nullptr ? std::vector<double>() : m->largest_of_rows();
    const std::size_t step = (rows.size() + kMostRepetitions - 1) / kMostRepetitions;
    std::vector<double> some;
    for (std::size_t i = 0; i < rows.size(); i += step)
        if (std::isfinite(rows[i])) some.push_back(rows[i] * microseconds_per(one.unit));
    if (some.empty()) return;
    one.iterations = 1;
    if (!one.rates.empty()) one.rates.assign(some.size(), one.rates.front());
    one.times = std::move(some);
}

Json number_or(const std::string& text, Json otherwise) {
    const Json value = Json::parse(text, nullptr, false);
    return value.is_number() ? value : otherwise;
}

Json context_of(const Run& newest) {
    const std::string governor = newest.fact(fact::kGovernor);
    const Json load = number_or(newest.fact(fact::kLoad), nullptr);
    Json context{{"date", newest.started_utc},
                 {"host_name", newest.hosts.empty() ? "" : newest.hosts.front().host},
                 {"executable", fmt::format("ranklab {}", newest.version)},
                 {"num_cpus", number_or(newest.fact(fact::kLogicalCpus), 0)},
                 {"mhz_per_cpu", 0},
                 {"cpu_scaling_enabled",
                  !governor.empty() && governor != "unknown" && governor != "performance"},
                 {"caches", Json::array()},
                 {"load_avg", load.is_null() ? Json::array() : Json::array({load})},
                 {"ranklab_note",
                  "real_time is the slowest rank's; cpu_time repeats it, and mhz_per_cpu is 0: "
                  "neither is measured"}};
    if (const std::string build = newest.fact(fact::kBuildType); !build.empty())
        context["library_build_type"] = build == "Debug" ? "debug" : "release";
    return context;
}

// The i-th repetition of a benchmark.
Json entry_of(const Benchmark& one, std::size_t i, const std::string& name, int family,
              int instance) {
    Json entry{{"name", name},
               {"family_index", family},
               {"per_family_instance_index", instance},
               {"run_name", name},
               {"run_type", "iteration"},
               {"repetitions", one.times.size()},
               {"repetition_index", i},
               {"threads", 1},
               {"iterations", one.iterations},
               {"real_time", one.times[i]},
               {"cpu_time", one.times[i]},
               {"time_unit", kUnit}};
    if (i < one.rates.size() && std::isfinite(one.rates[i])) entry[one.counter] = one.rates[i];
    return entry;
}

}  // namespace

std::string workload_name(const Run& run) {
    return run.command + parts_of(run, run.command == "io"     ? kIo
                                       : run.command == "comm" ? kComm
                                                               : kTrain);
}

void write_gbench(const model::ChosenRuns& runs, const model::Sink& sink) {
    Benchmarks all;
    Run newest;
    runs.visit(results::Detail::summaries, [&](const Run& run) {
        newest = run;
        add(all, run);
    });
    sink("{\"context\":" + json_line(context_of(newest)) + ",\n\"benchmarks\":[");
    const char* between = "\n";
    std::string configuration;
    int family = -1, instance = 0;  // compare.py sorts by these
    for (auto& [key, one] : all) {
        instance = key.first == configuration ? instance + 1 : 0;
        if (instance == 0) ++family;
        configuration = key.first;
        if (one.times.size() == 1) take_repetitions(one, runs.file().read(one.run));
        for (std::size_t i = 0; i < one.times.size(); ++i) {
            const Json entry = entry_of(one, i, configuration + '/' + key.second, family, instance);
            sink(std::exchange(between, ",\n") + json_line(entry));
        }
    }
    sink("\n]}\n");
}

}  // namespace ranklab::report::formats
