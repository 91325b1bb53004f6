#include "experiments/collectives/json_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "base/error.hpp"
#include "base/nccl_tests_word.hpp"
#include "base/numbers.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "host/facts.hpp"
#include "results/places.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

using nlohmann::ordered_json;
using results::Table;

constexpr const char* kSetting = "json-file";

// NaN becomes null.
ordered_json number(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

// Cells of the table messages, of one row.
class Row {
  public:
    Row(const Table& table, std::size_t row) : table_(table), row_(row) {}
    const std::string& text(const char* column) const { return at<std::string>(column); }
    std::int64_t whole(const char* column) const { return at<std::int64_t>(column); }
    double real(const char* column) const { return at<double>(column); }
    bool same_form(const Row& other) const {
        for (const char* column : {"op", "level", "load", "dtype", "redop"})
            if (text(column) != other.text(column)) return false;
        return whole("bytes") == other.whole("bytes");
    }

  private:
    template <class T>
    const T& at(const char* column) const {
        return table_.find<T>(column)->at(row_);
    }
    const Table& table_;
    std::size_t row_;
};

ordered_json times_of(const Row& row) {
    const std::int64_t wrong = row.whole("wrong_elements");
    return {{"time", number(row.real("time_us"))},
            {"alg_bw", number(row.real("algbw_GBps"))},
            {"bus_bw", number(row.real("busbw_GBps"))},
            {"nwrong", wrong < 0 ? ordered_json(nullptr) : ordered_json(wrong)}};
}

ordered_json per_iteration(const Row& row) {
    return {{"skipped_iterations", 0},
            {"min_us", number(row.real("min_us"))},
            {"max_us", number(row.real("max_us"))},
            {"avg_us", number(row.real("mean_us"))},
            {"p50_us", number(row.real("p50_us"))},
            {"p95_us", number(row.real("p95_us"))},
            {"p99_us", number(row.real("p99_us"))},
            {"ci95_low_us", number(row.real("low_us"))},
            {"ci95_high_us", number(row.real("high_us"))},
            {"cv_pct", number(row.real("cv_percent"))}};
}

ordered_json element_of(const Row& row) {
    return {{"size", row.whole("bytes")},
            {"count", row.whole("elements")},
            {"type", base::nccl_tests_word(row.text("dtype"))},
            {"redop", row.text("redop")},
            {"root", row.whole("root")},
            {"experiment_name", row.text("op")},
            {"level", row.text("level")},
            {"load", row.text("load")},
            {"actual_iterations", row.whole("n")}};
}

// One element a message, with both of its forms, in the order of the table.
ordered_json results_of(const Table& table) {
    auto all = ordered_json::array();
    std::vector<std::size_t> begun_by;  // by element: the row
    const std::size_t rows = table.find<std::string>("op")->size();
    for (std::size_t i = 0; i < rows; ++i) {
        const Row row(table, i);
        auto same =
            std::ranges::find_if(begun_by, [&](std::size_t j) { return row.same_form(Row(table, j)); });
        if (same == begun_by.end()) {
            all.push_back(element_of(row));
            same = begun_by.insert(begun_by.end(), i);
        }
        auto& element = all[static_cast<std::size_t>(same - begun_by.begin())];
        const std::string place = row.text("place") == "in-place" ? "in_place" : "out_of_place";
        element[place] = times_of(row);
        element[place + "_per_iter"] = per_iteration(row);
    }
    return all;
}

// A model's buckets are reduced in place.
ordered_json results_of_buckets(const Table& table) {
    auto all = ordered_json::array();
    for (std::size_t i = 0; i < table.find<std::int64_t>("bucket")->size(); ++i) {
        const Row row(table, i);
        all.push_back({{"size", row.whole("bytes")},
                       {"count", row.whole("elements")},
                       {"type", base::nccl_tests_word(row.text("dtype"))},
                       {"redop", "sum"},
                       {"root", -1},
                       {"experiment_name", fmt::format("bucket {}", i)},
                       {"in_place", times_of(row)}});
    }
    return all;
}

ordered_json config_of(const options::Options& options) {
    ordered_json config{{"nthreads", 1},
                        {"ngpus", 1},
                        {"warmup_iters", options.integer("warmup")},
                        {"iterations", options.integer("repetitions")},
                        {"aggregated_iterations", 1},
                        {"validation", options.integer("check")},
                        {"graph", 0},
                        {"blocking_collectives", options.text("blocking").front() - '0'},
                        {"per_iter_timing", options.flag("per-iter")}};
    if (options.has("sizes") || options.has("from-model")) return config;
    config["minimum_bytes"] = options.bytes("min-bytes");
    config["maximum_bytes"] = options.bytes("max-bytes");
    if (options.has("step-bytes"))
        config["step_bytes"] = options.bytes("step-bytes");
    else
        config["step_factor"] = options.real("step-factor");
    return config;
}

ordered_json devices_of(const std::vector<std::string>& ranks) {
    auto all = ordered_json::array();
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const auto space = ranks[rank].find(' ');
        all.push_back({{"rank", rank},
                       {"group", 0},
                       {"pid", base::number_in<std::int64_t>(ranks[rank].substr(0, space)).value_or(0)},
                       {"hostname", ranks[rank].substr(space + 1)},
                       {"device", nullptr}});
    }
    return all;
}

