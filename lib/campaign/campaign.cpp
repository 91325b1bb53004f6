#include "campaign/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "options/sections.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;
using options::Options;
using options::Schema;
using Texts = std::vector<std::string>;

constexpr const char* kOwn = "campaign";

Schema campaign_keys() {
    using S = CampaignSettings;
    Schema keys;
    keys.text("name", &S::name, "NAME", "name of the campaign (default: the file's name)")
        .choice("launcher", &S::launcher, {"slurm", "mpirun"},
                "slurm: by sbatch; mpirun: on this machine")
        .text("folder", &S::folder, "DIR", "folder of scripts and logs (default: campaigns/NAME)")
        .text("output", &S::output, "FILE.h5", "the results file (default: FOLDER/results.h5)")
        .integer("ranks-per-node", &S::ranks_per_node, {1, 1'000'000},
                 "maximum number of ranks per node (default: all ranks on one node)")
        .text("launcher-options", &S::launcher_options, "WORDS",
              "options of mpirun or srun that replace ranklab's for placing and binding ranks")
        .text("partition", &S::partition, "NAME", "Slurm's partition")
        .text("account", &S::account, "NAME", "Slurm's account")
        .text("sbatch-options", &S::sbatch_options, "WORDS",
              "further options of sbatch, such as --exclusive")
        .text("prologue", &S::prologue, "LINE",
              "a line of bash before each job, such as module load openmpi");
    return keys;
}

struct SectionSettings {
    std::optional<std::string> command;
    std::string time = "01:00:00";
    std::optional<double> worth;
};

// The keys of a section that are not options of its sweep.
Schema section_keys() {
    Schema keys;
    keys.choice("command", &SectionSettings::command, swept_programs(), "the program to start")
        .text("time", &SectionSettings::time, "HH:MM:SS",
              "time limit of a Slurm job; also MINUTES or HH:MM")
        .real("worth", &SectionSettings::worth, 0,
              "the section is worth it if it is this many times as fast as the best of the "
              "command's other sections");
    return keys;
}

Options checked(const Schema& schema, const Settings& settings, const std::string& place) {
    try {
        return Options::parse(schema, words_of(schema, settings));
    } catch (const base::OptionError& error) {
        throw base::OptionError(fmt::format("{}: {}", place, options::user_message(error)));
    }
}

std::int64_t minutes_of(const std::string& time, const std::string& place) {
    std::vector<long> parts;
    for (const auto& part : base::split(time, ':'))
        parts.push_back(base::number_in<long>(part).value_or(-1));
    if (parts.size() > 3 ||
        std::ranges::any_of(parts, [](long part) { return part < 0 || part > 9999; }))
        throw base::OptionError(fmt::format("{}: time is MINUTES, HH:MM or HH:MM:SS, not '{}'",
                                            place, base::printable(time, 60)));
    if (parts.size() == 1) return std::max(1L, parts[0]);
    const long seconds = parts.size() == 3 ? parts[2] : 0;
    return std::max(1L, parts[0] * 60 + parts[1] + (seconds + 59) / 60);
}

// Throws OptionError for a name that is not fit for files and Slurm jobs.
void check_name(const std::string& name, const std::string& place) {
    const auto is_plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    };
    if (name.empty() || name.size() > 60 || name.front() == '-' || name.front() == '.' ||
        !std::ranges::all_of(name, is_plain))
        throw base::OptionError(fmt::format(
            "{}: '{}' would name files and jobs; use at most 60 letters, digits, '-', '_' and '.'",
            place, base::printable(name, 70)));
}

Campaign without_jobs(const fs::path& file, const CampaignSettings& given) {
    Campaign campaign{given, file};
    if (campaign.name.empty()) campaign.name = file.stem().string();
    check_name(campaign.name, file.string());
    if (campaign.folder.empty()) campaign.folder = "campaigns/" + campaign.name;
    if (campaign.output.empty())
        campaign.output = (fs::path(campaign.folder) / "results.h5").string();
    return campaign;
}

// A section of the file, from which its jobs are made.
struct Workload {
    std::string name, place;
    SweepRequest request;
    std::int64_t minutes = 0;
    std::optional<double> worth = {};
};

// The options of a sweep without those that a campaign's section may not have.
Schema sweep_keys(const std::string& program) {
    const Texts elsewhere{"output", "launcher", "dry-run",    "config",
                          "race",   "budget",   "min-effect", "write-config"};
    const Schema all = sweep_options(program);
    Schema keys;
    for (const auto& option : all.all())
        if (std::ranges::find(elsewhere, option.name) == elsewhere.end()) keys.add(option);
    return keys.no_option(elsewhere, "it belongs to [campaign], or to the command line");
}

