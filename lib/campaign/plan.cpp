#include "campaign/plan.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <type_traits>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "vocabulary/names.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::campaign {
namespace {

using options::Option;
using options::Options;
using options::Role;
using options::Schema;
using options::Type;
using vocabulary::CommonSettings;
using vocabulary::StorageSettings;
using vocabulary::TrainingSettings;
using Texts = std::vector<std::string>;

Schema rows_of(const std::string& program) {
    const Schema& own = program == "io"     ? vocabulary::storage_settings()
                        : program == "comm" ? vocabulary::collectives_settings()
                                            : vocabulary::training_settings();
    return Schema().append(own).append(vocabulary::common_settings());
}

// Turns choices whose values only the program knows (models, data sets) into texts, which the
// program checks when it starts.
Schema process_rows(const std::string& program) {
    Schema rows;
    const Schema known = rows_of(program);
    for (Option option : known.all()) {
        if (option.type == Type::choice && option.choices.empty()) option.type = Type::text;
        rows.section(option.section).add(std::move(option));
    }
    return rows;
}

Schema own_rows(const std::string& program) {
    using namespace options::marks;
    using S = SweepSettings;
    Schema rows;
    rows.section("Sweep")
        .text("ranks", {&S::ranks, kEssential}, "N,...", "rank counts")
        .text("threads", {&S::threads, kEssential}, "N,...",
              "compute threads per rank (default: OMP_NUM_THREADS, else a host's cores divided by "
              "--ranks-per-node or by its share of the largest rank count)")
        .choice("scaling", {&S::scaling, kEssential}, {"strong", "weak"},
                "strong: the same work over all ranks (global-batch-size, files); weak: the same "
                "work per rank (batch-size; files count per rank)")
        .integer("repeat", {&S::repeat, kEssential}, {1, 1000},
                 "how often to start each combination; 6 or more give intervals")
        .flag(
            "race", {&RaceSettings::race, kEssential, Role::request},
            "name the best combination for few starts: 2 of each, then repeats only of those that "
            "may still be the best (comm: by the first operation's largest message)")
        .excludes({.other = "repeat"})
        .text("min-effect", {&RaceSettings::min_effect, kEssential, Role::request}, "P%",
              "combinations within this of each other are as good")
        .needs({.other = "race"})
        .integer("budget", {&RaceSettings::budget, kEssential, Role::request}, {1, 1'000'000},
                 "most starts of a race (default: 6 of each combination)")
        .needs({.other = "race"})
        .text("write-config", {&RaceSettings::write_config, kEssential, Role::request}, "FILE",
              "write the best combination as an INI file for the program's --config")
        .needs({.other = "race"})
        .choice("launcher", &S::launcher, {"auto", "mpirun", "srun"},
                "auto: srun inside an allocation of Slurm, else mpirun")
        .text("launcher-options", &S::launcher_options, "WORDS",
              "options of mpirun or srun that replace ranklab's for placing and binding ranks")
        .choice("placement", {&S::placement, kEssential}, {"block", "cyclic"},
                "block: fill one host before the next; cyclic: rank by rank over the hosts")
        .integer("ranks-per-node", &S::ranks_per_node, {1, 1'000'000},
                 "maximum number of ranks per host")
        .text("output", {&S::output, kEssential}, "FILE.h5",
              "the results file; logs are in a folder beside it")
        .text("label", {&S::label, kEssential}, "TEXT",
              "identifies the sweep's runs (default: a name that follows from the options)")
        .integer("seed", &S::seed, {0, options::kWholeNumbers},
                 "seed of the points' order and of the program")
        .real("time-limit", &S::time_limit, 0.001, "seconds of work after which a started run ends")
        .in("seconds")
        .text("config", {&S::config, kEssential}, "FILE",
              "INI file of these options; the command line overrides it")
        .flag("dry-run", {&S::dry_run, kEssential, Role::request},
              "print the commands without starting them, quoted for a shell")
        .flag("quiet", {&S::quiet, Role::request}, "do not print a line for each start")
        .flag("list", {&S::list, Role::request}, "print the available names and do no work");
    if (program == "train")
        rows.bytes("fits", {&S::fits, kEssential, Role::request}, 0,
                   "show each rank's memory, and name the fastest row whose ranks take at most "
                   "this");
    if (program == "io")
        rows.text("directory", {&S::directory, kEssential}, "DIR",
                  "the folder to write to (default: output)");
    return rows;
}

// True for options of a single run (--resume), which a sweep does not take.
bool is_left_out(const Option& option) {
    static const std::set<std::string> kNames{"expect-ranks", "ablation", "inputs-hash"};
    const bool of_one_run = option.role == Role::request || option.role == Role::kept;
    return of_one_run || kNames.contains(option.name);
}

// Whether the sweep splits the option's value at commas. A text may hold commas of its own.
bool is_list(const Option& option) {
    return option.type != Type::text && option.type != Type::texts;
}

// Returns the option without its field and as a text, so that it takes several values; the
// program's row checks them later. A flag may be given alone, or as "false,true".
Option loosened(const Option& option) {
    if (option.type == Type::flag)
        return {.name = option.name,
                .placeholder = "[false,true]",
                .help = option.help,
                .shorthand = option.shorthand,
                .bare = "true",
                .instead_of = option.instead_of};
    const std::string fallback = option.fallback.value_or("");
    return {.name = option.name,
            .placeholder = option.placeholder + (is_list(option) ? ",..." : ""),
            .help = option.help + (fallback.empty() ? "" : fmt::format(" (default: {})", fallback)),
            .shorthand = option.shorthand,
            .instead_of = option.instead_of};
}

Texts distinct(const std::string& text) {
    Texts values;
    for (const auto& part : base::split(text, ','))
        if (const auto value = base::trim(part); std::ranges::find(values, value) == values.end())
            values.push_back(value);
    return values;
}

using Dimension = std::pair<std::string, Texts>;  // an option and its values

std::vector<Dimension> dimensions_of(const SweepRequest& request) {
    const Schema rows = rows_of(request.program);
    std::vector<Dimension> all;
    for (const auto& [name, text] : request.passed)
        all.push_back({name, (is_list(rows.at(name)) ||
                              (request.race.race && name == vocabulary::setting::kStrategy)) &&
                                     !std::filesystem::exists(text)
                                 ? distinct(text)
                                 : Texts{text}});
    if (request.own.threads)
        all.push_back({std::string(vocabulary::setting::kThreads), distinct(*request.own.threads)});
    return all;
}

std::vector<Settings> combinations(const std::vector<Dimension>& dimensions) {
    std::vector<Settings> all(1);
    for (const auto& [name, values] : dimensions) {
        std::vector<Settings> longer;
        for (const auto& settings : all)
            for (const auto& value : values) {
                longer.push_back(settings);
                longer.back().emplace_back(name, value);
            }
        all = std::move(longer);
    }
    return all;
}

// Throws OptionError unless the batch option is the one that --scaling keeps constant: strong the
// batch of all ranks, weak the batch per rank.
void check_batch(const SweepSettings& sweep, const TrainingSettings& own) {
    if (!sweep.scaling) return;
    const bool strong = *sweep.scaling == "strong";
    if (strong && !own.global_batch_size)
        throw base::OptionError(
            "--scaling strong keeps the batch of all ranks; give --global-batch-size");
    if (strong ? own.batch_size : own.global_batch_size)
        throw base::OptionError(fmt::format("--scaling {} and --{} exclude each other; give --{}",
                                            *sweep.scaling,
                                            strong ? "batch-size" : "global-batch-size",
                                            strong ? "global-batch-size" : "batch-size"));
}

// A mode of one rank gets the cores or GPUs and the batch that the point's ranks have together.
void gather_in_one_rank(Need& need, TrainingSettings& own, CommonSettings& common) {
    const auto mode = vocabulary::mode_of(own);
    if (need.ranks == 1 || !own.mode || mode.several_ranks) return;
    if (mode.has_replicas) vocabulary::settle(own.replicas, need.ranks);
    if (own.batch_size) {
        own.global_batch_size = *own.batch_size * need.ranks;
        own.batch_size.reset();
    } else if (!own.global_batch_size) {
        throw base::OptionError(
            fmt::format("--mode {} needs the batch that {} ranks share; give --global-batch-size",
                        *own.mode, need.ranks));
    }
    need.cores *= need.ranks;
    need.gpus = need.ranks;
    need.ranks = 1;
    common.threads = need.cores;
}

// Whether the option has no effect at one rank, so that train would refuse it.
template <class ProgramSettings>
bool is_idle(const options::Effective& option, const Need& need, const ProgramSettings& own) {
    if constexpr (std::is_same_v<ProgramSettings, TrainingSettings>) {
        if (need.ranks > 1 || !option.row->between_ranks) return false;
        if (option.row->name == vocabulary::setting::kMode) return false;
        return option.row->name != vocabulary::setting::kReplicas ||
               !vocabulary::mode_of(own).has_replicas;
    }
    return false;
}

// Adapts the options of one point to its number of ranks.
void adapt(Need& need, TrainingSettings& own, CommonSettings& common, const SweepSettings& sweep,
           int threads) {
    check_batch(sweep, own);
    vocabulary::settle(common.threads, threads);
    need.cores = *common.threads;
    gather_in_one_rank(need, own, common);
    if (need.ranks == 1 && vocabulary::mode_of(own).several_ranks)
        own.mode = vocabulary::kModes.front().name;  // one process on one device
}

void adapt(Need& need, StorageSettings& own, CommonSettings& common, const SweepSettings& sweep,
           int /*threads*/) {
    need.cores = std::max(common.threads.value_or(1), own.workers);
    own.directory = sweep.directory.value_or(own.directory);
    if (sweep.scaling == "weak") own.files *= need.ranks;
}

void adapt(Need& need, vocabulary::CollectivesSettings& /*own*/, CommonSettings& common,
           const SweepSettings& sweep, int /*threads*/) {
    need.cores = common.threads.value_or(1);
    if (sweep.scaling)
        throw base::OptionError(
            "comm has no work to scale, since message sizes are equal at all rank counts; leave "
            "--scaling out");
}

// The options on one point's command line: those that the user gave, and those that the sweep
// changes.
template <class ProgramSettings>
Texts words_for(Need& need, const Options& given, const SweepSettings& sweep, int threads) {
    auto own = given.fields<ProgramSettings>();
    auto common = given.fields<CommonSettings>();
    const auto before = given.effective(own, common);
    common.seed = sweep.seed;
    common.time_limit = sweep.time_limit;
    adapt(need, own, common, sweep, threads);
    Texts words;
    for (const auto& option : given.effective(own, common)) {
        if (!given.sets(option) && std::ranges::find(before, option) != before.end()) continue;
        if (is_idle(option, need, own)) continue;
        words.push_back("--" + option.row->name);
        if (option.row->type != Type::flag) words.push_back(option.value);
    }
    return words;
}

Options process_options(const Schema& rows, const Settings& settings) {
    return Options::parse(rows, words_of(rows, settings));
}

Point point_of(const SweepRequest& request, const Schema& rows, const Settings& settings, int ranks,
               int threads) {
    const auto given = process_options(rows, settings);
    const auto make = request.program == "io"     ? words_for<StorageSettings>
                      : request.program == "comm" ? words_for<vocabulary::CollectivesSettings>
                                                  : words_for<TrainingSettings>;
    Point point;
    point.need.ranks = ranks;
    point.words = make(point.need, given, request.own, threads);
    point.words.insert(point.words.begin(), request.program);
    return point;
}

// "ranks=2,threads=1": the options that have several values in the sweep; the ranks if none has.
std::string name_of(const Texts& rank_counts, const std::string& ranks,
                    const std::vector<Dimension>& dimensions, const Settings& settings) {
    Texts parts;
    if (rank_counts.size() > 1) parts.push_back("ranks=" + ranks);
    for (std::size_t i = 0; i < dimensions.size(); ++i)
        if (dimensions[i].second.size() > 1)
            parts.push_back(fmt::format("{}={}", settings[i].first, settings[i].second));
    return parts.empty() ? "ranks=" + ranks : base::join(parts, ",");
}

// The keys of the sweep's table: options with several values, the strategy if a point runs
// several, and ranks unless threads or workers scale.
Texts keys_of(const Sweep& sweep, const Texts& rank_counts,
              const std::vector<Dimension>& dimensions) {
    namespace setting = vocabulary::setting;
    Texts keys;
    const auto has = [&](std::string_view key) {
        return std::ranges::find(keys, key) != keys.end();
    };
    if (sweep.strategies == "all" || sweep.strategies.find(',') != std::string::npos)
        keys.emplace_back(setting::kStrategy);
    if (rank_counts.size() > 1) keys.emplace_back(setting::kRanks);
    for (const auto& [key, values] : dimensions)
        if (values.size() > 1) keys.push_back(key);
    const bool scales = has(setting::kRanks) || has(setting::kThreads) || has(setting::kWorkers);
    // In the modes single and dp one rank has the threads of all ranks, so threads vary with ranks.
    if (has(setting::kMode) && has(setting::kRanks) && !has(setting::kThreads))
        keys.emplace_back(setting::kThreads);
    if (!scales) keys.emplace_back(setting::kRanks);
    return keys;
}

int rank_count(const std::string& text) {
    const int ranks = base::number_in<int>(text).value_or(0);
    if (ranks < 1)
        throw base::OptionError(
            fmt::format("--ranks takes rank counts, not '{}'", base::printable(text, 60)));
    return ranks;
}

// Threads per rank: OMP_NUM_THREADS, else a host's cores / (--ranks-per-node, or the ranks per host
// at the largest rank count).
int default_threads(const Texts& rank_counts, const Launch& launch, const Machine& machine) {
    if (const char* const omp = std::getenv("OMP_NUM_THREADS")) {
        // In a list, "4,2", the first number is the outermost level's.
        const std::string first = base::trim(base::split(omp, ',').front());
        if (const int threads = base::number_in<int>(first).value_or(0); threads > 0)
            return threads;
    }
    int widest = 1;
    for (const auto& ranks : rank_counts) widest = std::max(widest, rank_count(ranks));
    const int even = (widest + machine.hosts() - 1) / machine.hosts();
    return std::max(
        1, machine.least_cores() / (launch.ranks_per_node > 0 ? launch.ranks_per_node : even));
}

// All points. Combinations that give the same command line are one point.
std::vector<Point> points_of(const Sweep& sweep, const SweepRequest& request,
                             const Texts& rank_counts, const std::vector<Dimension>& dimensions) {
    const Schema rows = process_rows(request.program);
    const int threads = default_threads(rank_counts, sweep.launch, sweep.machine);
    std::set<std::pair<int, Texts>> known;
    std::vector<Point> points;
    for (const auto& ranks : rank_counts)
        for (const auto& settings : combinations(dimensions)) {
            Point point = point_of(request, rows, settings, rank_count(ranks), threads);
            point.words.insert(point.words.end(),
                               {"--label", sweep.label, "--output", sweep.output.string()});
            point.name = name_of(rank_counts, ranks, dimensions, settings);
            if (known.emplace(point.need.ranks, point.words).second)
                points.push_back(std::move(point));
        }
    return points;
}

void check_race(const Sweep& sweep, const RaceSettings& race) {
    const int least = 2 * static_cast<int>(sweep.points.size());
    options::fraction("min-effect", race.min_effect);
    if (least < 4 || sweep.strategies == "all")
        throw base::OptionError(
            "--race compares values; give several (--threads 1,2; of io also --strategy a,b)");
    if (race.budget.value_or(least) < least)
        throw base::OptionError(fmt::format(
            "--budget has less than 2 starts of each combination; give {} or more", least));
}

}  // namespace

