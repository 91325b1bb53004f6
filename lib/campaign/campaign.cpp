#include "campaign/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "options/options.hpp"
#include "options/sections.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;
using options::Options;
using options::Schema;

constexpr const char* kOwn = "campaign";

Schema options_of(const std::string& command) {
    Schema schema;
    schema.append(command == "io" ? vocabulary::storage_settings() : vocabulary::training_settings());
    schema.append(vocabulary::common_settings());
    return schema;
}

// What the campaign says itself for each job.
const std::set<std::string> kTaken{"output", "ranks", "threads", "dry-run"};

std::vector<std::string> words_of(const Schema& schema, const Settings& settings) {
    std::vector<std::string> words;
    for (const auto& [key, value] : settings) {
        const options::Option* const option = schema.find(key);
        const bool flag = option != nullptr && option->type == options::Type::flag;
        if (flag && value == "false") continue;
        words.push_back("--" + key);
        if (!flag || value != "true") words.push_back(value);
    }
    return words;
}

// As if they stood on a command line, which has the checks and the sentences.
Options checked(const Schema& schema, const Settings& settings, const std::string& place) {
    try {
        Options options = Options::parse(schema, words_of(schema, settings));
        if (&schema == &campaign_keys()) options.check_relations();  // a command has more to settle before
        return options;
    } catch (const base::OptionError& error) {
        throw base::OptionError(fmt::format("{}: {}", place, options::told(error)));
    }
}

std::vector<std::string> alternatives(const std::string& value) {
    std::vector<std::string> all;
    for (const auto& one : base::split(value, '|')) all.push_back(base::trim(one));
    return all;
}

std::vector<int> numbers_of(const Options& own, const std::string& key, const std::string& place) {
    std::vector<int> numbers;
    for (const auto& word : base::split(own.text(key), ',')) {
        Schema one;
        one.integer(key, {1, 1'000'000}, std::nullopt, "");
        const auto number = checked(one, {{key, base::trim(word)}}, place).integer(key);
        if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(static_cast<int>(number));
    }
    return numbers;
}

std::int64_t minutes_of(const std::string& time, const std::string& place) {
    const auto parts = base::split(time, ':');
    const bool whole = parts.size() <= 3 && std::ranges::all_of(parts, [](const std::string& part) {
                           return !part.empty() && part.size() <= 4 &&
                                  part.find_first_not_of("0123456789") == std::string::npos;
                       });
    if (!whole)
        throw base::OptionError(fmt::format("{}: time is MINUTES, HH:MM or HH:MM:SS, not '{}'", place, time));
    if (parts.size() == 1) return std::max(1L, std::stol(parts[0]));
    const long seconds = parts.size() == 3 ? std::stol(parts[2]) : 0;
    return std::max(1L, std::stol(parts[0]) * 60 + std::stol(parts[1]) + (seconds + 59) / 60);
}

// Each alternative of one key times those of the others.
void multiply(Workload& workload, const std::string& key, const std::vector<std::string>& values) {
    std::vector<Settings> choices;
    std::vector<std::string> distinct;
    for (std::size_t i = 0; i < workload.choices.size(); ++i)
        for (const auto& value : values) {
            choices.push_back(workload.choices[i]);
            choices.back().emplace_back(key, value);
            const std::string& before = workload.distinct[i];
            const std::string name = values.size() == 1 ? "" : value;
            distinct.push_back(before + (before.empty() || name.empty() ? "" : "-") + name);
        }
    workload.choices = std::move(choices);
    workload.distinct = std::move(distinct);
}

bool has(const Settings& settings, const std::string& key) {
    return std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == key; });
}

// The ladder must be what it is called: otherwise the speedup's base is of other work.
void check_scaling(const Workload& workload, const std::string& place) {
    if (workload.command != "train" || workload.scaling == Scaling::none) return;
    const bool strong = workload.scaling == Scaling::strong;
    const char* const wanted = strong ? "global-batch-size" : "batch-size";
    const char* const other = strong ? "batch-size" : "global-batch-size";
    for (const auto& settings : workload.choices)
        if (!has(settings, wanted) || has(settings, other))
            throw base::OptionError(fmt::format(
                "{}: {} scaling keeps the batch of {} the same at every number of ranks: set {}{}", place,
                strong ? "strong" : "weak", strong ? "all ranks together" : "each rank", wanted,
                has(settings, other) ? fmt::format(" in place of {}", other) : ""));
}

// Those of the section that are the campaign's, and those that are the command's.
std::pair<Settings, Settings> parted(const options::Section& section) {
    std::pair<Settings, Settings> parts;
    for (const auto& setting : section.settings)
        (workload_keys().find(setting.first) != nullptr ? parts.first : parts.second).push_back(setting);
    return parts;
}

