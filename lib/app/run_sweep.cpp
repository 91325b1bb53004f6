#include <fmt/format.h>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/program.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "campaign/sweep.hpp"
#include "options/sections.hpp"

namespace ranklab::app {
namespace {

constexpr const char* kSummary =
    "Starts the program with each combination of the options' values, by mpirun or srun, repeated "
    "in random order, and prints one table. The same command later starts only the missing runs.";

const char* examples_of(const std::string& program) {
    if (program == "io")
        return "  ranklab sweep io --strategy mpi-scatter,hdf5-parallel-collective --ranks 1,2\n";
    if (program == "comm") return "  ranklab sweep comm --op allreduce --ranks 2,4 --repeat 6\n";
    return "  ranklab sweep train --ranks 1,2,4 --scaling strong \\\n"
           "      --global-batch-size 64 --steps 200\n"
           "  ranklab sweep train --mode single,dp,ddp --ranks 2 \\\n"
           "      --global-batch-size 64 --steps 200\n"
           "  ranklab sweep train --sync flat,bucketed --ranks 4 --repeat 6 --dry-run\n";
}

int list_names(const std::string& program) {
    const auto listed = base::output_of(
        base::shell_quote({base::program_beside("ranklab").string(), program, "--list"}));
    print_whole(listed.text);
    return listed.code < 0 ? static_cast<int>(base::ExitCode::internal) : listed.code;
}

// A label that is equal for equal options of the runs, so that a sweep finds its stored runs.
std::string default_label(campaign::SweepRequest request) {
    request.own.dry_run = request.own.quiet = false;
    return fmt::format(
        "sweep-{}-{:06x}", request.program,
        base::fingerprint(base::shell_quote(campaign::words_of(request))) & 0xffffffU);
}

int sweep(const std::string& program, const options::Options& words_given) {
    const auto asked = words_given.fields<campaign::SweepSettings>();
    if (asked.list) return list_names(program);
    const auto given =
        asked.config
            ? words_given.with_config(*asked.config, options::ini_text(*asked.config, {"config"}))
            : words_given;
    const auto request = campaign::request_of(program, given);
    given.check_relations(request.own, request.race);
    auto plan = campaign::plan_sweep(request, campaign::this_machine(), default_label(request));
    plan.inputs_hash = campaign::inputs_hash(request);
    if (request.own.dry_run) {
        print_whole(campaign::dry_run_text(plan));
        return 0;
    }
    refuse_several_processes();
    const base::StopSignals signals;
    const campaign::Say say = request.own.quiet ? [](const std::string&) {} : print_progress;
    const auto [code, verdict] = request.race.race
                                     ? campaign::run_race(plan, request.race, say)
                                     : std::pair(campaign::run_missing(plan, say), std::string());
    print_whole(campaign::table_text(plan, {}, verdict));
    return code;
}

}  // namespace

int run_sweep(int argc, char** argv) {
    CommandGroup all{"sweep", kSummary, "[options]", {}};
    for (const auto& program : campaign::swept_programs()) {
        auto& verb = all.verbs.emplace_back(Command{
            {"sweep " + program, "[options, with values as a,b]",
             fmt::format("Starts ranklab {0} with each combination of values of its options "
                         "(ranklab {0} --help), and compares the runs.",
                         program),
             examples_of(program)},
            campaign::sweep_options(program),
            [program](const auto& given, const Words&) { return sweep(program, given); }});
        describe_help(verb.schema);
    }
    return run_verbs(all, arguments_of(argc, argv));
}

}  // namespace ranklab::app