Launch launch_of(const SweepSettings& own, const Machine& machine) {
    Launch launch;
    launch.srun = own.launcher == "srun" || (own.launcher == "auto" && machine.allocated);
    launch.cyclic = own.placement == "cyclic";
    launch.ranks_per_node = own.ranks_per_node.value_or(0);
    for (const auto& word : base::split(own.launcher_options.value_or(""), ' '))
        if (!word.empty()) launch.options.push_back(word);
    return launch;
}

const std::vector<std::string>& swept_programs() {
    static const Texts programs{"train", "io", "comm"};
    return programs;
}

Texts words_of(const Schema& schema, const Settings& settings) {
    Texts words;
    for (const auto& [name, value] : settings) {
        const Option* const option = schema.find(name);
        const bool flag = option != nullptr && option->type == Type::flag;
        if (flag && value != "true" && value != "false")
            throw base::OptionError(fmt::format("--{} takes true or false, not '{}'", name,
                                                base::printable(value, 60)));
        if (flag && value == "false") continue;
        words.push_back("--" + name);
        if (!flag) words.push_back(value);
    }
    return words;
}

Texts words_of(const SweepRequest& request) {
    const Schema schema = sweep_options(request.program);
    Settings settings;
    for (const auto& [row, value] : options::effective(schema, request.own))
        if (value != row->fallback) settings.emplace_back(row->name, value);
    settings.insert(settings.end(), request.passed.begin(), request.passed.end());
    Texts words = words_of(schema, settings);
    words.insert(words.begin(), {"sweep", request.program});
    return words;
}

