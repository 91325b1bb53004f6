#include "campaign/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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
    Schema keys;
    keys.text("name", "NAME", std::nullopt, "of the campaign; the file's name without one")
        .choice("launcher", {"slurm", "mpirun"}, "mpirun", "sbatch, or mpirun on this machine")
        .text("folder", "DIR", std::nullopt, "of scripts and logs; campaigns/NAME without one")
        .text("output", "FILE.h5", std::nullopt, "the results file; FOLDER/results.h5 without one")
        .integer("ranks-per-node", {1, 1'000'000}, std::nullopt,
                 "without it all ranks are on one node")
        .text("launcher-options", "WORDS", std::nullopt, "for mpirun or srun, in place of binding")
        .text("partition", "NAME", std::nullopt, "Slurm's, where the site needs one")
        .text("account", "NAME", std::nullopt, "Slurm's, where the site needs one")
        .text("sbatch-options", "WORDS", std::nullopt, "more for sbatch, as in --exclusive")
        .text("prologue", "LINE", std::nullopt,
              "a line of bash before each job, as in module load openmpi");
    return keys;
}

// The keys of a section that are not options of its sweep.
Schema section_keys() {
    Schema keys;
    keys.choice("command", swept_programs(), std::nullopt, "the program that is started")
        .text("time", "HH:MM:SS", "01:00:00",
              "that a job of Slurm may take; also MINUTES or HH:MM");
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

// It names files and jobs.
void check_name(const std::string& name, const std::string& place) {
    const auto is_plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    };
    if (name.empty() || name.size() > 60 || name.front() == '-' || name.front() == '.' ||
        !std::ranges::all_of(name, is_plain))
        throw base::OptionError(fmt::format(
            "{}: '{}' names files and jobs: take letters, digits, '-', '_' and '.', at most 60",
            place, base::printable(name, 70)));
}

Campaign header_of(const fs::path& file, const Options& own) {
    Campaign campaign;
    campaign.name = own.text_or("name", file.stem().string());
    check_name(campaign.name, file.string());
    campaign.file = file;
    campaign.folder = own.text_or("folder", "campaigns/" + campaign.name);
    campaign.output = own.text_or("output", (campaign.folder / "results.h5").string());
    campaign.slurm = own.is("launcher", "slurm");
    campaign.ranks_per_node = static_cast<int>(own.integer_or("ranks-per-node", 0));
    campaign.partition = own.text_or("partition", "");
    campaign.account = own.text_or("account", "");
    campaign.sbatch_options = own.text_or("sbatch-options", "");
    campaign.prologue = own.text_or("prologue", "");
    return campaign;
}

// A section of the file, and what makes its jobs.
struct Workload {
    std::string name, program, place;
    Settings settings;
    std::int64_t minutes = 0;
};

Workload workload_of(const options::Section& section, const Campaign& campaign,
                     const Options& header) {
    Workload workload{
        section.name, "", fmt::format("{}, [{}]", campaign.file.string(), section.name), {}, 0};
    check_name(section.name, workload.place);
    Settings mine;
    for (const auto& setting : section.settings)
        (section_keys().find(setting.first) != nullptr ? mine : workload.settings)
            .push_back(setting);
    const Options own = checked(section_keys(), mine, workload.place);
    if (!own.is_set("command"))
        throw base::OptionError(
            fmt::format("{}: command = train, io or comm is missing", workload.place));
    for (const char* const name : {"output", "launcher", "dry-run", "config"})
        if (find(workload.settings, name) != nullptr)
            throw base::OptionError(fmt::format(
                "{}: {} belongs to [campaign], or to the command line", workload.place, name));
    workload.program = own.text("command");
    workload.minutes = minutes_of(own.text("time"), workload.place);
    set(workload.settings, "output", campaign.output.string());
    if (campaign.slurm) set(workload.settings, "launcher", "srun");
    if (!campaign.slurm) set(workload.settings, "launcher", "mpirun");
    for (const char* const name : {"ranks-per-node", "launcher-options"})
        if (header.is_set(name) && find(workload.settings, name) == nullptr)
            workload.settings.emplace_back(name, header.text(name));
    if (find(workload.settings, "label") == nullptr)
        workload.settings.emplace_back("label", fmt::format("{}-{}", campaign.name, section.name));
    // The same on the host that plans and on those that compute.
    if (workload.program == "train" && find(workload.settings, "threads") == nullptr)
        workload.settings.emplace_back("threads", "1");
    return workload;
}

