#include "experiments/collectives/json_file.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "comm/exchange.hpp"
#include "results/vocabulary/measurements.hpp"

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

ordered_json results_of(const Table& table) {
    auto all = ordered_json::array();
    const std::size_t rows = table.find<std::string>("op")->size();
    std::size_t last = rows;  // the row that the newest element was begun with
    for (std::size_t i = 0; i < rows; ++i) {
        const Row row(table, i);
        if (last == rows || !row.same_form(Row(table, last))) {
            all.push_back({{"size", row.whole("bytes")},
                           {"count", row.whole("elements")},
                           {"type", row.text("dtype")},
                           {"redop", row.text("redop")},
                           {"root", row.whole("root")},
                           {"experiment_name", row.text("op")},
                           {"level", row.text("level")},
                           {"load", row.text("load")},
                           {"actual_iterations", row.whole("n")}});
            last = i;
        }
        const std::string place = row.text("place") == "in-place" ? "in_place" : "out_of_place";
        all.back()[place] = times_of(row);
        all.back()[place + "_per_iter"] = per_iteration(row);
    }
    return all;
}

ordered_json config_of(const options::Options& options) {
    ordered_json config;
    for (const auto& setting : options.effective()) config[setting.name] = setting.value;
    return config;
}

}  // namespace

std::string nccl_tests_json(const results::Run& run, const options::Options& options, int ranks) {
    const Table* messages = run.find_table("messages");
    ordered_json json{{"version", 3},
                      {"ranks", ranks},
                      {"library", run.fact("collectives", "library")},
                      {"config", config_of(options)},
                      {"results", messages == nullptr ? ordered_json::array() : results_of(*messages)},
                      {"average_bus_bandwidth", nullptr}};
    return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

JsonFile::JsonFile(const options::Options& options, comm::Communicator& control)
    : options_(options), control_(control) {
    if (!options.has(kSetting)) return;
    comm::together(control, [&] {
        if (control.rank() == 0) file_.emplace(options.text(kSetting), kSetting);
    });
}

void JsonFile::write(const results::Run& run) {
    if (!options_.has(kSetting)) return;
    comm::together(control_, [&] {
        if (!file_) return;
        const std::string text = nccl_tests_json(run, options_, control_.world_size());
        file_->write(std::as_bytes(std::span(text)));
        file_->commit();
    });
}

}  // namespace ranklab::experiments
