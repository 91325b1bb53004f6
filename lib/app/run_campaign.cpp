#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "campaign/campaign.hpp"
#include "report/formats/formats.hpp"
#include "report/page/parts.hpp"

namespace ranklab::app {
namespace {

using campaign::Campaign;

// The options of all verbs. Each verb's schema offers only the options that the verb reads.
struct CampaignRequest {
    bool json = false, dry_run = false;
};

int plan(const Campaign& of, const CampaignRequest& asked) {
    print_whole(asked.json ? campaign::status_json(of, campaign::queue_of(of))
                           : campaign::plan_text(of));
    return 0;
}

int status(const Campaign& of, const CampaignRequest& asked) {
    const auto queue = campaign::queue_of(of);
    print_whole(asked.json ? campaign::status_json(of, queue) : campaign::plan_text(of, &queue));
    if (!queue) throw base::EnvironmentError(campaign::kNoAnswer);
    return 0;
}

void write_page(const Campaign& of, const Words& ignore) {
    if (!std::filesystem::exists(of.output)) return;
    const std::string page = (std::filesystem::path(of.folder) / "page.html").string();
    write_report(page, [&](const report::model::Sink& sink) {
        sink(report::page::html_page({results::ResultFile(of.output), {}}, reference_folder(),
                                     of.name, campaign::questions_of(of, ignore)));
    });
    print("{}", report::formats::screen_line("page", page));
}

int collect(const Campaign& of, const CampaignRequest&) {
    // Slurm may place the repetitions of a point on different nodes.
    const Words allow = of.slurm() ? Words{"hosts"} : Words{};
    for (const auto& sweep : of.sweeps) print_whole(campaign::table_text(sweep, allow) + '\n');
    write_page(of, allow);
    print_whole(campaign::answers_text(of, allow));  // last: stays on the screen
    return 0;
}

int run(const Campaign& of, const CampaignRequest& asked) {
    if (of.slurm())
        throw base::OptionError(
            fmt::format("{}: with launcher = slurm use submit, status and collect instead of run",
                        of.file.string()));
    if (asked.dry_run) {
        for (const auto& job : of.jobs) print_whole(campaign::dry_run_text(job.sweep));
        return 0;
    }
    refuse_several_processes();
    const base::StopSignals signals;
    int code = 0;
    for (const auto& job : of.jobs) {
        if (base::StopSignals::received() != 0) break;
        const int own = campaign::run_missing(job.sweep, print_progress);
        if (code == 0) code = own;
    }
    collect(of, asked);
    return code;
}

int submit(const Campaign& of, const CampaignRequest& asked) {
    if (!of.slurm())
        throw base::OptionError(
            fmt::format("{}: launcher = mpirun has no queue; use `ranklab campaign run {}`",
                        of.file.string(), base::shell_path(of.file.string())));
    if (asked.dry_run) {
        for (const auto& job : of.jobs) print_whole(campaign::script_of(of, job) + '\n');
        return 0;
    }
    print("{} jobs submitted\nNext: ranklab campaign status {}\n",
          campaign::submit(of, print_progress), base::shell_path(of.file.string()));
    return 0;
}

int resume(const Campaign& of, const CampaignRequest& asked) {
    return of.slurm() ? submit(of, asked) : run(of, asked);
}

int cancel(const Campaign& of, const CampaignRequest&) {
    if (!of.slurm())
        throw base::OptionError(fmt::format(
            "{}: launcher = mpirun has no queue; stop a run by Ctrl-C", of.file.string()));
    print("{} jobs cancelled\n", campaign::cancel(of));
    return 0;
}

using Work = int(const Campaign&, const CampaignRequest&);

// `flag`: "--json", "--dry-run", or "" for none.
Command command_of(const char* name, Work* work, std::string_view flag) {
    Command command{text_of_command(name), {}, [work](const options::Options& given, const Words&) {
                        return work(campaign::read_campaign(given.positional().front()),
                                    given.fields<CampaignRequest>());
                    }};
    auto& schema = command.schema.positional(1, 1).section("Options");
    if (flag == "--json") schema.flag("json", &CampaignRequest::json, "print JSON");
    if (flag == "--dry-run")
        schema.flag("dry-run", &CampaignRequest::dry_run, "print the commands or batch scripts");
    describe_help(schema);
    return command;
}

CommandGroup program() {
    return {
        "campaign",
        "Measures the sweeps of an INI file, here or as jobs of Slurm.",
        "FILE.ini",
        {command_of("campaign plan", plan, "--json"), command_of("campaign run", run, "--dry-run"),
         command_of("campaign submit", submit, "--dry-run"),
         command_of("campaign status", status, "--json"),
         command_of("campaign resume", resume, "--dry-run"),
         command_of("campaign cancel", cancel, ""), command_of("campaign collect", collect, "")}};
}

// Puts the verb first: `ranklab campaign FILE` means plan, and `FILE status` means status.
Words verb_first(const CommandGroup& program, Words words) {
    const auto is_verb = [&](const std::string& word) {
        return std::ranges::any_of(program.verbs, [&](const Command& verb) {
            return verb.text.command == "campaign " + word;
        });
    };
    if (words.empty() || is_verb(words.front())) return words;
    if (words.size() > 1 && is_verb(words[1]))
        std::swap(words[0], words[1]);
    else if (words.front().ends_with(".ini"))
        words.insert(words.begin(), "plan");
    return words;
}

}  // namespace

int run_campaign(int argc, char** argv) {
    const auto all = program();
    return run_verbs(all, verb_first(all, arguments_of(argc, argv)));
}

}  // namespace ranklab::app
