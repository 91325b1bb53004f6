
#include <algorithm>
#include <cstdio>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "app/run_facts.hpp"
#include "app/session.hpp"
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
Command command_of(const Tool& tool, const Verb& verb) {
    Command command{{tool.command + " " + verb.words, verb.usage, verb.summary, verb.examples},
                    verb.options};
    command.schema.section("Common").take(
        vocabulary::common_settings(),
        {"config", "expect-ranks", "stall-timeout", "dry-run", "quiet"});
    describe_help(command.schema);
    return command;
}

int work(Session& session, const options::Options& words, const Verb& verb,
         const std::string& command_line) {
    auto& control = session.control();
    const auto given = merge_config(session, words, command_line);
    const auto common = given.fields<vocabulary::CommonSettings>();
    const auto placements = session.gather_placements(1);
    const auto warnings = guard_launch(session, evidence_of(session, placements, common, false));
    experiments::ToolPlan plan;
    comm::all_or_throw(control, [&] { plan = verb.settle(given); });
    if (session.is_root() && (!common.quiet || common.dry_run)) {
        print("# {}\n{}", version_line(), placement_header(placements));
        print_settings(plan.settings);
        print_settings(experiments::settings_of(given.effective(common)));
        print_settings(plan.facts);
        std::fflush(stdout);
    }
    warn_of(warnings, session);
    if (common.dry_run) return 0;

    if (session.is_root() && !common.quiet) session.progress().speak();
    session.watch(common.stall_timeout);
    const experiments::RunContext context{control, session.progress()};
    const auto report = plan.run({context, version()});
    comm::all_or_throw(control, [&] {
        if (session.is_root()) print_whole(report.text);
    });
    if (!report.wrong.empty()) comm::throw_on_all<base::DataError>(control, 0, report.wrong);
    return 0;
}

}  // namespace

int run_tool(int argc, char** argv, const Tool& tool) {
    const Words words = arguments_of(argc, argv);
    CommandGroup program{tool.command, tool.summary, "[options]", {}};
    for (const auto& verb : tool.verbs) program.verbs.push_back(command_of(tool, verb));
    return run_verbs(program, words, [&](const Command& command, const Words& rest) {
        const auto& verb = *std::ranges::find_if(tool.verbs, [&](const Verb& one) {
            return command.text.command == tool.command + " " + one.words;
        });
        return run_mpi_program(
            {.command = command,
             .work =
                 [&](Session& session, const options::Options& given) {
                     return work(session, given, verb, command_line_of(tool.command, words));
                 },
             .needs = [](const auto&) { return experiments::LaunchNeeds{.mpi = false}; }},
            rest);
    });
}

}  // namespace ranklab::app
