#include <fmt/format.h>

#include "app/context.hpp"
#include "app/mpi_program.hpp"
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

void print_ranks(const std::vector<host::Placement>& placements) {
    print("{:>6} {:>6}  {:<20} {:>6} {:>8}  {:<16} {}\n", "rank", "local", "host", "cores", "threads", "cpus",
          "GPUs");
    for (const auto& p : placements) {
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

int examine(Session& session, const options::Options& options) {
    const int threads = threads_of(options);
    const int expected = static_cast<int>(options.integer_or("expect-ranks", 0));
    const auto placements = session.gather_placements(threads);
    const auto findings = session.check_launch(placements, expected);
    int code = 0;
    if (session.is_root()) {
        print("# {}\n", version_line());
        print_facts();
        print_ranks(placements);
        code = print_findings(findings);
    }
    return code;
}

}  // namespace

int run_doctor(int argc, char** argv) {
    options::Schema schema;
    schema.section("Options").take(vocabulary::common_settings(),
                                   {"threads", "expect-ranks", "stall-timeout"});
    describe_help(schema);
    const auto nothing_early = [](const options::Options&) { return false; };
    return run_mpi_program(argc, argv, schema, kText, nothing_early, examine);
}

}  // namespace ranklab::app
