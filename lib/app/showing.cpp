#include "app/showing.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "app/printing.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/shell_path.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/formats.hpp"

namespace ranklab::app {

Showing::Showing(const options::Options& options)
    : output_(options.text("output")),
      quiet_(options.flag("quiet")),
      verbose_(options.flag("verbose")),
      json_(options.flag("json")),
      colour_(base::shows_colour(STDOUT_FILENO)) {}

std::string Showing::stored(const results::Run& run) const {
    if (output_ == "none") return "Not stored (--output none)";
    return fmt::format("Stored as {} in {}", run.id, base::one_line(output_));
}

std::string Showing::next(const results::Run& run) const {
    if (output_ == "none") return "";
    return fmt::format("Next: ranklab report {} --run {}\n", base::shell_path(output_), run.id);
}

std::string Showing::all_stored(std::size_t runs) const {
    if (output_ == "none") return "they were not to be stored (--output none)";
    return fmt::format("{} run(s) are stored in {}", runs, output_);
}

Shown Showing::of(const results::Run& run) const {
    if (json_)
        return {.data = report::formats::one_run_json(run),
                .note = quiet_ || output_ == "none" ? "" : stored(run)};
    if (quiet_) return {.epilogue = fmt::format("{}; {}\n", report::formats::answer_line(run), stored(run))};
    const std::string answer =
        verbose_ ? report::formats::run_text(run)
                 : report::formats::answer_text(run, {.colour = colour_, .all = "--verbose shows all"});
    return {.answer = "\n" + answer,
            .epilogue = fmt::format("\n{}{}\n{}", stored(run), output_ == "none" ? "." : "", next(run))};
}

Shown Showing::of_comparison(const results::Run& run) const {
    return json_ ? Shown() : of(run);
}

// With --quiet and --verbose it was shown when it was delivered.
std::string Showing::of_the_finished_one(const results::Run& run, const std::string& line,
                                         std::size_t planned) const {
    if (json_ || quiet_ || verbose_) return "";
    const Shown shown = of(run);
    const std::string head =
        fmt::format("1 of {} runs was {}: {}", planned,
                    run.cut_short().empty() ? "finished" : "begun, and cut short", told(run, line));
    return fmt::format("\n{}{}{}", base::wrapped("", head), shown.answer, shown.epilogue);
}

std::string Showing::told(const results::Run& run, const std::string& line) const {
    const std::string said = run.valid && !line.empty() ? line : report::formats::answer_line(run);
    return fmt::format("{} ({})", said, output_ == "none" ? "not stored" : run.id);
}

Shown Showing::of_one(const results::Run& run, const std::string& line) const {
    if (json_) return {};
    if (verbose_) return of(run);
    if (!quiet_) return {};
    constexpr std::size_t kIndent = 4;  // of what does not fit into the first line
    return {.answer = base::wrapped(std::string(kIndent, ' '), told(run, line)).substr(kIndent)};
}

std::string Showing::progress_line(const results::Run& run, const std::string& line) const {
    return quiet_ || verbose_ ? "" : told(run, line);
}

void Showing::end(const std::vector<results::Run>& runs) const {
    if (!json_ || runs.empty()) return;
    if (!quiet_ && output_ != "none") base::log::info(all_stored(runs.size()));
    try {
        print_whole(report::formats::runs_json(runs));
    } catch (const base::EnvironmentError& error) {
        throw base::EnvironmentError(fmt::format("{}; {}", error.what(), all_stored(runs.size())));
    }
}

}  // namespace ranklab::app