Sweep sweep_of(const Workload& workload, const Settings& settings, const Machine& machine) {
    const Options options = checked(sweep_options(workload.program), settings, workload.place);
    try {
        return plan_sweep(workload.program, options, machine, "");
    } catch (const base::OptionError& error) {
        throw base::OptionError(
            fmt::format("{}: {}", workload.place, options::user_message(error)));
    }
}

// By the nodes that they need.
std::map<int, Texts> ranks_by_nodes(const Campaign& campaign, const Settings& settings) {
    const auto* const text = find(settings, "ranks");
    std::map<int, Texts> groups;
    for (const auto& one : base::split(text == nullptr ? "1" : *text, ',')) {
        const int ranks = base::number_in<int>(base::trim(one)).value_or(1);
        const int each = campaign.ranks_per_node;
        groups[each == 0 ? 1 : (ranks + each - 1) / each].push_back(base::trim(one));
    }
    return groups;
}

Job job_of(const Campaign& campaign, const Workload& workload, int nodes, const Texts& ranks) {
    Job job;
    job.id = campaign.slurm ? fmt::format("{}-{}n", workload.name, nodes) : workload.name;
    Settings settings = workload.settings;
    set(settings, "ranks", base::join(ranks, ","));
    if (workload.program == "io") {  // jobs that run at a time must not write over each other
        const auto* const named = find(settings, "directory");
        const fs::path above = named == nullptr ? campaign.folder / "files" : fs::path(*named);
        set(settings, "directory", (above / job.id).string());
    }
    job.sweep =
        sweep_of(workload, settings, campaign.slurm ? Machine{nodes, 1, true} : this_machine());
    job.nodes = nodes;
    for (const auto& one : ranks)
        job.ranks = std::max(job.ranks, base::number_in<int>(one).value_or(1));
    for (const auto& point : job.sweep.points)
        job.cores =
            std::max(job.cores, point.need.cores / std::max(1, job.ranks / point.need.ranks));
    job.minutes = workload.minutes;
    job.words = words_of(sweep_options(workload.program), settings);
    job.words.insert(job.words.begin(), {"sweep", workload.program});
    return job;
}

void add_workload(Campaign& campaign, const Workload& workload) {
    if (campaign.slurm) {
        for (const auto& [nodes, ranks] : ranks_by_nodes(campaign, workload.settings))
            campaign.jobs.push_back(job_of(campaign, workload, nodes, ranks));
    } else {
        const auto* const ranks = find(workload.settings, "ranks");
        campaign.jobs.push_back(job_of(campaign, workload, 1, {ranks == nullptr ? "1" : *ranks}));
    }
    campaign.sweeps.push_back(sweep_of(workload, workload.settings, this_machine()));
}

}  // namespace

Campaign read_campaign(const fs::path& file) {
    const auto sections = options::read_sections(file.string());
    const auto head = std::ranges::find(sections, kOwn, &options::Section::name);
    if (head == sections.end())
        throw base::OptionError(fmt::format(
            "{}: there is no [campaign] section; docs/campaign.md shows one", file.string()));
    const Options header =
        checked(campaign_keys(), head->settings, fmt::format("{}, [{}]", file.string(), kOwn));
    Campaign campaign = header_of(file, header);
    for (const auto& section : sections)
        if (section.name != kOwn) add_workload(campaign, workload_of(section, campaign, header));
    if (campaign.jobs.empty())
        throw base::OptionError(fmt::format(
            "{}: there is no sweep: add a section such as [strong] with command = train",
            file.string()));
    return campaign;
}

}  // namespace ranklab::campaign
