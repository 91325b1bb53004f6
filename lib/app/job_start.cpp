#include "app/job_start.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <string>

#include "app/command_line.hpp"
#include "app/printing.hpp"
#include "app/report_output.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/mpi_words.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {

namespace fs = std::filesystem;

// Under mpirun's and srun's multiple-program form each rank has its own command line: ranks that would train
// another model, or another number of steps, must not wait for each other.
void refuse_other_options(Session& session, const std::string& command_line) {
    if (comm::is_same_everywhere(session.control(), command_line)) return;
    const auto lines = comm::gather_texts(session.control(), command_line);
    for (std::size_t rank = 1; rank < lines.size(); ++rank) {
        if (lines[rank] == lines.front()) continue;
        throw base::OptionError(
            fmt::format("the ranks were started with different options: rank 0 with '{}', rank {} with '{}'; "
                        "give all the same",
                        base::printable(lines.front(), 300), rank, base::printable(lines[rank], 300)));
    }
}

namespace {

// The nearest one that exists: storing makes what is missing below it.
fs::path folder_above(const fs::path& output) {
    std::error_code unknown;
    fs::path place = fs::absolute(output, unknown).parent_path();
    while (!fs::is_directory(place, unknown) && place.has_relative_path()) place = place.parent_path();
    return place;
}

// A rank alone of what is made for several looks like a slow single device.
bool is_alone(Session& session) {
    return session.control().world_size() == 1 && !comm::read_launcher().world_size;
}

}  // namespace

host::Evidence evidence_of(const std::vector<host::Placement>& placements, int connected, int expected,
                           bool on_gpus) {
    const auto launcher = comm::read_launcher();
    return {.placements = placements,
            .connected = connected,
            .launcher = launcher.name,
            .launched = launcher.world_size,
            .expected = expected > 0 ? std::optional(expected) : std::nullopt,
            .own_launchers = comm::own_launchers(launcher.name),
            .on_gpus = on_gpus};
}

// By a file of a name that was not there before: another host may remember what it saw of the folder.
std::optional<host::ResultsFolder> look_at_results_folder(comm::Communicator& control,
                                                          const std::vector<host::Placement>& placements,
                                                          const fs::path& output) {
    if (output == "none") return std::nullopt;
    host::ResultsFolder folder{.path = folder_above(output), .host = placements.front().host, .blind = {}};
    std::set<std::string> hosts, blind;
    for (const auto& p : placements) hosts.insert(p.host);
    if (hosts.size() < 2) return folder;
    std::string mark = (fs::path(folder.path) / ".ranklab-seen-XXXXXX").string();
    if (control.rank() == 0 && !base::Descriptor(::mkstemp(mark.data()))) mark.clear();
    mark = comm::broadcast_text(control, mark, 0);
    std::error_code unknown;
    const auto sees = comm::gather_values(control, static_cast<int>(fs::exists(mark, unknown)));
    if (mark.empty()) return std::nullopt;
    if (control.rank() == 0) fs::remove(mark, unknown);
    for (std::size_t rank = 0; rank < sees.size(); ++rank)
        if (sees[rank] == 0) blind.insert(placements[rank].host);
    folder.blind.assign(blind.begin(), blind.end());
    return folder;
}

void settle_options(Session& session, options::Options& options, const std::string& command_line) {
    auto& control = session.control();
    refuse_other_options(session, command_line);
    comm::together(control, [&] {
        const auto config = options.fields<vocabulary::CommonSettings>().config;
        if (control.rank() == 0 && config) options.read_config(*config);
    });
    options.adopt(comm::broadcast_text(control, options.serialise(), 0));
}

std::vector<std::string> guard_launch(Session& session, const std::vector<host::Placement>& placements,
                                      int expected_ranks, bool on_gpus) {
    std::vector<std::string> warnings;
    const int connected = session.control().world_size();
    comm::together(session.control(), [&] {
        for (const auto& finding :
             host::findings_of_run(evidence_of(placements, connected, expected_ranks, on_gpus))) {
            if (finding.fatal) throw base::EnvironmentError(finding.sentence());
            warnings.push_back(finding.sentence());
        }
    });
    return warnings;
}

Launch examine_launch(Session& session, options::Options& options,
                      const experiments::Experiment& experiment) {
    auto& control = session.control();
    auto common = options.fields<vocabulary::CommonSettings>();
    Launch launch{session.gather_placements(threads_of(common.threads, experiment.default_threads())), {}};
    if (!common.dry_run)
        for (const auto& finding : host::findings_of_run(
                 {.folder = look_at_results_folder(control, launch.placements, common.output)}))
            launch.warnings.push_back(finding.sentence());
    for (auto& warning : guard_launch(session, launch.placements, common.expect_ranks.value_or(0),
                                      experiment.may_use_gpus(options)))
        launch.warnings.push_back(std::move(warning));
    if (is_alone(session) && experiment.wants_ranks(options))
        launch.warnings.push_back(fmt::format(
            "this is one rank alone, and it asks for several: start it with {} -n N, or srun -n N",
            base::mpirun()));
    if (!common.threads) common.threads = launch.placements[static_cast<std::size_t>(control.rank())].threads;
    options.settle(common);
    session.start_up().done("options and launch guard");
    return launch;
}

void warn_of(const Launch& launch, Session& session) {
    if (!session.is_root()) return;
    for (const auto& warning : launch.warnings) base::log::warn(warning);
}

void check_results_file(Session& session, const vocabulary::CommonSettings& common) {
    constexpr std::uint64_t kExpectedBytes = 512U << 10U;  // most runs are smaller
    comm::together(session.control(), [&] {
        if (!session.is_root()) return;
        check_json_file(common);
        if (common.output != "none") results::ResultFile(common.output).check_writable(kExpectedBytes);
    });
    session.start_up().done("settings and the results file");
}

void print_settings(const std::vector<results::Setting>& settings) {
    for (const auto& setting : settings) print("# {}: {}\n", setting.key, base::one_line(setting.value));
}

}  // namespace ranklab::app
