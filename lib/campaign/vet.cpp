// Starts the runs of a vet and reads their costs.
#include "campaign/vet.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "results/result_file.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;
namespace setting = vocabulary::setting;
using results::Run;
using Texts = std::vector<std::string>;

constexpr std::string_view kLabel = "vet-";
constexpr std::size_t kLastVets = 5, kMostRounds = 64;
constexpr double kFound = 0.10, kUsualSpread = 0.05;  // slowness to find, and assumed spread
// Probability of any false suspect in the first pass. The second pass has FleetTest::alpha.
constexpr double kSuspicion = 0.2;
constexpr double kPastStarts = 20;  // 1 % in all, since no second pass checks the past
constexpr std::size_t kStepsARound = 2;

// Adds each rank's time of each round. Runs of many ranks store no samples by rank: adds each
// rank's median as one round.
void add_costs(std::vector<stats::RowCosts>& costs, const Run& run, const std::string& name) {
    const auto add = [&](std::size_t rank, std::size_t round, double cost) {
        costs[rank].resize(std::max(costs[rank].size(), round + 1), 0);
        costs[rank][round] += cost;
    };
    const auto* found = run.find(name);
    const bool by_rank = found != nullptr && found->columns == costs.size();
    const std::size_t in_round = by_rank && found->axis == "step" ? kStepsARound : 1;
    for (std::size_t i = 0; by_rank && i < found->samples.size(); ++i)
        add(i % found->columns, i / found->columns / in_round, found->samples[i]);
    for (const auto& row : results::rows_of(run, "rank_summaries"))
        if (!by_rank && row.text("measurement") == name)
            add(static_cast<std::size_t>(row.number("rank")), 0, row.number("median"));
}

void add_pairs(VetSeries& series, const Run& run, bool is_rate) {
    const auto rows = results::rows_of(run, "pairs");
    const auto index = [](double number) { return static_cast<std::size_t>(number); };
    const auto rounds = rows.empty() ? 0 : index(rows.back().number("round")) + 1;
    for (auto& costs : series.costs) costs.assign(rounds, stats::kNone);
    for (const auto& row : rows) {
        const auto& [round, a, b] = series.pairs.emplace_back(VetPair{
            index(row.number("round")), index(row.number("rank_a")), index(row.number("rank_b"))});
        series.costs[a][round] = series.costs[b][round] =
            is_rate ? 1 / row.number("bandwidth_GBps") : row.number("latency_us");
    }
}

VetSeries series_of(const Run& run, const std::string& measure) {
    VetSeries one{measure, fmt::format("{} {}", run.command, run.hosts.size())};
    for (const auto& [key, value, number] : run.config)
        if (vocabulary::matters_to(vocabulary::SettingUse::group, key, value))
            one.work += fmt::format(" {}={}", key, value);
    for (const auto& at : run.hosts) {
        const auto here = std::ranges::count(run.hosts, at.host, &results::HostRow::host);
        one.names.push_back(here == 1 ? at.host : fmt::format("{} rank {}", at.host, at.rank));
    }
    one.costs.resize(run.hosts.size());
    return one;
}

void add_series(std::vector<VetSeries>& all, const Run& run) {
    const auto alone = [&](const std::string& measure, const Texts& times) {
        auto one = series_of(run, measure);
        for (const auto& time : times) add_costs(one.costs, run, time);
        if (!one.costs.empty() && !one.costs.front().empty()) all.push_back(std::move(one));
    };
    alone("compute", {"forward_time_s", "backward_time_s"});
    alone("memory (parameter update)", {"optimizer_time_s"});
    alone("write to " + run.setting(setting::kDirectory), {"write_time_s"});
    for (const char* measure : {"latency", "bandwidth"})
        if (run.find_table("pairs") != nullptr)
            add_pairs(all.emplace_back(series_of(run, measure)), run, *measure == 'b');
}

struct Vetting {
    const VetSettings& own;
    Sweep sweep;
    Need need = {};
    stats::FleetTest test = {};
    std::size_t rounds = 0, series_read = 0;
    VetReport report = {.label = std::string(kLabel) + base::utc_compact(std::time(nullptr))};

