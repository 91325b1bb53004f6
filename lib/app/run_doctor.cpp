#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "app/context.hpp"
#include "app/job_start.hpp"
#include "app/mpi_program.hpp"
#include "app/place_watch.hpp"
#include "app/printing.hpp"
#include "app/programs.hpp"
#include "app/version.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
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

constexpr std::size_t kMostRanks = 4;  // more would not be one screen
constexpr auto kLook = std::chrono::milliseconds(1200);

// One where all ranks say the same of it: what is true of all stands once, below the table.
std::string gpus_of_all(const std::vector<host::Placement>& placements) {
    const auto same = [&](const auto& p) { return p.gpus == placements.front().gpus; };
    return std::ranges::all_of(placements, same) ? placements.front().gpus : "";
}

void print_ranks(const std::vector<host::Placement>& placements, bool all) {
    const std::string gpus = gpus_of_all(placements);
    TextTable table({"rank", "local", "<host", "cores", "threads", "<cpus", "<GPUs"}, 3);
    for (const auto& p : placements) {
        if (!all && p.rank >= static_cast<int>(kMostRanks)) break;
        table.add({fmt::to_string(p.rank), fmt::to_string(p.local_rank), p.host,
                   fmt::to_string(p.cores.size()), fmt::to_string(p.threads), base::compact_ranges(p.cpus),
                   gpus.empty() ? p.gpus : "*"});
    }
    print_text(table.text());
    if (!gpus.empty()) print_text(base::wrapped("  * ", gpus));
}

void print_facts(const std::vector<host::Placement>& placements, const host::Quiet& quiet) {
    auto facts = collect_context("none", placements);
    for (const auto& [key, value] : host::facts_of(quiet)) facts.push_back({"place", key, value});
    for (const auto& fact : facts) {
        if (!fact.value.empty()) print("# {}.{}: {}\n", fact.section, fact.key, base::one_line(fact.value));
    }
}

// Where nothing limits, this is no news.
void print_quota(const std::vector<host::Placement>& placements) {
    const auto quota = host::quota_text(placements);
    if (quota != "none" && quota != "unknown")
        print("# CPUs whose time the cgroups allow on a host: {}\n", quota);
}

int print_findings(const std::vector<host::Finding>& findings) {
    int code = 0;
    for (const auto& finding : findings) {
        print("{}: {}\n", finding.fatal ? "WRONG" : "warning",
              options::told(finding.sentence, finding.settings));
        if (finding.fatal) code = 5;
    }
    if (findings.empty()) print("Nothing wrong was found.\n");
    return code;
}

// What others do here while this job does nothing.
host::Quiet look_around(Session& session, const std::vector<host::Placement>& placements) {
    PlaceWatch watch(session.control(), placements);
    watch.begin();
    std::this_thread::sleep_for(kLook);
    return host::quiet_of(watch.spans());
}

// The verdict first, and what is seldom asked for only where it is.
int show(const std::vector<host::Placement>& placements, const std::vector<host::Finding>& findings,
         const host::Quiet& quiet, bool all) {
    const int code = print_findings(findings);
    print("# {}\n", version_line());
    print_ranks(placements, all);
    if (!all && placements.size() > kMostRanks)
        print("# ... and {} more ranks\n", placements.size() - kMostRanks);
    print_quota(placements);
    if (all)
        print_facts(placements, quiet);
    else
        print("# --verbose shows all ranks, libraries, host facts and variables\n");
    return code;
}

int examine(Session& session, const options::Options& options) {
    refuse_other_options(session, "ranklab doctor");  // options that differ are among what it looks at
    const int threads = threads_of(options);
    const int expected = static_cast<int>(options.integer_or("expect-ranks", 0));
    const auto placements = session.gather_placements(threads);
    auto findings = session.check_launch(placements, expected);
    const auto quiet = look_around(session, placements);
    for (auto& finding : host::check_quiet(quiet)) findings.push_back(std::move(finding));
    return session.is_root() ? show(placements, findings, quiet, options.flag("verbose")) : 0;
}

}  // namespace

int run_doctor(int argc, char** argv) {
    options::Schema schema;
    schema.section("Options")
        .take(vocabulary::common_settings(), {"threads", "expect-ranks", "stall-timeout"})
        .append(vocabulary::launch_names())
        .flag("verbose", "also show every rank, the libraries, facts of the host and variables");
    describe_help(schema);
    const auto nothing_early = [](const options::Options&) { return false; };
    return run_mpi_program(argc, argv, schema, kText, nothing_early, examine);
}

}  // namespace ranklab::app
