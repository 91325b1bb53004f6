#include <fmt/format.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/one_line.hpp"
#include "report/formats/comm_tables.hpp"
#include "report/formats/screen.hpp"
#include "report/model/messages.hpp"
#include "report/model/run_group.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

using model::Message;
using results::Run;
using results::Table;

// OSU's widths.
std::string osu_head() {
    std::string text = "# Size    ";
    for (const char* name : {"Overall(us)", "Compute(us)", "Coll. Init(us)", "MPI_Test(us)", "MPI_Wait(us)",
                             "Pure Comm.(us)", "Overlap(%)"})
        text += fmt::format("{:>18}", name);
    return text + fmt::format("{:>18}{:>18}\n", "ci_low(%)", "ci_high(%)");
}

std::string osu_row(const Table& table, const Message& one) {
    std::string text = fmt::format("{:<10}", one.bytes);
    for (const char* column : {"overall_us", "compute_us", "init_us", "test_us", "wait_us", "pure_us",
                               "overlap_percent", "low_percent", "high_percent"}) {
        const double value = model::number_at(table, column, one.row);
        text += std::isfinite(value) ? fmt::format("{:>18.2f}", value) : fmt::format("{:>18}", "n/a");
    }
    return text + (one.mark.empty() ? "" : "  # " + base::one_line(one.mark)) + '\n';
}

// The columns of both places, so that a program finds these where they always are, and behind them what a
// bucket has besides. A training step reduces in place.
std::string bucket_head() {
    return head_text({"", "   ci_low  ci_high  bucket  parameters", "     (us)     (us)"});
}

std::string bucket_row(const Table& table, Message bucket) {
    bucket.redop = "sum";  // the table has no such column
    return row_begin(bucket) + first_columns(nullptr) + first_columns(&bucket) +
           fmt::format("  {}  {}  {:>6.0f}  {:>10.0f}\n", in_width(bucket.interval.low, 7),
                       in_width(bucket.interval.high, 7), model::number_at(table, "bucket", bucket.row),
                       model::number_at(table, "parameters", bucket.row));
}

double sum_of(const Table& table, const char* column) {
    double sum = 0;
    for (std::size_t row = 0; row < model::row_count(table); ++row)
        sum += model::number_at(table, column, row);
    return sum;
}

}  // namespace

std::string nonblocking_text(const Run& run) {
    const Table* table = run.find_table("nonblocking");
    if (table == nullptr) return "";
    using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
    const auto all = model::messages_in(*table);
    model::InOrderMet<Key, std::vector<const Message*>> blocks;
    for (const auto& one : all) blocks[{one.op, one.level, one.load, one.dtype, one.redop}].push_back(&one);
    std::string text;
    for (const auto& block : blocks.all()) {
        const Message& one = *block.front();
        text += fmt::format("# {}, started and waited for behind compute; progress: {}\n{}",
                            base::one_line(model::full_name(one)),
                            base::one_line(model::text_at(*table, "progress", one.row)), osu_head());
        for (const Message* message : block) text += osu_row(*table, *message);
        text += "#\n";
    }
    return text;
}

std::string buckets_text(const Run& run) {
    const Table* table = run.find_table("buckets");
    if (table == nullptr || model::row_count(*table) == 0) return "";
    const std::size_t rows = model::row_count(*table);
    std::string text = fmt::format("#\n# Gradient buckets of {}, in the order of a training step\n{}",
                                   base::one_line(run.setting("from-model")), bucket_head());
    for (auto& bucket : model::messages_in(*table)) text += bucket_row(*table, std::move(bucket));
    const auto* sum = run.find("buckets_time_s");
    return text + fmt::format("# {:<20} : {} in {}\n", "Sum of " + model::counted(rows, "bucket"),
                              model::size_text(sum_of(*table, "bytes")),
                              sum == nullptr ? "n/a" : readable_time(sum->summary));
}

}  // namespace ranklab::report::formats
