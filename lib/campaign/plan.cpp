#include "campaign/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::campaign {
namespace {

using options::Option;
using options::Options;
using options::Role;
using options::Schema;
using options::Type;
using Texts = std::vector<std::string>;

Schema rows_of(const std::string& program) {
    Schema rows;
    rows.append(program == "io"     ? vocabulary::storage_settings()
                : program == "comm" ? vocabulary::collectives_settings()
                                    : vocabulary::training_settings());
    rows.append(vocabulary::common_settings());
    return rows;
}

Schema own_rows() {
    Schema rows;
    rows.section("Sweep")
        .text("ranks", "N,...", "1", "rank counts")
        .essential()
        .choice("scaling", {"strong", "weak"}, std::nullopt,
                "strong: all ranks together have the same work (global-batch-size, files); weak: "
                "each rank has (batch-size; files are a rank's)")
        .essential()
        .integer("repeat", {1, 1000}, "3",
                 "processes of each combination; 6 or more give intervals")
        .essential()
        .choice("launcher", {"auto", "mpirun", "srun"}, "auto",
                "auto: srun inside an allocation of Slurm, else mpirun")
        .text("launcher-options", "WORDS", std::nullopt,
              "for the launcher, in place of those that place ranks and bind them to cores")
        .choice("placement", {"block", "cyclic"}, "block",
                "block: fill one host before the next; cyclic: rank by rank over the hosts")
        .essential()
        .integer("ranks-per-node", {1, 1'000'000}, std::nullopt, "ranks on a host, at most")
        .text("output", "FILE.h5", "results/ranklab.h5",
              "the results file; logs lie in a folder beside it")
        .essential()
        .text("label", "TEXT", std::nullopt,
              "identifies the sweep's runs; without it a name that follows from the options")
        .essential()
        .integer("seed", {0, options::kWholeNumbers}, "1",
                 "of the points' order, and of the program")
        .real("time-limit", 0.001, std::nullopt, "seconds for the work of one process")
        .text("config", "FILE", std::nullopt,
              "INI file of these options; the command line wins over it")
        .essential()
        .flag("dry-run", "print the commands that would be started, as a shell reads them")
        .essential()
        .role(Role::request)
        .flag("quiet", "no line for each process")
        .role(Role::request)
        .flag("list", "print the names to choose from and do no work")
        .role(Role::request);
    return rows;
}

// A sweep begins each process anew, and shows one table.
bool is_left_out(const Option& option) {
    static const std::set<std::string> kNames{"expect-ranks", "ablation", "benchy-json"};
    const bool of_one_run = option.role == Role::request || option.role == Role::kept;
    return of_one_run || kNames.contains(option.name);
}

// The values of other texts are rows of one table, or may hold commas.
bool is_list(const Option& option) {
    return option.type != Type::text && option.type != Type::texts && option.type != Type::flag;
}

// Several values, which are checked once they are apart.
void add_loosely(Schema& schema, const Option& option) {
    schema.section(option.section);
    const std::string otherwise = option.fallback && !option.fallback->empty()
                                      ? fmt::format(" (default: {})", *option.fallback)
                                      : "";
    if (option.type == Type::flag)
        schema.flag(option.name, option.help);
    else
        schema.text(option.name, option.placeholder + (is_list(option) ? ",..." : ""), std::nullopt,
                    option.help + otherwise);
    if (option.shorthand != 0) schema.shorthand(option.shorthand);
    schema.instead_of(option.instead_of);
}

Texts distinct(const std::string& text) {
    Texts values;
    for (const auto& part : base::split(text, ','))
        if (const auto value = base::trim(part); std::ranges::find(values, value) == values.end())
            values.push_back(value);
    return values;
}

std::string value_in(const Settings& settings, const std::string& name,
                     const std::string& otherwise) {
    const auto* const found = find(settings, name);
    return found == nullptr ? otherwise : *found;
}

void remove(Settings& settings, const std::string& name) {
    std::erase_if(settings, [&](const auto& setting) { return setting.first == name; });
}

struct Dimension {
    std::string name;
    Texts values;
};

std::vector<Dimension> dimensions_of(const Schema& rows, const Options& options) {
    const Schema own = own_rows();
    std::vector<Dimension> all{{"ranks", distinct(options.text("ranks"))}};
    for (const auto& option : rows.all()) {
        if (is_left_out(option) || own.find(option.name) != nullptr || !options.is_set(option.name))
            continue;
        if (option.type == Type::flag) {
            if (options.flag(option.name)) all.push_back({option.name, {"true"}});
        } else {
            const auto& text = options.text(option.name);
            all.push_back({option.name, is_list(option) ? distinct(text) : Texts{text}});
        }
    }
    for (const char* const name : {"seed", "time-limit"})
        if (options.is_set(name)) all.push_back({name, {options.text(name)}});
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

// Names of models and data sets are known to the program alone.
void check_values(Schema rows, const Settings& settings) {
    for (const auto& [name, value] : settings) {
        const Option* const row = rows.find(name);
        if (row != nullptr && row->type == Type::choice && row->choices.empty())
            rows.offer(name, {value});
    }
    static_cast<void>(Options::parse(rows, words_of(rows, settings)));
}

// A ladder must be what it is called: otherwise the speedup's base is of other work.
void check_scaling(const std::string& program, const Options& options) {
    if (!options.has("scaling")) return;
    if (program == "comm")
        throw base::OptionError(
            "comm has no work to scale; its message sizes are the same at any number of "
            "ranks: leave --scaling out");
    if (program != "train") return;
    const bool strong = options.is("scaling", "strong");
    const std::string wanted = "global-batch-size", other = "batch-size";
    if (strong && !options.is_set(wanted))
        throw base::OptionError(
            "--scaling strong keeps the batch of all ranks: give --global-batch-size");
    if (options.is_set(strong ? other : wanted))
        throw base::OptionError(fmt::format("--scaling {} and --{} exclude each other: give --{}",
                                            options.text("scaling"), strong ? other : wanted,
                                            strong ? wanted : other));
}

int count_in(const Settings& settings, const std::string& name, int otherwise) {
    return base::number_in<int>(value_in(settings, name, "")).value_or(otherwise);
}

// The threads per rank: the cores of a host, divided among the ranks of the widest point.
int default_threads(int widest, const Launch& launch, const Machine& machine) {
    if (const char* const omp = std::getenv("OMP_NUM_THREADS"))
        if (const int threads = base::number_in<int>(std::string(omp)).value_or(0); threads > 0)
            return threads;
    const int even = (widest + machine.hosts - 1) / machine.hosts;
    return std::max(1, machine.cores / (launch.ranks_per_node > 0 ? launch.ranks_per_node : even));
}

// The modes single and dp compute in one rank, on as many cores or GPUs as all of ddp's ranks have,
// and on the same batch.
void gather_in_one_rank(Point& point, Settings& settings) {
    const std::string mode = value_in(settings, "mode", "");
    if (point.need.ranks == 1 || (mode != "single" && mode != "dp")) return;
    if (mode == "dp" && find(settings, "replicas") == nullptr)
        settings.emplace_back("replicas", std::to_string(point.need.ranks));
    if (const auto* const batch = find(settings, "batch-size")) {
        const auto all = base::number_in<std::int64_t>(*batch).value_or(0) * point.need.ranks;
        remove(settings, "batch-size");
        set(settings, "global-batch-size", std::to_string(all));
    } else if (find(settings, "global-batch-size") == nullptr) {
        throw base::OptionError(fmt::format(
            "--mode {} beside {} ranks needs the batch that both work on: give --global-batch-size",
            mode, point.need.ranks));
    }
    for (const char* const name : {"sync", "backend"}) remove(settings, name);
    point.need.cores *= point.need.ranks;
    point.need.gpus = point.need.ranks;
    point.need.ranks = 1;
    set(settings, "threads", std::to_string(point.need.cores));
}

// The base of a ladder: one rank has nothing to reduce.
void at_one_rank(const Point& point, Settings& settings) {
    if (point.need.ranks > 1) return;
    for (const char* const name : {"sync", "backend"}) remove(settings, name);
    if (value_in(settings, "mode", "") == "ddp") set(settings, "mode", "single");
}

void scale_files(const Options& options, const Schema& rows, const Point& point,
                 Settings& settings) {
    if (!options.has("scaling") || !options.is("scaling", "weak")) return;
    const auto files =
        base::number_in<std::int64_t>(value_in(settings, "files", *rows.find("files")->fallback))
            .value_or(0);
    set(settings, "files", std::to_string(files * point.need.ranks));
}

Point point_of(const Sweep& sweep, const Options& options, Settings settings, int threads) {
    Point point;
    point.need.ranks = count_in(settings, "ranks", 1);
    remove(settings, "ranks");
    const Schema rows = rows_of(sweep.program);
    check_values(rows, settings);
    point.need.cores = count_in(settings, "threads", 1);
    if (sweep.program == "train") {
        point.need.cores = count_in(settings, "threads", threads);
        set(settings, "threads", std::to_string(point.need.cores));
        gather_in_one_rank(point, settings);
        at_one_rank(point, settings);
    }
    if (sweep.program == "io") {
        point.need.cores = std::max(point.need.cores, count_in(settings, "workers", 1));
        scale_files(options, rows, point, settings);
    }
    point.words = words_of(rows, settings);
    point.words.insert(point.words.begin(), sweep.program);
    point.words.insert(point.words.end(),
                       {"--label", sweep.label, "--output", sweep.output.string()});
    return point;
}

std::string name_of(const Settings& settings, const std::vector<Dimension>& dimensions) {
    std::string name;
    for (const auto& [key, values] : dimensions)
        if (values.size() > 1)
            name +=
                fmt::format("{}{}={}", name.empty() ? "" : ",", key, value_in(settings, key, ""));
    return name.empty() ? fmt::format("ranks={}", value_in(settings, "ranks", "1")) : name;
}

bool are_several(const std::string& strategies) {
    return strategies == "all" || strategies.find(',') != std::string::npos;
}

// The options of several values, and rows of one process's table; ranks too, unless another one is
// scaled.
Texts keys_of(const Sweep& sweep, const std::vector<Dimension>& dimensions) {
    Texts keys;
    if (are_several(sweep.strategies)) keys.emplace_back("strategy");
    bool scales = false;
    for (const auto& [key, values] : dimensions) {
        if (values.size() < 2) continue;
        keys.push_back(key);
        scales = scales || key == "ranks" || key == "threads" || key == "workers";
    }
    // One rank has the threads of as many ranks as the point is of.
    const auto has = [&](const char* key) { return std::ranges::find(keys, key) != keys.end(); };
    if (has("mode") && has("ranks") && !has("threads")) keys.emplace_back("threads");
    if (!scales) keys.emplace_back("ranks");
    return keys;
}

Launch launch_of(const Options& options, const Machine& machine) {
    Launch launch;
    launch.srun =
        options.is("launcher", "srun") || (options.is("launcher", "auto") && machine.allocated);
    launch.cyclic = options.is("placement", "cyclic");
    launch.ranks_per_node = static_cast<int>(options.integer_or("ranks-per-node", 0));
    for (const auto& word : base::split(options.text_or("launcher-options", ""), ' '))
        if (!word.empty()) launch.options.push_back(word);
    return launch;
}

int widest_of(const Options& options) {
    int widest = 1;
    for (const auto& text : distinct(options.text("ranks"))) {
        const int ranks = base::number_in<int>(text).value_or(0);
        if (ranks < 1)
            throw base::OptionError(
                fmt::format("--ranks takes rank counts, not '{}'", base::printable(text, 60)));
        widest = std::max(widest, ranks);
    }
    return widest;
}

}  // namespace

const std::string* find(const Settings& settings, const std::string& name) {
    const auto found = std::ranges::find(settings, name, &Settings::value_type::first);
    return found == settings.end() ? nullptr : &found->second;
}

void set(Settings& settings, const std::string& name, std::string value) {
    for (auto& [key, old] : settings)
        if (key == name) return old = std::move(value), void();
    settings.emplace_back(name, std::move(value));
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
        if (flag && value == "false") continue;
        words.push_back("--" + name);
        if (!flag || value != "true") words.push_back(value);
    }
    return words;
}

