#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/command_line.hpp"
#include "app/guarded.hpp"
#include "app/manual.hpp"
#include "app/printing.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/shell_path.hpp"
#include "base/wrap.hpp"
#include "campaign/conduct.hpp"
#include "campaign/script.hpp"
#include "campaign/tables.hpp"
#include "campaign/verdict.hpp"

namespace ranklab::app {
namespace {

using campaign::Campaign;
using campaign::Job;
using options::Options;
using options::Schema;
using Words = std::vector<std::string>;

struct Verb {
    const char* name;
    const char* summary;
    const char* examples;
    void (*describe)(Schema&);
    int (*work)(const Options&, const Campaign&, const std::vector<Job>&);
};

void say(const std::string& line) {
    print("{}\n", line);
    std::fflush(stdout);
}

void file_only(Schema& schema) {
    schema.positional(1);
}

void with_json(Schema& schema) {
    schema.positional(1).section("Options").flag("json", "as JSON, for other programs");
}

void with_pilot(Schema& schema) {
    schema.positional(1).section("Options").flag(
        "pilot", "the first repetition of each point alone: plan then knows what a job takes");
}

int print_json(const Campaign& of, const std::vector<Job>& jobs) {
    print_whole(campaign::status_json(of, jobs, campaign::standings_now(of, jobs)));
    return 0;
}

int plan(const Options& options, const Campaign& of, const std::vector<Job>& jobs) {
    if (options.flag("json")) return print_json(of, jobs);
    print_whole(campaign::plan_text(of, jobs, campaign::standings_now(of, jobs).jobs));
    return 0;
}

int status(const Options& options, const Campaign& of, const std::vector<Job>& jobs) {
    if (options.flag("json")) return print_json(of, jobs);
    print_whole(campaign::status_text(of, jobs, campaign::standings_now(of, jobs)));
    return 0;
}

int begin_jobs(const Campaign& of, const std::vector<Job>& jobs, const campaign::Wanted& wanted) {
    if (of.launcher == campaign::Launcher::slurm) {
        const auto submitted = campaign::submit(of, jobs, wanted, say);
        print("{} jobs submitted\nNext: ranklab campaign status {}\n", submitted,
              base::shell_path(of.file.string()));
        return 0;
    }
    const auto missing = campaign::run(of, jobs, wanted, say);
    if (missing > 0) print_text(campaign::status_text(of, jobs, campaign::standings_now(of, jobs)));
    return missing == 0 ? 0 : static_cast<int>(base::ExitCode::environment);
}

// Starts nothing: the scripts are for reading and for starting by hand.
int write_alone(const Campaign& of, const std::vector<Job>& jobs) {
    campaign::write_scripts(of, jobs);
    print("{} scripts in {}; launcher = dry starts none: `bash SCRIPT` does\n", jobs.size(),
          std::filesystem::absolute(of.folder / "jobs").string());
    return 0;
}

bool is_dry(const Campaign& of) {
    return of.launcher == campaign::Launcher::dry;
}

int submit(const Options& options, const Campaign& of, const std::vector<Job>& jobs) {
    if (is_dry(of)) return write_alone(of, jobs);
    if (of.launcher == campaign::Launcher::mpirun)
        throw base::OptionError(fmt::format(
            "{}: launcher = mpirun has no queue to submit to; `ranklab campaign run {}` runs the jobs here",
            of.file.string(), base::shell_path(of.file.string())));
    return begin_jobs(of, jobs, {.failed = false, .pilot = options.flag("pilot")});
}

int cancel(const Options&, const Campaign& of, const std::vector<Job>& jobs) {
    print("{} jobs cancelled\n", campaign::cancel(of, jobs));
    return 0;
}

void print_collected(const Campaign& of, const std::vector<Job>& jobs,
                     const std::vector<results::Merged>& merged) {
    std::size_t added = 0;
    std::size_t known = 0;
    for (const auto& file : merged) added += file.added, known += file.known;
    print("{}: {} runs added, {} were there already\n", of.output.string(), added, known);
    print_text(base::wrapped("", campaign::verdict_line(of, jobs)));
    print("Next:\n{}", campaign::report_commands(of));
}

int collect(const Options&, const Campaign& of, const std::vector<Job>& jobs) {
    const auto merged = campaign::collect(of, jobs);
    if (merged.size() < jobs.size())
        print("{} of {} jobs are done; the others are left out\n", merged.size(), jobs.size());
    print_collected(of, jobs, merged);
    return 0;
}

bool any_done(const Campaign& of, const std::vector<Job>& jobs) {
    return std::ranges::any_of(jobs, [&](const Job& job) { return exists(file_of(of, job, "h5")); });
}

int run_and_collect(const Campaign& of, const std::vector<Job>& jobs, const campaign::Wanted& wanted) {
    const int code = begin_jobs(of, jobs, wanted);
    if (any_done(of, jobs)) print_collected(of, jobs, campaign::collect(of, jobs));
    return code;
}

int run(const Options& options, const Campaign& of, const std::vector<Job>& jobs) {
    if (is_dry(of)) return write_alone(of, jobs);
    if (of.launcher == campaign::Launcher::slurm)
        throw base::OptionError(
            fmt::format("{}: run is for launcher = mpirun; with slurm there are submit, status and collect",
                        of.file.string()));
    return run_and_collect(of, jobs, {.failed = false, .pilot = options.flag("pilot")});
}

int resume(const Options& options, const Campaign& of, const std::vector<Job>& jobs) {
    if (is_dry(of)) return write_alone(of, jobs);
    const campaign::Wanted wanted{.failed = true, .pilot = options.flag("pilot")};
    return of.launcher == campaign::Launcher::slurm ? begin_jobs(of, jobs, wanted)
                                                    : run_and_collect(of, jobs, wanted);
}

constexpr std::array kVerbs{
    Verb{"plan", "Lists the jobs: ranks, nodes, time, node hours, disk. Starts nothing.",
         "  ranklab campaign plan configs/campaigns/proposal.ini\n", with_json, plan},
    Verb{"run", "Runs all jobs here, one after the other, by mpirun, and collects their results.",
         "  ranklab campaign run configs/campaigns/proposal.ini\n"
         "  ranklab campaign run configs/campaigns/proposal.ini --pilot\n",
         with_pilot, run},
    Verb{"submit", "Hands the jobs to Slurm, those that it does not have yet.",
         "  ranklab campaign submit configs/campaigns/proposal_slurm.ini\n", with_pilot, submit},
    Verb{"status", "How many jobs are done, run, wait and have failed, with their sentences.",
         "  ranklab campaign status configs/campaigns/proposal_slurm.ini\n", with_json, status},
    Verb{"resume", "Begins what is missing: jobs that failed, were killed or were never begun.",
         "  ranklab campaign resume configs/campaigns/proposal_slurm.ini\n", with_pilot, resume},
    Verb{"cancel", "Takes the campaign's jobs out of Slurm's queue, or stops a `run`.",
         "  ranklab campaign cancel configs/campaigns/proposal_slurm.ini\n", file_only, cancel},
    Verb{"collect", "Puts what the jobs have stored into one results file.",
         "  ranklab campaign collect configs/campaigns/proposal_slurm.ini\n", file_only, collect},
};

constexpr const char* kSummary =
    "Measures a whole campaign: the workloads of an INI file at several rank counts, repeated.";

Manual manual_of(const Verb& verb) {
    Manual manual{{fmt::format("campaign {}", verb.name), "FILE.ini", verb.summary, verb.examples}, {}};
    verb.describe(manual.schema);
    return manual;
}

ProgramManual manual_of_all() {
    ProgramManual all{"campaign", kSummary, {}, "FILE.ini"};
    for (const auto& verb : kVerbs) describe_help(all.parts.emplace_back(manual_of(verb)).schema);
    return all;
}

int run_verb(const Verb& verb, const Words& words) {
    auto [text, schema] = manual_of(verb);
    return run_plain_command(schema, text, words, [&](const Options& options) {
        if (options.positional().empty())
            throw base::OptionError(fmt::format(
                "campaign {} needs the campaign's file: ranklab campaign {} FILE.ini", verb.name, verb.name));
        const Campaign of = campaign::read(options.positional().front());
        return verb.work(options, of, campaign::jobs_of(of));
    });
}

const Verb* verb_of(const std::string& word) {
    for (const auto& verb : kVerbs)
        if (word == verb.name) return &verb;
    return nullptr;
}

// `ranklab campaign FILE` is its plan; `ranklab campaign FILE status` is understood too.
int run_words(Words words) {
    const auto program = manual_of_all();
    if (const auto early = answer_early(program, words)) return *early;
    if (verb_of(words.front()) == nullptr && words.size() > 1 && verb_of(words[1]) != nullptr)
        std::swap(words[0], words[1]);
    if (const Verb* verb = verb_of(words.front())) return run_verb(*verb, {words.begin() + 1, words.end()});
    if (words.front().ends_with(".ini")) return run_verb(kVerbs.front(), words);
    throw base::OptionError(unknown_verb(program, words));
}

}  // namespace

int run_campaign(int argc, char** argv) {
    prepare_process();
    return guarded([&] { return run_words(arguments_of(argc, argv)); });
}

}  // namespace ranklab::app
