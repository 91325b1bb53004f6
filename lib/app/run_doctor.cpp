#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "app/context.hpp"
#include "app/examination.hpp"
#include "app/job_start.hpp"
#include "app/launch_checks.hpp"
#include "app/mpi_program.hpp"
#include "app/place_watch.hpp"
#include "app/printing.hpp"
#include "app/programs.hpp"
#include "app/version.hpp"
#include "app/what_is_here.hpp"
#include "base/number_ranges.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"
#include "host/launch_counts.hpp"
#include "host/process.hpp"
#include "host/shared_limits.hpp"
#include "report/model/text_table.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::app {
namespace {

const ProgramText kText{"doctor", "[options]",
                        "Says where each rank sits, what libraries and GPUs there are, what is wrong with "
                        "the launch and how to mend it.",
                        "  ranklab doctor                      this process alone\n"
                        "  mpirun -n 2 ranklab doctor          as the job would be started\n"
                        "  srun -n 8 ranklab doctor --threads 4\n"};

using report::model::TextTable;

constexpr std::size_t kMostRows = 4;  // more would not be one screen
constexpr auto kLook = std::chrono::milliseconds(1200);

// One where all ranks say the same of it: what is true of all stands once, below the table.
std::string gpus_of_all(const std::vector<host::Placement>& placements) {
    const auto same = [&](const auto& p) { return p.gpus == placements.front().gpus; };
    return std::ranges::all_of(placements, same) ? placements.front().gpus : "";
}

// Ranks of which the table says the same but for their numbers and CPUs.
struct Alike {
    const host::Placement* first = nullptr;
    std::vector<int> ranks, local_ranks;
    std::set<int> cpus;
};

// In the order of their first ranks. `apart`: a rank is like no other.
std::vector<Alike> alike(const std::vector<host::Placement>& placements, bool apart) {
    std::map<std::tuple<std::string, std::size_t, int, std::string, int>, std::size_t> places;
    std::vector<Alike> all;
    for (const auto& p : placements) {
        const auto [place, fresh] =
            places.try_emplace({p.host, p.cores.size(), p.threads, p.gpus, apart ? p.rank : 0}, all.size());
        if (fresh) all.emplace_back().first = &p;
        Alike& one = all[place->second];
        one.ranks.push_back(p.rank);
        one.local_ranks.push_back(p.local_rank);
        one.cpus.insert(p.cpus.begin(), p.cpus.end());
    }
    return all;
}

void print_ranks(const std::vector<host::Placement>& placements, bool all) {
    const std::string gpus = gpus_of_all(placements);
    TextTable table({"rank", "local", "<host", "cores", "threads", "<cpus", "<GPUs"}, 3);
    const auto rows = alike(placements, all || placements.size() <= kMostRows);
    std::size_t shown = 0, ranks = 0;
    for (const auto& row : rows) {
        if (!all && shown++ == kMostRows) break;
        const auto& p = *row.first;
        table.add({base::few_ranges(row.ranks), base::few_ranges(row.local_ranks), p.host,
                   fmt::to_string(p.cores.size()), fmt::to_string(p.threads),
                   base::few_ranges({row.cpus.begin(), row.cpus.end()}, all ? SIZE_MAX : 6),
                   gpus.empty() ? p.gpus : "*"});
        ranks += row.ranks.size();
    }
    print_text(table.text());
    if (!gpus.empty()) print_text(base::wrapped("  * ", gpus));
    if (ranks < placements.size()) print("# ... and {} more ranks\n", placements.size() - ranks);
}

void print_facts(const Examination& seen) {
    for (const auto& fact : seen.facts) {
        if (!fact.value.empty()) print("# {}.{}: {}\n", fact.section, fact.key, base::one_line(fact.value));
    }
    for (const auto& clock : seen.clocks)
        if (clock.uncertainty_s > 0)
            print("# clock.{}: {:+.6f} s of rank 0's (+- {:.6f})\n", clock.host, clock.seconds,
                  clock.uncertainty_s);
}

// Where nothing limits, this is no news.
void print_quota(const std::vector<host::Placement>& placements) {
    const auto quota = host::quota_text(placements);
    if (quota != "none" && quota != "unknown")
        print("# CPUs whose time the cgroups allow on a host: {}\n", quota);
}

void print_findings(const std::vector<host::Finding>& findings) {
    for (const auto& finding : findings)
        print("{}: {}\n", finding.fatal ? "WRONG" : "warning",
              options::told(finding.sentence(), finding.settings));
    if (findings.empty()) print("Nothing wrong was found.\n");
}

// What others do here while this job does nothing.
host::Quiet look_around(Session& session, const std::vector<host::Placement>& placements) {
    PlaceWatch watch(session.control(), placements);
    watch.begin();
    std::this_thread::sleep_for(kLook);
    return host::quiet_of(watch.spans());
}

// Of the ranks' mean, longest first: the parts then make the sum. Those that round to nothing stand together.
std::string start_up_text(std::vector<StartUpPart> parts) {
    constexpr double kShown = 0.005;
    double sum = 0, rest = 0;
    std::vector<std::string> texts;
    std::ranges::stable_sort(parts, std::greater(), &StartUpPart::mean_s);
    for (const auto& part : parts) {
        sum += part.mean_s;
        if (part.mean_s >= kShown)
            texts.push_back(fmt::format("{} {:.2f}", part.name, part.mean_s));
        else
            rest += part.mean_s;
    }
    if (rest >= kShown || texts.empty()) texts.push_back(fmt::format("the rest {:.2f}", rest));
    return fmt::format("start-up took {:.2f} s: {}", sum, base::join(texts, ", "));
}

// The versions of what is here in a line; what is not, and what follows, a sentence each.
void print_found(const std::vector<UsedThing>& found) {
    std::vector<std::string> here;
    for (const auto& thing : found)
        if (!thing.version.empty()) here.push_back(fmt::format("{} {}", thing.name, thing.version));
    print_text(base::wrapped("# found: ", base::join(here, ", ")));
    for (const auto& thing : found)
        if (thing.version.empty())
            print_text(base::wrapped(fmt::format("# {}: ", thing.name), base::one_line(thing.rest)));
}

// The verdict first, and what is seldom asked for only where it is.
void show(const Examination& seen, const std::vector<UsedThing>& found, bool all) {
    print_findings(seen.findings);
    print("# {}\n", version_line());
    print_ranks(seen.placements, all);
    print_quota(seen.placements);
    if (!all) print_found(found);
    print_text(base::wrapped("# ", start_up_text(seen.start_up)));
    if (all)
        print_facts(seen);
    else
        print("# --verbose shows all ranks, where the libraries lie, host facts and variables\n");
}

// What mpirun started itself: its daemons on other hosts have tasks of their own in Slurm's environment.
std::optional<host::Finding> check_slurm(Session& session) {
    const auto starter = host::starter_name();  // of MPICH it may be mpiexec.hydra or mpirun.mpich
    const auto base = starter.substr(0, starter.find('.'));
    static const std::set<std::string> kStarters{"mpirun", "mpiexec", "orterun", "prterun"};
    if (!kStarters.contains(base)) return std::nullopt;
    const auto tasks = comm::read_slurm_tasks();
    return host::check_slurm_counts(session.control().world_size(), comm::read_launcher().name, tasks.job,
                                    tasks.step);
}

// What takes time, or is seen in the numbers where it matters, is no part of what each run looks at.
void look_closer(Session& session, const options::Options& options, Examination& seen) {
    auto& control = session.control();
    const auto add = [&](std::optional<host::Finding> finding) {
        if (finding) seen.findings.push_back(*std::move(finding));
    };
    const auto add_all = [&](std::vector<host::Finding> findings) {
        std::ranges::move(findings, std::back_inserter(seen.findings));
    };
    add_all(check_gpus(seen.placements));
    add(check_slurm(session));
    add(check_results_folder(control, seen.placements, options.text("output")));
    seen.clocks = compare_clocks(control, seen.placements);
    add(host::check_clocks(seen.clocks));
    add_all(host::check_conditions(comm::gather_values(control, host::own_conditions(control.rank()))));
    const auto quiet = look_around(session, seen.placements);
    add_all(host::check_quiet(quiet));
    for (const auto& [key, value] : host::facts_of(quiet)) seen.facts.push_back({"place", key, value});
}

int examine(Session& session, const options::Options& options) {
    refuse_other_options(session, "ranklab doctor");  // options that differ are among what it looks at
    comm::together(session.control(), [&] { options.check_relations(); });
    const int expected = static_cast<int>(options.integer_or("expect-ranks", 0));
    Examination seen{.placements = session.gather_placements(threads_of(options.fields<vocabulary::CommonSettings>().threads))};
    seen.findings = session.check_launch(seen.placements, expected);
    session.start_up().finish("launch guard");
    seen.start_up = gather_parts(session.control(), session.start_up());
    seen.facts = collect_context("none", seen.placements);
    look_closer(session, options, seen);
    if (!session.is_root()) return 0;
    if (seen.exit_code() != 0 && session.is_one_of_many_alone()) return seen.exit_code();
    const auto found = what_is_here();
    for (const auto& thing : found) seen.facts.push_back(thing.fact());
    options.flag("json") ? print_text(doctor_json(seen)) : show(seen, found, options.flag("verbose"));
    return seen.exit_code();
}

}  // namespace

int run_doctor(int argc, char** argv) {
    options::Schema schema;
    schema.section("Options")
        .take(vocabulary::common_settings(), {"threads", "expect-ranks", "stall-timeout"})
        .append(vocabulary::launch_names())
        .text("output", "FILE", "results/ranklab.h5",
              "where runs are to be stored: do all hosts see the folder? none does not ask")
        .flag("verbose", "also show every rank, the libraries, facts of the host and variables")
        .excludes({.other = "json", .because = "JSON has everything"})
        .flag("json", "print all that it found as one JSON object on stdout, in place of the text");
    describe_help(schema);
    const auto nothing_early = [](const options::Options&) { return false; };
    return run_mpi_program(argc, argv, schema, kText, nothing_early, examine);
}

}  // namespace ranklab::app
