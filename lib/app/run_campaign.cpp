#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "campaign/campaign.hpp"

namespace ranklab::app {
namespace {

using campaign::Campaign;
using options::Schema;
using Words = std::vector<std::string>;

// The options of all verbs. Each verb's schema has those that it reads.
struct CampaignRequest {
    bool json = false, dry_run = false;
};

struct Verb {
    const char* name;
    const char* summary;
    void (*describe)(Schema&);
    int (*work)(const Campaign&, const CampaignRequest&);
};

void file_only(Schema& schema) {
    schema.positional(1);
}
void with_json(Schema& schema) {
    schema.positional(1).section("Options").flag("json", &CampaignRequest::json, "print JSON");
}
void with_dry_run(Schema& schema) {
    schema.positional(1).section("Options").flag("dry-run", &CampaignRequest::dry_run,
                                                 "print the commands or batch scripts");
}

int plan(const Campaign& of, const CampaignRequest& asked) {
    print_whole(asked.json ? campaign::status_json(of) : campaign::plan_text(of));
    return 0;
}

int status(const Campaign& of, const CampaignRequest& asked) {
    print_whole(asked.json ? campaign::status_json(of) : campaign::status_text(of));
    return 0;
}

int collect(const Campaign& of, const CampaignRequest&) {
    // Slurm may place the repetitions of a point on different nodes.
    const Words allow = of.slurm ? Words{"hosts"} : Words{};
    for (const auto& sweep : of.sweeps) print_whole(campaign::table_text(sweep, allow) + '\n');
    return 0;
}

int run(const Campaign& of, const CampaignRequest& asked) {
    if (of.slurm)
        throw base::OptionError(
            fmt::format("{}: launcher = slurm has submit, status and collect in place of run",
                        of.file.string()));
    if (asked.dry_run) {
        for (const auto& job : of.jobs) print_whole(campaign::dry_run_text(job.sweep));
        return 0;
    }
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
    if (!of.slurm)
        throw base::OptionError(
            fmt::format("{}: launcher = mpirun has no queue; `ranklab campaign run {}`",
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
    return of.slurm ? submit(of, asked) : run(of, asked);
}

int cancel(const Campaign& of, const CampaignRequest&) {
    if (!of.slurm)
        throw base::OptionError(fmt::format(
            "{}: launcher = mpirun has no queue; Ctrl-C stops a run", of.file.string()));
    print("{} jobs cancelled\n", campaign::cancel(of));
    return 0;
}

constexpr std::array kVerbs{
    Verb{"plan", "Lists the jobs with nodes, ranks, runs and time. Starts nothing.", with_json,
         plan},
    Verb{"run", "Starts the missing runs of the sweeps here, by mpirun.", with_dry_run, run},
    Verb{"submit", "Submits the jobs that lack runs to Slurm.", with_dry_run, submit},
    Verb{"status", "Shows how many runs are stored, and which jobs are queued.", with_json, status},
    Verb{"resume", "Starts the missing runs, as run or submit does.", with_dry_run, resume},
    Verb{"cancel", "Cancels the campaign's jobs in Slurm's queue.", file_only, cancel},
    Verb{"collect", "Shows the tables of the stored runs.", file_only, collect},
};

constexpr const char* kSummary = "Measures the sweeps of an INI file, here or as jobs of Slurm.";

ProgramManual manual_of_all() {
    ProgramManual all{"campaign", kSummary, {}, "FILE.ini"};
    for (const auto& verb : kVerbs) {
        auto& part = all.parts.emplace_back();
        part.text = {
            fmt::format("campaign {}", verb.name), "FILE.ini", verb.summary,
            fmt::format("  ranklab campaign {} configs/campaigns/proposal.ini\n", verb.name)};
        verb.describe(part.schema);
    }
    return all;
}

const Verb* verb_of(const std::string& word) {
    const auto found = std::ranges::find(kVerbs, word, &Verb::name);
    return found == kVerbs.end() ? nullptr : found;
}

// Puts the verb first: `ranklab campaign FILE` means plan, and `FILE status` means status.
Words verb_first(Words words) {
    if (words.empty() || verb_of(words.front()) != nullptr) return words;
    if (words.size() > 1 && verb_of(words[1]) != nullptr)
        std::swap(words[0], words[1]);
    else if (words.front().ends_with(".ini"))
        words.insert(words.begin(), "plan");
    return words;
}

}  // namespace

int run_campaign(int argc, char** argv) {
    const auto work = [](const std::string& verb, const options::Options& given, const Words&) {
        if (given.positional().empty())
            throw base::OptionError(fmt::format(
                "campaign {} needs the campaign's file: ranklab campaign {} FILE.ini", verb, verb));
        return verb_of(verb)->work(campaign::read_campaign(given.positional().front()),
                                   given.fields<CampaignRequest>());
    };
    return run_verbs(manual_of_all(), verb_first(arguments_of(argc, argv)), work);
}

}  // namespace ranklab::app