    Vetting(const VetSettings& settings, const SweepSettings& how) : own(settings) {
        test.min_effect = options::fraction("min-effect", own.min_effect);
        if (how.output == "none")
            throw base::OptionError("vet reads the runs that it stores; name a file (--output)");
        sweep.label = report.label;
        sweep.output = how.output;
        sweep.seed = static_cast<std::uint64_t>(how.seed);
        sweep.limit_s = how.time_limit.value_or(600);
        auto& machine = sweep.machine = this_machine();
        auto& launch = sweep.launch = launch_of(how, machine);
        if (launch.ranks_per_node == 0 && machine.hosts() > 1) launch.ranks_per_node = 1;
        need.ranks = own.ranks.value_or(machine.hosts() * std::max(1, launch.ranks_per_node));
        const int on_host = (need.ranks + machine.hosts() - 1) / machine.hosts();
        need.cores = own.threads.value_or(std::max(1, machine.least_cores() / on_host));
        launch.bound = fits(machine, need);
        plan(own.rounds ? static_cast<std::size_t>(*own.rounds)
                        : stats::rounds_to_find(kFound, static_cast<std::size_t>(need.ranks),
                                                kUsualSpread, test, kMostRounds));
    }

    void plan(std::size_t with_rounds) {
        rounds = with_rounds;
        sweep.points.clear();
        const auto add = [&](const char* name, const std::string& line, const Texts& more) {
            Point point{name, base::split(line, ' '), need};
            for (const auto& words : {more, Texts{"--seed", fmt::to_string(sweep.seed), "--label",
                                                  sweep.label, "--output", sweep.output.string()}})
                point.words.insert(point.words.end(), words.begin(), words.end());
            sweep.points.push_back(std::move(point));
        };
        const auto write = fmt::format(
            "io --strategy mpi-scatter --files {} --size 512 --repetitions {} --ceilings off",
            4 * need.ranks, rounds);
        const auto local = fs::temp_directory_path() / fmt::format("ranklab-vet-{}", ::getuid());
        add("train",
            fmt::format("train --model wide-mlp --batch-size 16 --threads {} --warmup 4 --steps {}",
                        need.cores, kStepsARound * rounds),
            need.ranks > 1 ? Texts{"--sync", "none"} : Texts{});
        add("io", write, {"--directory", own.directory});
        // Ranks of other nodes cannot read a node's own files.
        add("io-local", write, {"--directory", local.string(), "--write-only"});
        if (need.ranks > 1)
            add("comm",
                fmt::format("comm --op pairs --rounds {} --repetitions 20 --max-bytes 1M", rounds),
                {});
    }

    void measure(const Say& say) {
        std::vector<Task> tasks;
        for (std::size_t point = 0; point < sweep.points.size(); ++point) tasks.push_back({point});
        auto [code, failures] = run_tasks(sweep, tasks, say);
        if (const int signal = base::StopSignals::received(); signal != 0)
            throw base::Interrupted("stopped", signal);
        if (report.exit_code == 0) report.exit_code = code;
        for (auto& one : failures) report.failed.push_back(std::move(one));
        if (!report.failed.empty() && sweep.launch.srun) find_silent_nodes();
    }

    // Asks each node for its name. Nodes of the allocation that do not answer cannot start ranks.
    void find_silent_nodes() {
        const auto names = base::output_of("scontrol show hostnames");
        const auto answers = base::output_of(
            "srun --overlap --no-kill --wait=10 --time=1 --ntasks-per-node=1 "
            "printenv SLURMD_NODENAME 2>/dev/null");
        const auto there = base::split(answers.text, '\n');
        report.silent.clear();
        if (base::trim(answers.text).empty()) return;  // srun failed: nothing is known
        for (const auto& name : base::split(names.text, '\n'))
            if (!name.empty() && std::ranges::find(there, name) == there.end())
                report.silent.push_back(name);
    }

    // The series of the runs with these labels, in the order stored, by label.
    std::map<std::string, std::vector<VetSeries>> stored(const std::set<std::string>& labels) {
        std::map<std::string, std::vector<VetSeries>> all;
        if (fs::exists(sweep.output))
            results::ResultFile(sweep.output)
                .visit(
                    results::Detail::all,
                    [&](const Run& run) { return labels.contains(run.label); },
                    [&](const Run& run) {
                        add_series(all[run.label], run);
                        if (run.label != report.label) return;
                        for (const auto& doubt : ranklab::report::model::caveats_of(run))
                            if (doubt.kind == ranklab::report::CaveatKind::oversubscribed)
                                report.notes.insert(sentence(doubt));
                    });
        return all;
    }

    std::vector<VetSeries> measured(const Say& say) {
        measure(say);
        auto all = stored({report.label})[report.label];
        all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(series_read));
        series_read += all.size();
        return all;
    }

    // The newest series of each measure in each of the last vets before this one.
    std::vector<VetSeries> earlier() {
        std::set<std::string> labels;  // kLabel and the time, thus sorted by time
        if (fs::exists(sweep.output))
            for (const auto& run : results::ResultFile(sweep.output).runs())
                if (run.label.starts_with(kLabel)) labels.insert(run.label);
        labels.erase(report.label);
        while (labels.size() > kLastVets) labels.erase(labels.begin());
        report.earlier_vets = labels.size();
        std::vector<VetSeries> newest;
        for (auto& [label, series] : stored(labels)) {
            std::set<std::string> known;
            for (auto one = series.rbegin(); one != series.rend(); ++one)
                if (known.insert(one->measure).second) newest.push_back(std::move(*one));
        }
        return newest;
    }
};

