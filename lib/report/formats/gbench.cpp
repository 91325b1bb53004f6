#include "report/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/formats/json_dump.hpp"
#include "report/formats/parts.hpp"
#include "report/model/selection.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Measurement;
using results::Run;

constexpr std::size_t kMostRepetitions = 1000;  // of one run: a million steps are no file for compare.py
constexpr double kMiB = 1048576.0;

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

// A benchmark, as far as it is known once all runs were seen.
struct Benchmark {
    std::size_t family = 0;    // of its configuration
    std::size_t instance = 0;  // in the family
    std::size_t runs = 0;
    std::string first_run;
    std::string counter;  // "" where it has none
    std::size_t iterations = 0;
    std::vector<double> times;  // in kUnit, one a repetition
    std::vector<double> rates;
};
using Benchmarks = std::map<std::string, Benchmark>;

// The rate that is made of that time, and what one of it is.
struct Rate {
    std::string_view time;
    std::string_view rate;
    const char* counter;
    double scale;
};
constexpr double kGB = 1e9;
constexpr Rate kRates[] = {{vocabulary::kCallTime, "algbw_GBps", "bytes_per_second", kGB},
                           {vocabulary::kStepTime, vocabulary::kThroughput, "items_per_second", 1},
                           {vocabulary::kJobTime, vocabulary::kWriteRate, "bytes_per_second", kMiB},
                           {vocabulary::kReadTime, vocabulary::kReadRate, "bytes_per_second", kMiB}};

// Of each repetition the longest rank's time, in kUnit.
std::vector<double> folded(const Measurement& m) {
    std::vector<double> rows = m.largest_of_rows();
    for (double& row : rows) row *= microseconds_per(m.unit);
    return rows;
}

// Every k-th where there are too many.
std::vector<double> thinned(const std::vector<double>& rows) {
    const std::size_t step = (rows.size() + kMostRepetitions - 1) / kMostRepetitions;
    std::vector<double> some;
    for (std::size_t i = 0; i < rows.size(); i += std::max<std::size_t>(1, step)) some.push_back(rows[i]);
    return some;
}

void add_rate(Benchmark& benchmark, const Run& run, const std::string& time) {
    for (const Rate& rate : kRates) {
        const double median = run.median(rate.rate);
        if (time != rate.time || std::isnan(median)) continue;
        benchmark.counter = rate.counter;
        benchmark.rates.push_back(median * rate.scale);
    }
}

// What compare.py sorts by: a family is a configuration, an instance one of its times.
class Collector {
  public:
    void add(const Run& run) {
        newest_ = run;
        if (!run.valid) return;
        const std::string name = configuration_name(run);
        for (const auto& m : run.measurements) {
            if (!is_time(m) || !std::isfinite(m.summary.median)) continue;
            Benchmark& benchmark = benchmarks_[name + '/' + without_unit(m.name)];
            if (benchmark.runs++ == 0) place(benchmark, name, run.id);
            benchmark.iterations = m.summary.n;
            benchmark.times.push_back(m.summary.median * microseconds_per(m.unit));
            add_rate(benchmark, run, m.name);
        }
    }

    Benchmarks& benchmarks() { return benchmarks_; }
    Json context() const;
    bool is_first(const std::string& run) const { return first_runs_.count(run) != 0; }

  private:
    void place(Benchmark& benchmark, const std::string& configuration, const std::string& run) {
        const auto family = families_.try_emplace(configuration, families_.size(), 0).first;
        benchmark.family = family->second.first;
        benchmark.instance = family->second.second++;
        benchmark.first_run = run;
        first_runs_.insert(run);
    }

    Run newest_;
    Benchmarks benchmarks_;
    std::set<std::string> first_runs_;
    std::map<std::string, std::pair<std::size_t, std::size_t>> families_;
};

Json number_or(const std::string& text, Json otherwise) {
    const Json value = Json::parse(text, nullptr, false);
    return value.is_number() ? value : otherwise;
}

Json Collector::context() const {
    Json load = Json::array();
    if (const Json value = number_or(model::value_of(newest_, "host.load_1min"), nullptr); !value.is_null())
        load.push_back(value);
    const std::string governor = model::value_of(newest_, "host.governor");
    const bool scaled = !governor.empty() && governor != "unknown" && governor != "performance";
    Json context{
        {"date", newest_.started_utc},
        {"host_name", newest_.version.empty() ? ""
                      : newest_.hosts.empty() ? "unknown"
                                              : newest_.hosts.front().host},
        {"executable", fmt::format("ranklab {}", newest_.version)},
        {"num_cpus", number_or(model::value_of(newest_, "host.logical_cpus"), 0)},
        {"mhz_per_cpu", 0},
        {"cpu_scaling_enabled", scaled},
        {"caches", Json::array()},
        {"load_avg", load},
        {"ranklab_note",
         "real_time is the slowest rank's; cpu_time repeats it, and mhz_per_cpu is 0: neither is measured"}};
    // Google's word for whether assertions are compiled in, where the run tells of its build.
    if (const std::string build = model::value_of(newest_, "build.type"); !build.empty())
        context["library_build_type"] = build == "Debug" ? "debug" : "release";
    return context;
}