Workload workload_of(const options::Section& section, const Campaign& campaign) {
    const std::string place = fmt::format("{}, [{}]", campaign.file.string(), section.name);
    check_name(section.name, place);
    const Schema keys = section_keys();
    Settings mine, of_sweep;
    for (const auto& setting : section.settings)
        (keys.find(setting.first) != nullptr ? mine : of_sweep).push_back(setting);
    const auto own = checked(keys, mine, place).fields<SectionSettings>();
    if (!own.command)
        throw base::OptionError(fmt::format("{}: command = train, io or comm is missing", place));
    const auto given = checked(sweep_keys(*own.command), of_sweep, place);
    Workload workload{section.name, place, request_of(*own.command, given),
                      minutes_of(own.time, place), own.worth};
    auto& sweep = workload.request.own;
    sweep.output = campaign.output;
    sweep.launcher = campaign.slurm() ? "srun" : "mpirun";
    if (!sweep.ranks_per_node && campaign.ranks_per_node > 0)
        sweep.ranks_per_node = campaign.ranks_per_node;
    if (!sweep.launcher_options && !campaign.launcher_options.empty())
        sweep.launcher_options = campaign.launcher_options;
    if (!sweep.label) sweep.label = fmt::format("{}-{}", campaign.name, section.name);
    // The default would follow from this host's cores, but compute nodes may have more.
    if (workload.request.program == "train" && !sweep.threads) sweep.threads = "1";
    return workload;
}

Sweep sweep_of(const Workload& workload, const SweepRequest& request, const Machine& machine) {
    try {
        return plan_sweep(request, machine, "");
    } catch (const base::OptionError& error) {
        throw base::OptionError(
            fmt::format("{}: {}", workload.place, options::user_message(error)));
    }
}

// Rank counts, grouped under Slurm by the number of nodes that they need; otherwise one group.
std::map<int, Texts> ranks_by_nodes(const Campaign& campaign, const std::string& ranks) {
    std::map<int, Texts> groups;
    for (const auto& one : base::split(ranks, ',')) {
        const int count = base::number_in<int>(base::trim(one)).value_or(1);
        const int each = campaign.ranks_per_node;
        groups[each == 0 || !campaign.slurm() ? 1 : (count + each - 1) / each].push_back(
            base::trim(one));
    }
    return groups;
}

Job job_of(const Campaign& campaign, const Workload& workload, int nodes, const Texts& ranks) {
    Job job;
    job.id = campaign.slurm() ? fmt::format("{}-{}n", workload.name, nodes) : workload.name;
    SweepRequest request = workload.request;
    request.own.ranks = base::join(ranks, ",");
    // Jobs that run at the same time must not overwrite each other's files.
    if (request.program == "io")
        request.own.directory = (fs::path(request.own.directory.value_or(
                                     (fs::path(campaign.folder) / "files").string())) /
                                 job.id)
                                    .string();
    job.sweep =
        sweep_of(workload, request, campaign.slurm() ? Machine(nodes, 1, true) : this_machine());
    job.nodes = nodes;
    for (const auto& one : ranks)
        job.ranks = std::max(job.ranks, base::number_in<int>(base::trim(one)).value_or(1));
    for (const auto& point : job.sweep.points)
        job.cores =
            std::max(job.cores, point.need.cores / std::max(1, job.ranks / point.need.ranks));
    job.minutes = workload.minutes;
    job.words = words_of(request);
    return job;
}

void add_workload(Campaign& campaign, const Workload& workload) {
    const auto hash = inputs_hash(workload.request);
    for (const auto& [nodes, ranks] : ranks_by_nodes(campaign, workload.request.own.ranks)) {
        campaign.jobs.push_back(job_of(campaign, workload, nodes, ranks));
        campaign.jobs.back().sweep.inputs_hash = hash;
    }
    if (workload.worth) campaign.questions.push_back({campaign.sweeps.size(), *workload.worth});
    // No inputs_hash, so that its table also shows runs of other builds and input files.
    campaign.sweeps.push_back(sweep_of(workload, workload.request, this_machine()));
}

}  // namespace

Campaign read_campaign(const fs::path& file) {
    const auto sections = options::read_sections(file.string());
    const auto head = std::ranges::find(sections, kOwn, &options::Section::name);
    if (head == sections.end())
        throw base::OptionError(fmt::format(
            "{}: there is no [campaign] section; docs/campaign.md shows one", file.string()));
    Campaign campaign = without_jobs(
        file, checked(campaign_keys(), head->settings, fmt::format("{}, [{}]", file.string(), kOwn))
                  .fields<CampaignSettings>());
    for (const auto& section : sections)
        if (section.name != kOwn) add_workload(campaign, workload_of(section, campaign));
    if (campaign.jobs.empty())
        throw base::OptionError(fmt::format(
            "{}: there is no sweep; add a section such as [strong] with command = train",
            file.string()));
    return campaign;
}

}  // namespace ranklab::campaign