// Models, data sets, optimizers: the command alone knows their names, and the job says it.
void take_names(Schema& schema, const std::string& key, const std::vector<std::string>& names) {
    const options::Option* const option = schema.find(key);
    const bool of_a_catalogue =
        option != nullptr && option->type == options::Type::choice && option->choices.empty();
    if (of_a_catalogue) schema.offer(key, names);
}

Scaling scaling_of(const Options& own) {
    if (!own.has("scaling")) return Scaling::none;
    return own.is("scaling", "strong") ? Scaling::strong : Scaling::weak;
}

Workload workload_of(const options::Section& section, const std::string& place) {
    const auto [mine, theirs] = parted(section);
    const Options own = checked(workload_keys(), mine, place);
    if (!own.is_set("command"))
        throw base::OptionError(fmt::format("{}: command = train, or command = io, is missing", place));
    Workload workload;
    workload.name = section.name;
    workload.command = own.text("command");
    Schema schema = options_of(workload.command);
    for (const auto& [key, value] : theirs) {
        if (kTaken.contains(key))
            throw base::OptionError(fmt::format("{}: {} is what the campaign sets for each job", place, key));
        const auto values = alternatives(value);
        take_names(schema, key, values);
        multiply(workload, key, values);
    }
    for (const auto& settings : workload.choices) static_cast<void>(checked(schema, settings, place));
    workload.scaling = scaling_of(own);
    check_scaling(workload, place);
    workload.ranks = numbers_of(own, "ranks", place);
    workload.ranks_per_node = static_cast<int>(own.integer_or("ranks-per-node", 0));
    workload.threads = static_cast<int>(own.integer("threads"));
    workload.repetitions = static_cast<int>(own.integer("repeat"));
    workload.minutes = minutes_of(own.text("time"), place);
    return workload;
}

bool is_name(const std::string& name) {
    return !name.empty() && name.size() <= 60 && name.front() != '-' && name.front() != '.' &&
           std::ranges::all_of(name, [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
           });
}

void check_name(const std::string& name, const std::string& place) {
    if (!is_name(name))
        throw base::OptionError(
            fmt::format("{}: '{}' names files and jobs: take letters, digits, '-', '_' and '.', at most 60",
                        place, base::printable(name, 70)));
}

std::vector<std::string> shell_words(const std::string& text) {
    std::vector<std::string> words;
    for (const auto& word : base::split(text, ' '))
        if (!word.empty()) words.push_back(word);
    return words;
}

Campaign header_of(const fs::path& file, const Options& own) {
    Campaign campaign;
    campaign.name = own.text_or("name", file.stem().string());
    check_name(campaign.name, file.string());
    campaign.file = file;
    campaign.folder = own.text_or("folder", "campaigns/" + campaign.name);
    campaign.output = own.text_or("output", (campaign.folder / "results.h5").string());
    campaign.launcher = own.is("launcher", "slurm")    ? Launcher::slurm
                        : own.is("launcher", "mpirun") ? Launcher::mpirun
                                                       : Launcher::dry;
    campaign.partition = own.text_or("partition", "");
    campaign.account = own.text_or("account", "");
    campaign.sbatch = shell_words(own.text_or("sbatch-options", ""));
    campaign.mpirun = shell_words(own.text_or("mpirun-options", ""));
    campaign.prologue = own.text_or("prologue", "");
    if (own.has("faster") && own.has("than"))
        campaign.question = Question{own.text("faster"), own.text("than"), own.real("worth-it-above")};
    return campaign;
}

// In one job: several strategies or syncs, sweeps, trainings from the same start.
bool makes_several_runs(const Workload& workload) {
    return std::ranges::any_of(workload.choices.front(), [&](const auto& setting) {
        const auto& [key, value] = setting;
        const bool is_list = key == "strategy" || key == "sync" || key.starts_with("sweep-");
        return (is_list && (value == "all" || value.find(',') != std::string::npos)) ||
               (workload.command == "train" && key == "repetitions" && value != "1");
    });
}