std::string repetition_label(const Benchmark& benchmark, std::size_t all, std::size_t written) {
    if (benchmark.runs > 1) return "a repetition is a run: its median";
    if (all == 0) return "the median of one run, which stored no samples";
    return written == all ? "the repetitions of one run"
                          : fmt::format("{} of the {} repetitions of one run", written, all);
}

class Writer {
  public:
    explicit Writer(const model::Sink& sink) : sink_(sink) {}

    void write(const std::string& name, const Benchmark& benchmark, std::vector<double> rows) {
        std::erase_if(rows, [](double value) { return !std::isfinite(value); });
        const bool samples = benchmark.runs == 1 && !rows.empty();
        const auto times = samples ? thinned(rows) : benchmark.times;
        const std::string label = repetition_label(benchmark, rows.size(), times.size());
        for (std::size_t i = 0; i < times.size(); ++i) {
            Json entry = head(name, benchmark, "iteration", times.size());
            entry["repetition_index"] = i;
            entry["threads"] = 1;
            add_times(entry, samples ? 1 : benchmark.iterations, times[i]);
            add_counter(entry, benchmark, samples ? 0 : i);
            entry["label"] = label;
            put(entry);
        }
        if (times.size() > 1) aggregates(name, benchmark, samples ? rows : times);
    }

  private:
    static Json head(const std::string& name, const Benchmark& benchmark, const char* type, std::size_t n) {
        return {{"name", name},
                {"family_index", benchmark.family},
                {"per_family_instance_index", benchmark.instance},
                {"run_name", name},
                {"run_type", type},
                {"repetitions", n}};
    }
    static void add_times(Json& entry, std::size_t iterations, double time) {
        entry["iterations"] = iterations;
        entry["real_time"] = time;
        entry["cpu_time"] = time;
        entry["time_unit"] = kUnit;
    }
    static void add_counter(Json& entry, const Benchmark& benchmark, std::size_t i) {
        if (i < benchmark.rates.size()) entry[benchmark.counter] = benchmark.rates[i];
    }

    void aggregates(const std::string& name, const Benchmark& benchmark, const std::vector<double>& times) {
        const stats::Summary s = stats::summarise(times);
        double squares = 0;
        for (const double time : times) squares += (time - s.mean) * (time - s.mean);
        const double deviation = std::sqrt(squares / static_cast<double>(times.size() - 1));
        aggregate(name, benchmark, times.size(), "mean", s.mean);
        aggregate(name, benchmark, times.size(), "median", s.median);
        aggregate(name, benchmark, times.size(), "stddev", deviation);
        if (s.mean > 0) aggregate(name, benchmark, times.size(), "cv", deviation / s.mean);
    }
    void aggregate(const std::string& name, const Benchmark& benchmark, std::size_t n,
                   const std::string& what, double value) {
        Json entry = head(name, benchmark, "aggregate", n);
        entry["name"] = name + '_' + what;
        entry["threads"] = 1;
        entry["aggregate_name"] = what;
        entry["aggregate_unit"] = what == "cv" ? "percentage" : "time";
        add_times(entry, n, value);
        put(entry);
    }
    void put(const Json& entry) {
        sink_(between_ + json_line(entry));
        between_ = ",\n";
    }

    const model::Sink& sink_;
    std::string between_ = "\n";
};

}  // namespace

void write_gbench(const model::ChosenRuns& runs, const model::Sink& sink) {
    Collector collector;
    runs.visit(results::Detail::summaries, [&](const Run& run) { collector.add(run); });
    sink("{\"context\":" + json_line(collector.context()) + ",\n\"benchmarks\":[");
    Writer writer(sink);
    // The first run of a name brings its benchmark out; samples are needed of those alone that no other
    // repeats.
    const auto first = [&](const Run& run) { return run.valid && collector.is_first(run.id); };
    const auto write = [&](const Run& run) {
        const std::string name = configuration_name(run);
        for (const auto& m : run.measurements) {
            if (!is_time(m)) continue;
            const auto found = collector.benchmarks().find(name + '/' + without_unit(m.name));
            if (found == collector.benchmarks().end() || found->second.first_run != run.id) continue;
            const bool alone = found->second.runs == 1;
            writer.write(found->first, found->second, alone ? folded(m) : std::vector<double>());
        }
    };
    runs.visit(results::Detail::all, write, first);
    sink("\n]}\n");
}

}  // namespace ranklab::report::formats
