#include "app/output.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>

#include "app/context.hpp"
#include "app/printing.hpp"
#include "app/version.hpp"
#include "base/log.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/formats/formats.hpp"

namespace ranklab::app {
namespace {

// How ranks work together means nothing on one rank.
bool belongs_in_header(const options::Options::Effective& option, std::size_t ranks) {
    return option.asked || (option.in_header && (ranks > 1 || option.role != options::Role::together));
}

std::vector<results::Setting> short_settings(const options::Options& options, std::size_t ranks) {
    std::vector<results::Setting> settings;
    for (const auto& option : options.effective())
        if (option.role != options::Role::request && belongs_in_header(option, ranks))
            settings.push_back({option.name, option.value, false});
    return settings;
}

}  // namespace

Output::Output(const options::Options& options, bool is_root)
    : options_(options),
      common_(options.fields<vocabulary::CommonSettings>()),
      is_root_(is_root),
      nccl_tests_(options.has("format") && options.is("format", "nccl-tests")) {}

void Output::header(const experiments::Plan& plan, const Launch& launch) const {
    const bool dry = common_.dry_run;
    if (!is_root_ || ((common_.quiet || common_.json) && !dry)) return;
    const bool all = common_.verbose || dry;
    print("# {}\n{}", version_line(),
          all ? placement_header(launch.placements) : placement_line(launch.placements));
    print_settings(all ? experiments::settings_of(options_)
                       : short_settings(options_, launch.placements.size()));
    std::vector<results::Setting> facts = plan.facts();
    if (!all) std::erase_if(facts, [](const auto& fact) { return fact.key != "note"; });
    print_settings(facts);
    if (!all) print("# all other settings: --verbose\n");
    std::fflush(stdout);
}

std::string Output::place_of(const results::Run& run) const {
    if (common_.output == "none") return "not stored (--output none)";
    return fmt::format("{} in {}", run.id, base::one_line(common_.output));
}

void Output::answer(const std::vector<results::Run>& runs) const {
    if (common_.quiet || common_.json) return;
    const results::Run& last = runs.back();
    if (nccl_tests_)
        print("{}", report::formats::nccl_text(last));
    else if (common_.verbose)
        for (const auto& run : runs) print("\n{}", report::formats::run_text(run, true));
    print("\n{}", report::formats::answer_text(
                      last, {.colour = base::shows_colour(STDOUT_FILENO), .whole = common_.verbose}));
    std::fflush(stdout);
}

void Output::stored(const std::vector<results::Run>& runs) const {
    const auto& last = runs.back();
    if (common_.json) {
        if (!common_.quiet && common_.output != "none") base::log::info("stored as " + place_of(last));
        print_whole(report::formats::runs_json(runs));
    } else if (common_.quiet) {
        for (const auto& run : runs) print("{}; {}\n", report::formats::answer_line(run), place_of(run));
    } else {
        print("{}", report::formats::screen_line("stored", place_of(last)));
        if (common_.output != "none")
            print("  {:<14}ranklab report {} --run {}\n", "next", base::shell_path(common_.output), last.id);
    }
}

}  // namespace ranklab::app
