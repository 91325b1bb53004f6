// The answers of `ranklab io` and `ranklab comm`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/formats/answer.hpp"
#include "report/model/ladder.hpp"
#include "report/model/network.hpp"
#include "report/model/values.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using model::Message;
using results::Run;
using results::Table;

// "312 MiB/s (300 .. 320), 327 MB/s, n = 7; ext4, no fsync"
std::string rate_of(const Run& run, std::string_view measurement, const std::string& where) {
    const auto* m = run.find(measurement);
    if (m == nullptr || m->summary.n == 0) return "";
    constexpr double kMiB = 1024.0 * 1024.0;
    return fmt::format("{}, {} MB/s, n = {}; {}",
                       readable(m->summary.median, m->summary.ci95, m->unit),
                       digits(m->summary.median * kMiB / 1e6), m->summary.n, where);
}

std::string phases(const Run& run) {
    std::vector<std::pair<std::string, double>> parts;
    for (const auto& row : model::rows_of(run, "io_phases")) {
        const std::string phase = row.text("phase");
        // What the phases inside a job or record do not explain.
        const bool is_rest = phase == "job" || phase == "record";
        parts.emplace_back(is_rest ? "other" : phase, row.number("percent"));
    }
    const auto shares = shares_of(parts, 1);
    return shares.empty() ? "" : some_of(shares, 4) + " of all ranks' time";
}

std::string one_record(const Run& run) {
    for (const auto& row : model::rows_of(run, "io_phases"))
        if (row.text("phase") == "record" && std::isfinite(row.number("std_s")))
            return fmt::format("mean {}, std dev {}, {} .. {}, n = {}",
                               readable(row.number("cumulative_s") / row.number("calls"), "s"),
                               readable(row.number("std_s"), "s"),
                               readable(row.number("shortest_s"), "s"),
                               readable(row.number("longest_s"), "s"), row.text("calls"));
    return "";
}

// The ceiling that limits the strategy: of writing and fsync, or of opening and closing files.
std::string nearest_ceiling(const Run& run) {
    for (const auto& row : model::rows_of(run, "ceilings"))
        if (vocabulary::word_in(row.text("binds")) == vocabulary::FactWord::yes)
            return fmt::format("{} of the {} that {} reaches", percent_text(row.number("percent")),
                               readable(row.number("value"), row.text("unit")),
                               row.text("ceiling"));
    return "";
}

std::string records(const Run& run) {
    const double edge = std::strtod(run.setting(setting::kSize).c_str(), nullptr),
                 files = std::strtod(run.setting(setting::kFiles).c_str(), nullptr),
                 written = run.median("file_bytes");
    const std::string on_disk =
        std::isfinite(written) ? ", " + readable(written, "B") + " on disk" : "";
    return fmt::format("{}, {} of numbers{}, by {}", model::records_text(run),
                       readable(files * edge * edge * 8, "B"), on_disk,
                       run.setting(setting::kStrategy));
}

// "4 MiB, allreduce fp32 sum, in place"
std::string size_and_name(const Message& one) {
    return fmt::format("{}, {}{}", size_text(base::real(one.bytes)), model::full_name(one),
                       one.in_place() ? ", in place" : "");
}

Frame messages_frame(const std::vector<Message>& messages) {
    const bool both = std::ranges::any_of(messages, &Message::in_place) &&
                      !std::ranges::all_of(messages, &Message::in_place);
    Frame frame;
    for (const auto& one : messages) {
        frame.rows.emplace_back();
        frame.put({.name = "op", .role = Role::key, .head = "operation"}, model::full_name(one));
        frame.put({.name = "bytes", .role = Role::key, .head = "size"},
                  one.bytes > 0 ? size_text(base::real(one.bytes)) : "");
        if (both) frame.put({.name = "place", .role = Role::key}, one.in_place() ? "in" : "out");
        frame.put({.name = "time_us", .unit = "us", .interval = true, .head = "time"},
                  {one.time, one.interval});
        frame.put({.name = "busbw_GBps", .unit = "GB/s", .head = "busbw"}, one.busbw);
        frame.put({.name = "wrong_elements", .head = "wrong"},
                  one.wrong < 0 ? Cell("n/a") : Cell(one.wrong));
        if (!one.mark.empty()) frame.rows.back().caveats.push_back({CaveatKind::said, one.mark});
    }
    frame.drop_empty_columns();
    return frame;
}

// A line per fitted curve: "allreduce fp32: latency 1.2 us, bandwidth 5.6 GB/s".
std::string fits(const Run& run) {
    constexpr std::size_t kMost = 4;
    std::string text;
    std::size_t lines = 0;
    for (const auto& one : model::messages_of(run, "fits")) {
        const double alpha = one.stored.number("alpha_us"),
                     bandwidth = one.stored.number("bandwidth_GBps");
        if (!one.mark.empty() || !std::isfinite(alpha) || lines == kMost) continue;
        std::string line =
            fmt::format("{}: latency {}", model::full_name(one), readable(alpha, "us"));
        if (std::isfinite(bandwidth)) line += ", bandwidth " + readable(bandwidth, "GB/s");
        text += screen_line(lines++ == 0 ? "fit" : "", line);
    }
    return text;
}

// The shortest time of a message with data.
std::string smallest(const std::vector<Message>& messages) {
    const auto one = std::ranges::min_element(messages, {}, [](const Message& message) {
        const bool plain = message.bytes > 0 && message.op != "bandwidth" && message.mark.empty();
        return plain && std::isfinite(message.time) ? message.time : HUGE_VAL;
    });
    if (one == messages.end() || !std::isfinite(one->time)) return "";
    return fmt::format("{} of {}", readable(one->time, one->interval, "us"), size_and_name(*one));
}

