// The table of a sweep's runs, and its verdict.
#include <fmt/format.h>

#include "base/text.hpp"
#include "campaign/sweep.hpp"
#include "report/formats/formats.hpp"

namespace ranklab::campaign {

std::string table_text(const Sweep& sweep, const std::vector<std::string>& allow) {
    if (!std::filesystem::exists(sweep.output)) return "";
    report::model::Choice choice;
    choice.label = sweep.label;
    choice.conditions = {"command=" + sweep.program, "cut_short="};
    const report::model::ChosenRuns runs(results::ResultFile(sweep.output), choice);
    if (runs.headers().empty()) return "";
    const report::model::Groups groups(report::model::runs_frame(runs, {sweep.keys, {}, allow}));
    const std::string file = base::shell_path(sweep.output.string());
    return report::formats::groups_text(groups) +
           report::formats::screen_line("stored", fmt::format("{} as {}", file, sweep.label)) +
           fmt::format("  {:<14}ranklab report {} --label {} --group-by {}\n", "next", file,
                       base::shell_quote({sweep.label}), base::join(sweep.keys, ","));
}

}  // namespace ranklab::campaign