Schema sweep_options(const std::string& program) {
    Schema schema = own_rows();
    const Schema rows = rows_of(program);
    for (const auto& option : rows.all())
        if (!is_left_out(option) && schema.find(option.name) == nullptr)
            add_loosely(schema, option);
    return schema;
}

Sweep plan_sweep(const std::string& program, const Options& options, const Machine& machine,
                 const std::string& default_label) {
    check_scaling(program, options);
    Sweep sweep;
    sweep.program = program;
    sweep.label = options.text_or("label", "");
    if (sweep.label.empty()) sweep.label = default_label;
    sweep.output = options.text("output");
    if (sweep.output == "none")
        throw base::OptionError(
            "a sweep makes its table of the runs that are stored: name a file (--output)");
    sweep.repeat = static_cast<int>(options.integer("repeat"));
    sweep.seed = static_cast<std::uint64_t>(options.integer("seed"));
    sweep.limit_s = options.has("time-limit") ? options.real("time-limit") : 0;
    sweep.launch = launch_of(options, machine);
    sweep.machine = machine;
    if (program == "io") sweep.strategies = options.text_or("strategy", "all");
    const auto dimensions = dimensions_of(rows_of(program), options);
    const int threads = default_threads(widest_of(options), sweep.launch, machine);
    std::set<std::pair<int, Texts>> known;
    for (const auto& settings : combinations(dimensions)) {
        Point point = point_of(sweep, options, settings, threads);
        point.name = name_of(settings, dimensions);
        if (known.emplace(point.need.ranks, point.words).second)
            sweep.points.push_back(std::move(point));
    }
    sweep.launch.bound = std::ranges::all_of(
        sweep.points, [&](const Point& point) { return fits(machine, point.need); });
    sweep.keys = keys_of(sweep, dimensions);
    return sweep;
}

Texts command_of(const Sweep& sweep, const Point& point) {
    Texts words = launch_words(sweep.launch, sweep.machine, point.need);
    words.push_back(base::program_beside("ranklab").string());
    words.insert(words.end(), point.words.begin(), point.words.end());
    return words;
}

std::vector<Task> tasks_of(const Sweep& sweep, const std::vector<int>& done) {
    std::mt19937_64 random(sweep.seed);
    std::vector<std::size_t> order(sweep.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<Task> tasks;
    for (int repetition = 1; repetition <= sweep.repeat; ++repetition) {
        // Fisher and Yates, by numbers that are the same with every standard library.
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
        for (const std::size_t point : order)
            if (done[point] < repetition) tasks.push_back({point, repetition});
    }
    return tasks;
}

}  // namespace ranklab::campaign