std::string peak(const std::vector<Message>& messages) {
    const auto one = std::ranges::max_element(messages, {}, [](const Message& message) {
        return message.op != "latency" && std::isfinite(message.busbw) ? message.busbw : -1;
    });
    if (one == messages.end() || !std::isfinite(one->busbw)) return "";
    return fmt::format("{} of bus bandwidth at {}", readable(one->busbw, "GB/s"),
                       size_and_name(*one));
}

}  // namespace

std::string io_answer(const Run& run) {
    if (const auto ladder = model::ladder_of(run); !ladder.empty()) {
        Frame table = model::frame_of(ladder, false);
        std::ranges::reverse(table.rows);  // the fastest last, where a terminal shows it
        std::string text = text_of(table);
        for (std::size_t i = 1; i < ladder.findings.size(); ++i)
            text += base::wrapped("  ", sentence(ladder.findings[i]));
        return text;
    }
    const auto stored = model::storage_place(run);
    const std::map<std::string, std::string> place(stored.begin(), stored.end());
    const std::string &system = place.at("file_system"), &fsync = place.at("fsync"),
                      &cache = place.at("cache");
    const std::string written = (system == "unknown" ? "file system unknown" : system) +
                                (fsync.empty()    ? ""
                                 : fsync == "yes" ? ", fsync"
                                 : fsync == "no"  ? ", no fsync"
                                                  : ", fsync unknown");
    return screen_line("records", records(run)) +
           screen_line("write", rate_of(run, vocabulary::kWriteRate, written)) +
           screen_line("read",
                       rate_of(run, vocabulary::kReadRate, cache.empty() ? "" : "cache " + cache)) +
           screen_line("job", counted_time(run, vocabulary::kJobTime)) +
           screen_line("one record", one_record(run)) + screen_line("breakdown", phases(run)) +
           screen_line("ceiling", nearest_ceiling(run));
}

std::string io_verification(const Run& run) {
    const Frame table = model::ladder_of(run).table;
    if (table.empty()) return "";
    std::vector<std::string> others;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        if (table.at(row, "verified").text != "yes")
            others.push_back(table.at(row, "strategy").text);
    if (others.empty()) return "yes: every value of each strategy";
    const bool failed = std::ranges::any_of(
        table.rows, [](const Row& row) { return row.has(CaveatKind::invalid); });
    return fmt::format("{} {}", failed ? "NO; wrong or not verified:" : "not all; not verified:",
                       base::join(others, ", "));
}

std::string io_result(const Run& run) {
    const auto ladder = model::ladder_of(run);
    if (!ladder.empty()) return sentence(ladder.findings.front());
    const auto* job = run.find(vocabulary::kJobTime);
    const auto rate = [&](std::string_view name, const char* verb) {
        const double median = run.median(name);
        return std::isfinite(median) ? fmt::format(", {} {}", verb, readable(median, "MiB/s")) : "";
    };
    return fmt::format(
        "{}: {}{}{} on {}", run.setting(setting::kStrategy),
        job == nullptr ? "no job time" : readable(job->summary.median, job->summary.ci95, "s"),
        rate(vocabulary::kWriteRate, "written at"), rate(vocabulary::kReadRate, "read at"),
        counted(static_cast<std::size_t>(model::ranks_of(run)), "rank"));
}

std::string comm_answer(const Run& run) {
    auto messages = model::messages_of(run);
    // Latency and bandwidth belong to the operation in the line `result`. For a model's buckets
    // `result` has the sum of their times, and these two lines are missing.
    const Message* const headline = model::headline_message(run, messages);
    auto same = messages;
    std::erase_if(same, [&](const Message& one) {
        return headline == nullptr || one.place != headline->place ||
               model::full_name(one) != model::full_name(*headline);
    });
    for (auto& one : model::messages_of(run, "buckets"))
        one.op = "bucket", one.redop = "sum", messages.push_back(std::move(one));
    std::string text = "\n" + text_of(messages_frame(messages));
    if (const Table* table = run.find_table("nonblocking")) {
        Frame started = model::frame_of(*table, 24);
        started.sort({started.find("op"), started.find("bytes")});
        text += "\n" + text_of(started);
    }
    if (run.hosts.size() < 2) text += "  one rank sends nothing over a link: no bus bandwidth\n";
    return text + fits(run) + screen_line("latency", smallest(same)) +
           screen_line("bandwidth", peak(same)) +
           screen_line("late rank", run.fact(fact::kCallStragglerText));
}

std::string comm_result(const Run& run) {
    const auto buckets = model::messages_of(run, "buckets");
    if (const auto* sum = run.find("buckets_time_s"); !buckets.empty() && sum != nullptr) {
        double bytes = 0;
        for (const auto& one : buckets) bytes += base::real(one.bytes);
        return fmt::format("{} of {}: {} in {} on {}", counted(buckets.size(), "bucket"),
                           run.setting(setting::kFromModel), size_text(bytes),
                           readable(sum->summary.median, sum->summary.ci95, "s"),
                           counted(ranks_of(run), "rank"));
    }
    const auto messages = model::messages_of(run);
    const Message* one = model::headline_message(run, messages);
    if (one == nullptr) return "no operation was timed";
    const std::string busbw =
        std::isfinite(one->busbw) ? ", bus bandwidth " + readable(one->busbw, "GB/s") : "";
    return fmt::format("{}: {} in {}{} on {}", model::full_name(*one),
                       size_text(base::real(one->bytes)), readable(one->time, one->interval, "us"),
                       busbw, counted(ranks_of(run), "rank"));
}

}  // namespace ranklab::report::formats
