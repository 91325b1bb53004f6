#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/formats/exports.hpp"
#include "report/formats/names.hpp"
#include "report/frame/write.hpp"
#include "report/model/selection.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Measurement;
using results::Run;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRepetitions = 1000;  // of one run: a million steps are no file for compare.py
constexpr double kMiB = 1048576.0, kGB = 1e9;

// compare.py prints times without decimals, in their own unit.
constexpr const char* kUnit = "us";
double microseconds_per(const std::string& unit) {
    return unit == "s" ? 1e6 : 1;
}

// "step_time" of "step_time_s", "time:barrier:8" of "time_us:barrier:8": the unit is the entry's.
std::string without_unit(std::string_view name) {
    const std::string_view family = vocabulary::family_of(name);
    return std::string(family.substr(0, family.rfind('_'))) + std::string(name.substr(family.size()));
}

// The rate that is made of that time, and what one of it is.
struct Rate {
    std::string_view time, rate;
    const char* counter;
    double scale;
};
constexpr Rate kRates[] = {{vocabulary::kCallTime, "algbw_GBps", "bytes_per_second", kGB},
                           {vocabulary::kStepTime, vocabulary::kThroughput, "items_per_second", 1},
                           {vocabulary::kJobTime, vocabulary::kWriteRate, "bytes_per_second", kMiB},
                           {vocabulary::kReadTime, vocabulary::kReadRate, "bytes_per_second", kMiB}};

// A time of a configuration: a median a run, or of a single run its repetitions.
struct Benchmark {
    std::string configuration, name, unit, run;  // of the first run
    std::size_t iterations = 0, runs = 0;
    std::vector<double> times, rates;  // in kUnit, and in what the counter counts
    const char* counter = nullptr;
};

void add(std::map<std::pair<std::string, std::string>, Benchmark>& all, const Run& run) {
    for (const auto& m : run.measurements) {
        if (!run.valid || !is_time(m) || !std::isfinite(m.summary.median)) continue;
        const std::string configuration = configuration_name(run);
        Benchmark& one = all[{configuration, without_unit(m.name)}];
        if (one.runs++ == 0)
            one.configuration = configuration, one.name = m.name, one.unit = m.unit, one.run = run.id;
        one.iterations = m.summary.n;
        one.times.push_back(m.summary.median * microseconds_per(m.unit));
        for (const Rate& rate : kRates)
            if (m.name == rate.time) {
                one.counter = rate.counter;
                one.rates.push_back(run.median(rate.rate) * rate.scale);
            }
    }
}

// Of each repetition the longest rank's time, every k-th where there are too many.
std::vector<double> repetitions(const Run& run, const Benchmark& one) {
    std::vector<double> some;
    const Measurement* m = run.find(one.name);
    const auto rows = m == nullptr ? std::vector<double>() : m->largest_of_rows();
    const std::size_t step =
        std::max<std::size_t>(1, (rows.size() + kMostRepetitions - 1) / kMostRepetitions);
    for (std::size_t i = 0; i < rows.size(); i += step)
        if (std::isfinite(rows[i])) some.push_back(rows[i] * microseconds_per(one.unit));
    return some;
}

Json number_or(const std::string& text, Json otherwise) {
    const Json value = Json::parse(text, nullptr, false);
    return value.is_number() ? value : otherwise;
}

Json context_of(const Run& newest) {
    const std::string governor = model::value_of(newest, "host.governor");
    const Json load = number_or(model::value_of(newest, "host.load_1min"), nullptr);
    Json context{
        {"date", newest.started_utc},
        {"host_name", newest.hosts.empty() ? "" : newest.hosts.front().host},
        {"executable", fmt::format("ranklab {}", newest.version)},
        {"num_cpus", number_or(model::value_of(newest, "host.logical_cpus"), 0)},
        {"mhz_per_cpu", 0},
        {"cpu_scaling_enabled", !governor.empty() && governor != "unknown" && governor != "performance"},
        {"caches", Json::array()},
        {"load_avg", load.is_null() ? Json::array() : Json::array({load})},
        {"ranklab_note",
         "real_time is the slowest rank's; cpu_time repeats it, and mhz_per_cpu is 0: neither is measured"}};
    if (const std::string build = model::value_of(newest, "build.type"); !build.empty())
        context["library_build_type"] = build == "Debug" ? "debug" : "release";
    return context;
}

}  // namespace

void write_gbench(const model::ChosenRuns& runs, const model::Sink& sink) {
    std::map<std::pair<std::string, std::string>, Benchmark> all;
    Run newest;
    runs.visit(results::Detail::summaries, [&](const Run& run) {
        newest = run;
        add(all, run);
    });
    sink("{\"context\":" + json_line(context_of(newest)) + ",\n\"benchmarks\":[");
    std::map<std::string, std::pair<std::size_t, std::size_t>> families;  // what compare.py sorts by
    const char* between = "\n";
    for (const auto& [key, one] : all) {
        const auto family = families.try_emplace(one.configuration, families.size(), 0).first;
        const auto samples =
            one.runs > 1 ? std::vector<double>() : repetitions(runs.file().read(one.run), one);
        const auto& times = samples.empty() ? one.times : samples;
        const std::size_t instance = family->second.second++;
        for (std::size_t i = 0; i < times.size(); ++i) {
            const std::string name = key.first + '/' + key.second;
            Json entry{{"name", name},
                       {"family_index", family->second.first},
                       {"per_family_instance_index", instance},
                       {"run_name", name},
                       {"run_type", "iteration"},
                       {"repetitions", times.size()},
                       {"repetition_index", i},
                       {"threads", 1},
                       {"iterations", samples.empty() ? one.iterations : 1},
                       {"real_time", times[i]},
                       {"cpu_time", times[i]},
                       {"time_unit", kUnit}};
            const std::size_t rate = samples.empty() ? i : 0;
            if (rate < one.rates.size() && std::isfinite(one.rates[rate]))
                entry[one.counter] = one.rates[rate];
            sink(std::exchange(between, ",\n") + json_line(entry));
        }
    }
    sink("\n]}\n");
}

}  // namespace ranklab::report::formats