// What is there already is replaced only where it may be JSON: no other file is lost by a slip of the
// keyboard.
std::filesystem::path checked_place(const options::Options& options) {
    const std::string name = options.text(kSetting);
    if (name.empty()) throw base::OptionError("the name of the JSON file is empty; name one", {kSetting});
    if (const auto kind = base::irregular_kind(name); !kind.empty())
        throw base::OptionError(fmt::format("{} is {}; name a file", name, kind), {kSetting});
    const auto path = results::resolve(name);
    if (path == results::resolve(options.text("output")))
        throw base::OptionError(fmt::format("{} is the results file; name another one", name), {kSetting});
    if (!std::filesystem::exists(path)) return path;
    results::check_not_write_protected(path, kSetting);
    std::ifstream there(path);
    if (const int first = there.peek(); first == '{' || first == std::ifstream::traits_type::eof())
        return path;
    throw base::OptionError(fmt::format("{} holds something else than JSON; name another file", name),
                            {kSetting});
}

std::string now() {
    return base::utc_iso(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

}  // namespace

std::string nccl_tests_json(const results::Run& run, const options::Options& options,
                            const std::vector<std::string>& ranks, const std::string& started) {
    const Table* messages = run.find_table("messages");
    const Table* buckets = run.find_table("buckets");
    const Table* rated = messages != nullptr ? messages : buckets;
    const double wrong = run.median("wrong_elements");
    ordered_json json{
        {"version", 3},
        {"start_time", started},
        {"nccl_version", run.fact("collectives", "library")},
        {"config", config_of(options)},
        {"devices", devices_of(ranks)},
        {"results", messages != nullptr  ? results_of(*messages)
                    : buckets != nullptr ? results_of_buckets(*buckets)
                                         : ordered_json::array()},
        {"out_of_bounds",
         {{"count", number(wrong)},
          {"okay", std::isnan(wrong) ? ordered_json(nullptr) : ordered_json(wrong == 0)}}},
        {"average_bus_bandwidth",
         {{"bandwidth", number(rated != nullptr ? stats::mean_of_finite(*rated->find<double>("busbw_GBps"))
                                                : stats::kNone)}}},
        {"end_time", now()}};
    return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

JsonFile::JsonFile(const options::Options& options, std::uint64_t expected_bytes, comm::Communicator& control)
    : options_(options), control_(control), started_(now()) {
    if (!options.has(kSetting)) return;
    comm::together(control, [&] {
        if (control.rank() != 0) return;
        const auto path = checked_place(options);
        results::StagedFile(path, kSetting).reserve(expected_bytes);  // a trial
        file_.emplace(path, kSetting);
    });
}

void JsonFile::write(results::Run& run) {
    if (!options_.has(kSetting)) return;
    const auto ranks = comm::gather_texts(control_, fmt::format("{} {}", getpid(), host::host_name()));
    std::string why;
    if (file_) why = written(nccl_tests_json(run, options_, ranks, started_));
    why = comm::broadcast_text(control_, why, 0);
    if (why.empty()) return;
    run.warnings.push_back(why);
    if (run.exit_code == 0) run.exit_code = static_cast<int>(base::ExitCode::environment);
}

std::string JsonFile::written(const std::string& text) {
    try {
        file_->write(std::as_bytes(std::span(text)));
        file_->commit();
        return "";
    } catch (const base::Error& error) {
        return "the JSON file is not there: " + options::told(error);
    }
}

}  // namespace ranklab::experiments
