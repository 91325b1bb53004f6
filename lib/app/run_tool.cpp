#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "app/run_facts.hpp"
#include "app/session.hpp"
#include "app/terminal.hpp"
#include "app/version.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::app {
namespace {

using experiments::Tool;
using experiments::Verb;
using Words = std::vector<std::string>;

void describe_tool(options::Schema& schema) {
    schema.section("Common").take(vocabulary::common_settings(),
                                  {"config", "expect-ranks", "stall-timeout", "dry-run", "quiet"});
}

Manual manual_of(const Tool& tool, const Verb& verb) {
    Manual manual{
        {tool.command() + " " + verb.words(), verb.usage(), verb.summary(), verb.examples()}, {}};
    verb.describe(manual.schema);
    describe_tool(manual.schema);
    describe_help(manual.schema);
    return manual;
}

ProgramManual manual_of(const Tool& tool) {
    ProgramManual manual{tool.command(), tool.summary(), {}};
    for (const auto& verb : tool.verbs()) manual.parts.push_back(manual_of(tool, *verb));
    return manual;
}

bool begins_with(const Words& words, const Words& verb) {
    return words.size() >= verb.size() && std::equal(verb.begin(), verb.end(), words.begin());
}

int work(Session& session, const options::Options& words, const Verb& verb,
         const std::string& command_line) {
    auto& control = session.control();
    const auto given = merge_config(session, words, command_line);
    const auto common = given.fields<vocabulary::CommonSettings>();
    const auto placements = session.gather_placements(1);
    const auto warnings = guard_launch(session, placements, common.expect_ranks.value_or(0), false);
    experiments::ToolPlan plan;
    comm::all_or_throw(control, [&] { plan = verb.settle(given); });
    if (session.is_root() && (!common.quiet || common.dry_run)) {
        print("# {}\n{}", version_line(), placement_header(placements));
        print_settings(plan.settings);
        print_settings(experiments::settings_of(given.effective(common)));
        print_settings(plan.facts);
        std::fflush(stdout);
    }
    if (session.is_root())
        for (const auto& warning : warnings) base::log::warn(warning);
    if (common.dry_run) return 0;

    TerminalProgress progress(session.is_root() && !common.quiet);
    const auto watchdog = session.watch(progress, common.stall_timeout);
    const experiments::RunContext context{control, progress};
    const auto report = plan.run({context, version()});
    comm::all_or_throw(control, [&] {
        if (session.is_root()) print_whole(report.text);
    });
    if (!report.wrong.empty()) comm::throw_on_all<base::DataError>(control, 0, report.wrong);
    return 0;
}

int run_verb(const Words& words, const Tool& tool, const Verb& verb, std::size_t verb_words) {
    const std::string command_line = command_line_of(tool.command(), words);
    auto [text, schema] = manual_of(tool, verb);
    return run_mpi_program(
        {.text = std::move(text),
         .schema = std::move(schema),
         .work =
             [&](Session& session, const options::Options& given) {
                 return work(session, given, verb, command_line);
             },
         .needs = [](const auto&) { return experiments::LaunchNeeds{.mpi = false}; }},
        {words.begin() + static_cast<std::ptrdiff_t>(verb_words), words.end()});
}

}  // namespace

int run_tool(int argc, char** argv, const Tool& tool) {
    const Words words = arguments_of(argc, argv);
    std::optional<int> early;
    const int code = guarded([&] {
        early = answer_early(manual_of(tool), words);
        return early.value_or(0);
    });
    if (early || code != 0) return code;
    for (const auto& verb : tool.verbs()) {
        const Words own = base::split(verb->words(), ' ');
        if (begins_with(words, own)) return run_verb(words, tool, *verb, own.size());
    }
    prepare_process();
    return guarded([&]() -> int { throw base::OptionError(unknown_verb(manual_of(tool), words)); });
}

}  // namespace ranklab::app