// One number stands for each side.
void check_question(const Campaign& campaign) {
    if (!campaign.question) return;
    const auto command_of = [&](const std::string& name) {
        const auto found = std::ranges::find(campaign.workloads, name, &Workload::name);
        return found == campaign.workloads.end() ? "" : found->command;
    };
    const auto& [faster, than, above] = *campaign.question;
    if (faster == than ||
        (!command_of(faster).empty() && !command_of(than).empty() && command_of(faster) != command_of(than)))
        throw base::OptionError(fmt::format(
            "{}, [{}]: faster = {} and than = {}: name two workloads, and of the same command",
            campaign.file.string(), kOwn, base::printable(faster, 60), base::printable(than, 60)));
    for (const auto& [key, name] :
         {std::pair{"faster", campaign.question->faster}, {"than", campaign.question->than}}) {
        const auto found = std::ranges::find(campaign.workloads, name, &Workload::name);
        std::vector<std::string> names;
        for (const auto& workload : campaign.workloads) names.push_back(workload.name);
        if (found == campaign.workloads.end())
            throw base::OptionError(fmt::format("{}, [{}]: {} = {}: there is no such workload; there are {}",
                                                campaign.file.string(), kOwn, key, base::printable(name, 60),
                                                base::join(names, ", ")));
        if (makes_several_runs(*found))
            throw base::OptionError(
                fmt::format("{}, [{}]: {} = {}: a job of that workload makes several runs (a list, or "
                            "repetitions); let it make one, and use `repeat`",
                            campaign.file.string(), kOwn, key, name));
        if (found->ranks.size() * found->choices.size() > 1)
            throw base::OptionError(fmt::format(
                "{}, [{}]: {} = {}: that workload has several points; give it one number of ranks "
                "and no alternatives",
                campaign.file.string(), kOwn, key, name));
    }
}

}  // namespace

std::vector<std::string> words_of(const std::string& command, const Settings& settings) {
    return words_of(options_of(command), settings);
}

const Schema& campaign_keys() {
    static const Schema schema = [] {
        Schema keys;
        keys.text("name", "NAME", std::nullopt, "of the campaign; the file's name without one")
            .choice("launcher", {"slurm", "mpirun", "dry"}, "mpirun",
                    "how jobs start: by sbatch; by mpirun, one after the other; dry writes scripts alone")
            .text("folder", "DIR", std::nullopt, "of scripts, logs and states; campaigns/NAME without one")
            .text("output", "FILE.h5", std::nullopt, "what collect writes; FOLDER/results.h5 without one")
            .text("partition", "NAME", std::nullopt, "Slurm's, where the site needs one")
            .text("account", "NAME", std::nullopt, "Slurm's, where the site needs one")
            .text("sbatch-options", "WORDS", std::nullopt, "more for sbatch, as in --exclusive")
            .text("mpirun-options", "WORDS", std::nullopt, "more for mpirun, as in --oversubscribe")
            .text("prologue", "LINE", std::nullopt,
                  "a line of bash before each job, as in module load gcc openmpi hdf5")
            .text("faster", "SECTION", std::nullopt,
                  "a workload; collect says how many times as fast as `than` it is")
            .needs({.other = "than"})
            .text("than", "SECTION", std::nullopt, "the workload that `faster` is measured by")
            .needs({.other = "faster"})
            .real("worth-it-above", {0, 1e6}, "1", "`faster` is worth it if it is more times as fast")
            .needs({.other = "faster"});
        return keys;
    }();
    return schema;
}

const Schema& workload_keys() {
    static const Schema schema = [] {
        Schema keys;
        keys.choice("command", {"train", "io"}, std::nullopt, "what the workload's jobs run")
            .choice("scaling", {"strong", "weak"}, std::nullopt,
                    "strong: all ranks together have the same work; weak: each rank has")
            .text("ranks", "N,N,...", "1", "rank counts, a job each")
            .integer("ranks-per-node", {1, 1'000'000}, std::nullopt, "without it all ranks are on one node")
            .integer("threads", {1, vocabulary::kMostThreads}, "1", "cores and threads of each rank")
            .integer("repeat", {1, 1000}, "3", "of each job: a new process each")
            .text("time", "HH:MM:SS", "00:15:00", "that a job may take at most; also MINUTES or HH:MM");
        return keys;
    }();
    return schema;
}

Campaign read(const fs::path& file) {
    Campaign campaign;
    bool headed = false;
    std::vector<options::Section> sections = options::read_sections(file.string());
    for (const auto& section : sections)
        if (section.name == kOwn) {
            const std::string place = fmt::format("{}, [{}]", file.string(), kOwn);
            campaign = header_of(file, checked(campaign_keys(), section.settings, place));
            headed = true;
        }
    if (!headed)
        throw base::OptionError(
            fmt::format("{}: there is no [campaign] section; docs/campaign.md shows one", file.string()));
    for (const auto& section : sections) {
        if (section.name == kOwn) continue;
        const std::string place = fmt::format("{}, [{}]", file.string(), section.name);
        check_name(section.name, place);
        campaign.workloads.push_back(workload_of(section, place));
    }
    if (campaign.workloads.empty())
        throw base::OptionError(fmt::format(
            "{}: there is no workload: add a section such as [strong] with command = train", file.string()));
    check_question(campaign);
    return campaign;
}

}  // namespace ranklab::campaign