VetFindings slower_in(const std::vector<VetSeries>& all, const stats::FleetTest& test,
                      const VetFindings& suspects = {}) {
    VetFindings found;
    for (const auto& series : all) {
        std::set<std::string> nodes;
        for (const auto& one : suspects)
            if (one.measure == series.measure && one.names.size() == 1)
                nodes.insert(one.names.front());
        std::ranges::move(slower_rows(series, test, nodes), std::back_inserter(found));
    }
    return found;
}

// The most rounds that any series needs because of its spread; 0: not known.
std::size_t rounds_needed(const std::vector<VetSeries>& all, const stats::FleetTest& test) {
    std::size_t needed = 0;
    for (const auto& one : all)
        if (const double spread = stats::fleet_of(one.costs, test).spread; spread > 0)
            needed = std::max(
                needed, stats::rounds_to_find(kFound, one.costs.size(), spread, test, kMostRounds));
    return needed;
}

}  // namespace

VetReport vet(const VetSettings& own, const SweepSettings& launching, const Say& say) {
    Vetting of(own, launching);
    auto& report = of.report;
    auto series = of.measured(say);
    const auto first = [&](double starts) {
        return stats::FleetTest{of.test.min_effect,
                                kSuspicion / starts / std::max(1.0, base::real(series.size()))};
    };
    if (const auto needed = rounds_needed(series, first(1)); !own.rounds && needed > of.rounds) {
        say(fmt::format("the measurements scatter: repeating with {} rounds instead of {}", needed,
                        of.rounds));
        of.plan(needed);
        series = of.measured(say);
    }
    if (const auto suspects = slower_in(series, first(1)); !suspects.empty()) {
        say("a node or link stands out: measuring again");
        of.test.of_each_row = true;
        report.findings = confirmed(suspects, slower_in(of.measured(say), of.test, suspects));
    }
    const auto before = of.earlier();
    for (const auto& one : series) {
        report.measured.push_back(one.measure);
        report.nodes = one.names.size();
        for (auto& found : slower_than_past(one, before, first(kPastStarts)))
            report.findings.push_back(std::move(found));
    }
    report.rounds = of.rounds;
    report.names_hosts =
        of.need.ranks <= of.sweep.machine.hosts() && of.sweep.launch.ranks_per_node <= 1;
    if (!report.silent.empty() || (report.nodes > 1 && !report.findings.empty()))
        report.exit_code = base::number_of(base::ExitCode::below_threshold);
    return std::move(report);
}

std::string vet_commands(const VetSettings& own, const SweepSettings& launching) {
    const auto sweep = Vetting(own, launching).sweep;
    std::string text;
    for (const auto& point : sweep.points)
        text += base::shell_quote(command_of(sweep, point)) + '\n';
    return text;
}

std::string VetReport::exclude() const {
    std::set<std::string> all(silent.begin(), silent.end());
    for (const auto& one : findings)
        if (names_hosts && one.names.size() == 1)  // Slurm's names have no domain
            all.insert(one.names.front().substr(0, one.names.front().find('.')));
    return base::join({all.begin(), all.end()}, ",");
}

options::Schema vet_options() {
    using namespace options::marks;
    using S = VetSettings;
    options::Schema rows;
    rows.section("Nodes")
        .integer("ranks", {&S::ranks, kEssential}, {1, 1'000'000},
                 "ranks in all (default: --ranks-per-node on each node of the allocation)")
        .integer("threads", {&S::threads}, {1, vocabulary::kMostThreads},
                 "compute threads of each rank (default: its share of a node's cores)")
        .take(sweep_options("train"),
              {"ranks-per-node", "launcher", "launcher-options", "placement"})
        .section("Measuring")
        .text("min-effect", {&S::min_effect, kEssential}, "P%", "smallest slowness of interest")
        .integer("rounds", {&S::rounds, kEssential}, {1, 10'000},
                 "measurements of each node in each of two passes (default: as many as find a node "
                 "10 % slower in 95 % of the cases)")
        .text("directory", {&S::directory, kEssential}, "DIR",
              "folder of the job, to which each rank writes; it also writes to $TMPDIR or /tmp")
        .take(sweep_options("train"), {"seed", "time-limit"})
        .section("Output")
        .choice("format", {&S::format, kEssential}, {"text", "json"}, "output format")
        .take(sweep_options("train"), {"output", "dry-run", "quiet"});
    return rows;
}

}  // namespace ranklab::campaign
