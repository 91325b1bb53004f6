// A diagnosis in words, as tables, and for programs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report::diagnosis {
namespace {

constexpr std::array kParts{"computing",           "imbalance between nodes",
                            "imbalance in a node", "waiting for samples",
                            "uneven steps",        "summing gradients"};
constexpr double kLeastPercent = 0.05;  // less is shown as nothing

nlohmann::ordered_json json_of(const Frame& frame) {
    auto rows = nlohmann::ordered_json::array();
    for (std::size_t row = 0; row < frame.rows.size(); ++row) {
        auto& json = rows.emplace_back();
        for (const auto& column : frame.columns) {
            const Cell& cell = frame.at(row, column.name);
            json[column.name] = cell.number;
            if (!cell.text.empty()) json[column.name] = cell.text;
            if (!column.interval) continue;
            json[column.name + "_low"] = cell.interval.low;
            json[column.name + "_high"] = cell.interval.high;
        }
    }
    return rows;
}

}  // namespace

Frame frame_of(const Diagnosis& found) {
    Frame frame{.title = "The mean step, and the factors of its parallel efficiency"};
    frame.columns = {{.name = "part", .key = true},
                     {.name = "time_s", .unit = "s", .head = "time"},
                     {.name = "percent", .unit = "%", .head = "share"},
                     {.name = "efficiency", .unit = "1", .interval = true}};
    const double whole = found.found.step_s();
    const auto add = [&](const char* name, double seconds, const Cell& factor) {
        if (const double percent = 100 * seconds / whole; percent > kLeastPercent)
            frame.rows.push_back({{name, Cell(seconds), Cell(percent), factor}, {}});
    };
    add(kParts[0], found.found.level_s[0], {});
    for (std::size_t i = 0; i < forecast::kLosses; ++i)
        add(kParts[i + 1], found.found.lost_s(static_cast<forecast::Loss>(i)), found.factors[i]);
    add("step", whole, found.parallel);
    frame.notes = {fmt::format("start-up: {} until the first step was done, {} of the run",
                               readable(found.start_up_s, "s"),
                               percent_text(100 * found.start_up_share))};
    return frame;
}

Frame advice_frame(const Diagnosis& found) {
    Frame frame{.title = "What to try, and the time per sample that it saves"};
    frame.columns = {{.name = "option", .key = true, .head = "try"},
                     {.name = "gain_percent", .unit = "%", .interval = true, .head = "gain"}};
    for (const auto& one : found.advice)
        frame.rows.push_back({{option_of(one.remedy, one.value), one.gain}, {}});
    if (std::ranges::any_of(found.advice, &Advice::in_part))
        frame.notes = {"measured in part: the interval holds all that the rest may be"};
    return frame;
}

std::string text_of(const Diagnosis& found) {
    std::string text = fmt::format("run {}\n", base::one_line(found.run)) +
                       base::wrapped("  why           ", sentence(found.reason));
    for (const auto& frame : {frame_of(found), advice_frame(found)})
        if (!frame.empty()) text += '\n' + report::text_of(frame);
    return text;
}

std::string json_of(const Diagnosis& found) {
    return json_line({{"schema", 1},
                      {"run", found.run},
                      {"bound", name_of(found.reason.bound)},
                      {"cause", name_of(found.reason.cause)},
                      {"sentence", sentence(found.reason)},
                      {"parts", json_of(frame_of(found))},
                      {"start_up_s", found.start_up_s},
                      {"advice", json_of(advice_frame(found))}});
}

std::string html_of(const Diagnosis& found) {
    return fmt::format("<p>{}</p>\n", html_escape(sentence(found.reason))) +
           report::html_of(frame_of(found)) + report::html_of(advice_frame(found));
}

}  // namespace ranklab::report::diagnosis
