// The answer of `ranklab comm`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/answer.hpp"
#include "report/frame/readable.hpp"
#include "report/frame/write.hpp"
#include "report/model/messages.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

using model::Message;
using results::Run;
using results::Table;

constexpr std::size_t kMostSentences = 4;

std::string ranks_of(const Run& run) {
    return counted(std::max<std::size_t>(1, run.hosts.size()), "rank");
}

Frame messages_frame(const std::vector<Message>& messages) {
    Frame frame;
    frame.columns = {{.name = "op", .key = true, .head = "operation"},
                     {.name = "bytes", .key = true, .head = "size"},
                     {.name = "place", .key = true},
                     {.name = "time_us", .unit = "us", .interval = true, .head = "time"},
                     {.name = "busbw_GBps", .unit = "GB/s", .head = "busbw"},
                     {.name = "wrong_elements", .head = "wrong"}};
    const bool both = std::ranges::any_of(messages, &Message::in_place) &&
                      !std::ranges::all_of(messages, &Message::in_place);
    for (const auto& one : messages) {
        frame.rows.push_back(
            {{model::full_name(one), one.bytes > 0 ? size_text(static_cast<double>(one.bytes)) : "",
              both ? (one.in_place() ? "in" : "out") : "", Cell(one.time, one.interval), Cell(one.busbw),
              one.wrong < 0 ? Cell("n/a") : Cell(static_cast<double>(one.wrong))},
             {}});
        if (!one.mark.empty()) frame.rows.back().doubts.push_back({Mark::said, one.mark});
    }
    if (!both) frame.columns.erase(frame.columns.begin() + 2);
    for (auto& row : frame.rows)
        if (!both) row.cells.erase(row.cells.begin() + 2);
    frame.drop_empty_columns();
    return frame;
}

// "allreduce fp32: latency 1.2 us, 5.6 GB/s for large messages"
std::string fit_of(const Table& fits, const Message& one) {
    const auto at = [&](const char* column) { return model::number_at(fits, column, one.row); };
    if (!std::isfinite(at("alpha_us"))) return "";
    const std::string bandwidth = std::isfinite(at("bandwidth_GBps"))
                                      ? ", " + readable(at("bandwidth_GBps"), "GB/s") + " for each byte more"
                                      : "";
    return fmt::format("{}: latency {}{}", model::full_name(one), readable(at("alpha_us"), "us"), bandwidth);
}

std::string fits(const Run& run) {
    const Table* table = run.find_table("fits");
    std::vector<std::string> lines;
    if (table != nullptr)
        for (const auto& one : model::messages_in(*table))
            if (auto line = one.mark.empty() ? fit_of(*table, one) : "";
                !line.empty() && lines.size() < kMostSentences)
                lines.push_back(std::move(line));
    std::string text;
    for (const auto& line : lines) text += screen_line(text.empty() ? "fit" : "", line);
    return text;
}

// Of messages that hold something, with nothing beside them.
std::string smallest(const std::vector<Message>& messages) {
    const auto one = std::ranges::min_element(messages, {}, [](const Message& message) {
        const bool plain = message.bytes > 0 && message.op != "bandwidth" && message.load != "loaded" &&
                           message.mark.empty();
        return plain && std::isfinite(message.time) ? message.time : HUGE_VAL;
    });
    if (one == messages.end() || !std::isfinite(one->time)) return "";
    return fmt::format("{} of {}, {}", readable(one->time, one->interval, "us"),
                       size_text(static_cast<double>(one->bytes)), model::full_name(*one));
}

std::string peak(const std::vector<Message>& messages) {
    const auto one = std::ranges::max_element(messages, {}, [](const Message& message) {
        return message.op != "latency" && std::isfinite(message.busbw) ? message.busbw : -1;
    });
    if (one == messages.end() || !std::isfinite(one->busbw)) return "";
    return fmt::format("{} of bus bandwidth at {}, {}", readable(one->busbw, "GB/s"),
                       size_text(static_cast<double>(one->bytes)), model::full_name(*one));
}

std::string guidelines(const Run& run) {
    const Table* table = run.find_table("guidelines");
    if (table == nullptr || model::row_count(*table) == 0) return "";
    std::size_t broken = 0, unknown = 0;
    std::vector<std::string> names;
    for (std::size_t row = 0; row < model::row_count(*table); ++row) {
        const std::string verdict = model::text_at(*table, "verdict", row);
        if (verdict.starts_with("cannot tell")) ++unknown;
        if (!verdict.starts_with("VIOLATED")) continue;
        ++broken;
        const std::string name = model::text_at(*table, "guideline", row);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    const std::size_t rows = model::row_count(*table);
    return fmt::format("{} of {} hold, {} violated{}{}, {} undecided", rows - broken - unknown, rows, broken,
                       names.empty() ? "" : ": ", model::some_of(names, 3), unknown);
}

std::vector<Message> all_messages(const Run& run) {
    auto all = model::messages_of(run);
    if (const Table* buckets = run.find_table("buckets"))
        for (auto& one : model::messages_in(*buckets))
            one.op = "bucket", one.redop = "sum", all.push_back(std::move(one));
    return all;
}

}  // namespace

std::string comm_answer(const Run& run) {
    const auto messages = all_messages(run);
    std::string text = screen_line("latency", smallest(messages)) + screen_line("bandwidth", peak(messages)) +
                       "\n" + text_of(messages_frame(messages));
    if (const Table* table = run.find_table("nonblocking")) {
        Frame started = model::frame_of(*table, 24);
        started.sort({started.find("op"), started.find("bytes")});
        text += "\n" + text_of(started);
    }
    if (run.hosts.size() < 2) text += "  one rank sends nothing over a link: no bus bandwidth\n";
    return text + fits(run) + screen_line("guidelines", guidelines(run)) +
           screen_line("late rank", run.fact("collectives", "late"));
}

std::string comm_result(const Run& run) {
    const Table* buckets = run.find_table("buckets");
    if (const auto* sum = run.find("buckets_time_s"); buckets != nullptr && sum != nullptr) {
        double bytes = 0;
        for (std::size_t row = 0; row < model::row_count(*buckets); ++row)
            bytes += model::number_at(*buckets, "bytes", row);
        return fmt::format("{} of {}: {} in {} on {}", counted(model::row_count(*buckets), "bucket"),
                           run.setting("from-model"), size_text(bytes),
                           readable(sum->summary.median, sum->summary.ci95, "s"), ranks_of(run));
    }
    const auto messages = model::messages_of(run);
    const Message* one = model::headline_message(run, messages);
    if (one == nullptr) return "no operation was timed";
    return fmt::format(
        "{}: {} in {}{} on {}", model::full_name(*one), size_text(static_cast<double>(one->bytes)),
        readable(one->time, one->interval, "us"),
        std::isfinite(one->busbw) ? fmt::format(", bus bandwidth {}", readable(one->busbw, "GB/s")) : "",
        ranks_of(run));
}

}  // namespace ranklab::report::formats
