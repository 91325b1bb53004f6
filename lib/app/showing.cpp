#include "app/showing.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "app/printing.hpp"
#include "base/colour.hpp"
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
    return fmt::format("Stored as {} in {}", run.id, output_);
}

std::string Showing::next(const results::Run& run) const {
    if (output_ == "none") return "";
    return fmt::format("Next: ranklab report {} --run {}\n", base::shell_quote({output_}), run.id);
}

Shown Showing::of(const results::Run& run) const {
    if (json_) return {report::formats::one_run_json(run), ""};
    if (quiet_) return {"", fmt::format("{}; {}\n", report::formats::answer_line(run), stored(run))};
    const std::string answer =
        verbose_ ? report::formats::run_text(run)
                 : report::formats::answer_text(run, {.colour = colour_, .all = "--verbose shows all"});
    return {"\n" + answer, fmt::format("\n{}{}\n{}", stored(run), output_ == "none" ? "." : "", next(run))};
}

Shown Showing::of_comparison(const results::Run& run) const {
    return json_ ? Shown() : of(run);
}

Shown Showing::of_one(const results::Run& run, const std::string& line) const {
    if (json_) return {};
    if (verbose_) return of(run);
    const std::string said = run.valid && !line.empty() ? line : report::formats::answer_line(run);
    const std::string told = fmt::format("{} ({})", said, output_ == "none" ? "not stored" : run.id);
    constexpr std::size_t kIndent = 4;  // of what does not fit into the first line
    return {base::wrapped(std::string(kIndent, ' '), told).substr(kIndent), ""};
}

void Showing::end(const std::vector<results::Run>& runs) const {
    if (json_ && !runs.empty()) print_whole(report::formats::runs_json(runs));
}

}  // namespace ranklab::app
