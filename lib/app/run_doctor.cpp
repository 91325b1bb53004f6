#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "app/context.hpp"
#include "app/mpi_program.hpp"
#include "app/place_watch.hpp"
#include "app/printing.hpp"
#include "app/programs.hpp"
#include "app/version.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::app {
namespace {

const ProgramText kText{"doctor", "[options]",
                        "Says where each rank sits, what libraries and GPUs there are, what is wrong with "
                        "the launch and how to mend it.",
                        "  ranklab doctor                      this process alone\n"
                        "  mpirun -n 2 ranklab doctor          as the job would be started\n"
                        "  srun -n 8 ranklab doctor --threads 4\n"};

constexpr std::size_t kMostRanks = 4;  // more would not be one screen
constexpr auto kLook = std::chrono::milliseconds(1200);

void print_ranks(const std::vector<host::Placement>& placements, bool all) {
    print("{:>6} {:>6}  {:<20} {:>6} {:>8}  {:<16} {}\n", "rank", "local", "host", "cores", "threads", "cpus",
          "GPUs");
    for (const auto& p : placements) {
        if (!all && p.rank >= static_cast<int>(kMostRanks)) break;
        print("{:>6} {:>6}  {:<20} {:>6} {:>8}  {:<16} {}\n", p.rank, p.local_rank, p.host, p.cores,
              p.threads, base::compact_ranges(p.cpus), p.gpus);
    }
}

void print_facts() {
    for (const auto& fact : collect_context("none")) {
        if (!fact.value.empty()) print("# {}.{}: {}\n", fact.section, fact.key, base::one_line(fact.value));
    }
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
std::vector<host::Finding> busy_places(Session& session, const std::vector<host::Placement>& placements) {
    const PlaceWatch watch(session.control(), placements);
    std::this_thread::sleep_for(kLook);
    return host::check_quiet(watch.since_then());
}

// The verdict first, and what is seldom asked for only where it is.
int show(const std::vector<host::Placement>& placements, const std::vector<host::Finding>& findings,
         bool all) {
    const int code = print_findings(findings);
    print("# {}\n", version_line());
    print_ranks(placements, all);
    if (!all && placements.size() > kMostRanks)
        print("# ... and {} more ranks\n", placements.size() - kMostRanks);
    if (all)
        print_facts();
    else
        print("# --verbose shows all ranks, libraries, host facts and variables\n");
    return code;
}

int examine(Session& session, const options::Options& options) {
    const int threads = threads_of(options);
    const int expected = static_cast<int>(options.integer_or("expect-ranks", 0));
    const auto placements = session.gather_placements(threads);
    auto findings = session.check_launch(placements, expected);
    for (auto& finding : busy_places(session, placements)) findings.push_back(std::move(finding));
    return session.is_root() ? show(placements, findings, options.flag("verbose")) : 0;
}

}  // namespace

int run_doctor(int argc, char** argv) {
    options::Schema schema;
    schema.section("Options")
        .take(vocabulary::common_settings(), {"threads", "expect-ranks", "stall-timeout"})
        .flag("verbose", "also show every rank, the libraries, facts of the host and variables");
    describe_help(schema);
    const auto nothing_early = [](const options::Options&) { return false; };
    return run_mpi_program(argc, argv, schema, kText, nothing_early, examine);
}

}  // namespace ranklab::app