Schema sweep_options(const std::string& program) {
    Schema schema = own_rows(program);
    const Schema known = rows_of(program);
    for (const auto& option : known.all())
        if (!is_left_out(option) && schema.find(option.name) == nullptr)
            schema.section(option.section).add(loosened(option));
    return schema;
}

SweepRequest request_of(const std::string& program, const Options& given) {
    return {program, given.fields<SweepSettings>(), given.unbound(), given.fields<RaceSettings>()};
}

std::string inputs_hash(const SweepRequest& request) {
    const Schema rows = rows_of(request.program);
    std::string all = base::hash_of_contents(base::program_beside("ranklab-" + request.program));
    for (const auto& [name, text] : request.passed)
        if (rows.at(name).reads_files) {
            const auto whole = base::hash_of_contents(text);
            all += whole;
            for (const auto& file : whole.empty() ? base::split(text, ',') : Texts())
                all += base::hash_of_contents(
                    file.substr(0, file.rfind(':')));  // FILE:/DATASET, FILE:NAME
        }
    return fmt::format("{:016x}", base::fingerprint(all));
}

Sweep plan_sweep(const SweepRequest& request, const Machine& machine,
                 const std::string& default_label) {
    const auto& own = request.own;
    if (own.output == "none")
        throw base::OptionError("a sweep needs stored runs for its table; name a file (--output)");
    const auto rank_counts = distinct(own.ranks);
    const auto dimensions = dimensions_of(request);
    Sweep sweep{.program = request.program,
                .label = own.label.value_or("").empty() ? default_label : *own.label,
                .output = own.output,
                .repeat = request.race.race ? 2 : own.repeat,
                .seed = static_cast<std::uint64_t>(own.seed),
                .limit_s = own.time_limit.value_or(0),
                .fits = own.fits,
                .launch = launch_of(own, machine),
                .machine = machine};
    if (request.program == "io")
        sweep.strategies = process_options(process_rows("io"), combinations(dimensions).front())
                               .fields<StorageSettings>()
                               .strategy;
    sweep.points = points_of(sweep, request, rank_counts, dimensions);
    if (request.race.race) check_race(sweep, request.race);
    sweep.launch.bound = std::ranges::all_of(
        sweep.points, [&](const Point& point) { return fits(machine, point.need); });
    sweep.keys = keys_of(sweep, rank_counts, dimensions);
    return sweep;
}

Texts command_of(const Sweep& sweep, const Point& point) {
    Texts words = launch_words(sweep.launch, sweep.machine, point.need);
    words.push_back(base::program_beside("ranklab").string());
    words.insert(words.end(), point.words.begin(), point.words.end());
    if (!sweep.inputs_hash.empty()) words.insert(words.end(), {"--inputs-hash", sweep.inputs_hash});
    return words;
}

std::vector<Task> tasks_of(const Sweep& sweep, const std::vector<int>& done) {
    std::mt19937_64 random(sweep.seed);
    std::vector<std::size_t> order(sweep.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<Task> tasks;
    for (int repetition = 1; repetition <= sweep.repeat; ++repetition) {
        // Fisher-Yates shuffle: std::shuffle's order depends on the standard library.
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
        for (const std::size_t point : order)
            if (done[point] < repetition) tasks.push_back({point, repetition});
    }
    return tasks;
}

}  // namespace ranklab::campaign
