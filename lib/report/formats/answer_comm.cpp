// The answer of `ranklab comm`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/formats/comm_tables.hpp"
#include "report/formats/parts.hpp"
#include "report/formats/screen.hpp"
#include "report/model/messages.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using model::Message;
using results::Run;
using results::Table;

constexpr double kMicro = 1e-6;
constexpr std::size_t kMostFits = 12;

std::string fact(const Run& run, const char* key) {
    return run.fact("collectives", key);
}

// " [5.4 .. 5.8]"; "" without.
std::string between(double low, double high) {
    if (!std::isfinite(low) || !std::isfinite(high)) return "";
    return fmt::format(" [{} .. {}]", plain(low), plain(high));
}

std::string form(const Message& one) {
    return model::full_name(one) + (one.in_place() ? " in place" : "");
}

// "allreduce: 1.2 us + S / 5.6 GB/s [5.4 .. 5.8], half of that rate at 6.5 KiB"
std::string fit(const Table& fits, const Message& one) {
    const auto at = [&](const char* column) { return model::number_at(fits, column, one.row); };
    if (!std::isfinite(at("alpha_us"))) return "";
    const double bandwidth = at("bandwidth_GBps"), half = at("half_bytes");
    std::string text = fmt::format("{}: {} us", form(one), plain(at("alpha_us")));
    if (std::isfinite(bandwidth))
        text += fmt::format(" + S / {} GB/s{}", plain(bandwidth),
                            between(at("bandwidth_low_GBps"), at("bandwidth_high_GBps")));
    if (std::isfinite(half)) text += fmt::format(", half of that rate at {}", model::size_text(half));
    return text;
}

// In place only where nothing is out of place: the two seldom differ, and the table of the fits has both.
bool is_told(const Message& one, const std::vector<Message>& all) {
    return !one.in_place() || std::ranges::none_of(all, [&](const Message& other) {
        return !other.in_place() && other.op == one.op;
    });
}

// Those without a line stand together, with the reason.
std::string fits(const Run& run) {
    const Table* table = run.find_table("fits");
    if (table == nullptr) return "";
    const auto rows = model::messages_in(*table);
    std::vector<std::string> lines;
    model::InOrderMet<std::string, std::pair<std::string, std::vector<std::string>>> marked;
    for (const auto& one : rows) {
        if (!is_told(one, rows)) continue;
        if (one.mark.empty()) {
            if (const auto words = fit(*table, one); !words.empty()) lines.push_back(words);
            continue;
        }
        auto& [mark, forms] = marked[one.mark];
        mark = one.mark;
        forms.push_back(form(one));
    }
    for (const auto& [mark, forms] : marked.all())
        lines.push_back(fmt::format("none of {}: {}", model::some_of(forms, kMostFits), mark));
    std::string text;
    for (const auto& line : lines) text += screen_line(text.empty() ? "fit" : "", line);
    return text;
}

std::string timer(const Run& run) {
    std::vector<std::string> parts;
    if (const auto ns = fact(run, "timer_resolution_ns"); !ns.empty())
        parts.push_back("resolution " + ns + " ns");
    if (const auto skew = fact(run, "barrier_exit_skew_us"); !skew.empty())
        parts.push_back("ranks leave a barrier " + skew + " us apart");
    return base::join(parts, ", ");
}

std::string late(const Run& run) {
    return fact(run, "late");
}

// Of one guideline, where it is violated.
struct Violated {
    std::string name;
    std::vector<std::string> sizes = {};
    double most = 0;
};

// A line for each; the page and the file have all comparisons.
std::string violated(const Table& table) {
    model::InOrderMet<std::string, Violated> met;
    for (std::size_t row = 0; row < model::row_count(table); ++row) {
        if (!model::text_at(table, "verdict", row).starts_with("VIOLATED")) continue;
        const std::string level = model::text_at(table, "level", row);
        const std::string name =
            model::text_at(table, "guideline", row) + (level == "job" ? "" : ", level " + level);
        Violated& one = met[name];
        one.name = name;
        one.sizes.push_back(model::size_text(model::number_at(table, "bytes", row)));
        one.most = std::max(one.most, model::number_at(table, "ratio", row));
    }
    std::string text;
    for (const auto& one : met.all())
        text += screen_line("", fmt::format("violated: {} at {}, up to {:.2f} times", one.name,
                                            model::some_of(one.sizes, 4), one.most));
    return text;
}

std::string guidelines(const Run& run) {
    const Table* table = run.find_table("guidelines");
    if (table == nullptr || model::row_count(*table) == 0) return "";
    std::size_t broken = 0, unknown = 0;
    const std::size_t rows = model::row_count(*table);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::string verdict = model::text_at(*table, "verdict", row);
        if (verdict.starts_with("cannot tell")) ++unknown;
        if (verdict.starts_with("VIOLATED")) ++broken;
    }
    std::string text = fmt::format("{} of {} comparisons of operations hold", rows - broken - unknown, rows);
    if (broken > 0) text += fmt::format(", {} violated", broken);
    if (unknown > 0) text += fmt::format(", {} cannot be told", unknown);
    return screen_line("guidelines", text) + violated(*table);
}

// Every byte of the buckets.
double bytes_of(const Table& buckets) {
    double sum = 0;
    for (std::size_t row = 0; row < model::row_count(buckets); ++row)
        sum += model::number_at(buckets, "bytes", row);
    return sum;
}

std::string ranks_of(const Run& run) {
    return model::counted(std::max<std::size_t>(1, run.hosts.size()), "rank");
}

}  // namespace

std::string comm_tables(const Run& run) {
    return nccl_text(run) + nonblocking_text(run);
}

std::string comm_answer(const Run& run) {
    return screen_line("policy", fact(run, "policy")) + screen_line("over ranks", fact(run, "average")) +
           screen_line("timer", timer(run)) + fits(run) + guidelines(run) +
           screen_line("late rank", late(run));
}

std::string comm_headline(const Run& run) {
    const Table* buckets = run.find_table("buckets");
    if (const auto* sum = run.find("buckets_time_s"); buckets != nullptr && sum != nullptr)
        return fmt::format("{} buckets of {}: {} in {} on {}", model::row_count(*buckets),
                           run.setting("from-model"), model::size_text(bytes_of(*buckets)),
                           readable_time(sum->summary.median), ranks_of(run));
    const auto messages = model::messages_of(run);
    const Message* one = model::headline_message(run, messages);
    if (one == nullptr) return "no operation was timed";
    return fmt::format("{}: {} in {}{} on {}", model::full_name(*one),
                       model::size_text(static_cast<double>(one->bytes)), readable_time(one->time * kMicro),
                       std::isfinite(one->busbw) ? fmt::format(", busbw {} GB/s", plain(one->busbw)) : "",
                       ranks_of(run));
}

}  // namespace ranklab::report::formats
