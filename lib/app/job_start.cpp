#include "app/job_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>

#include "app/command_line.hpp"
#include "app/launch_checks.hpp"
#include "app/printing.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mpirun.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "comm/by_root.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {

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

// One rank of what is made for several, since nobody started more: its numbers look like a slow single
// device.
std::string alone_of_ddp(Session& session, const options::Options& options) {
    if (session.control().world_size() > 1 || comm::read_launcher().world_size) return "";
    const std::string config = options.text_or("config", "");
    const std::string name = std::filesystem::path(config).stem().string();
    const bool by_name = name.find("ddp") != std::string::npos;
    if (!by_name && options.text_or("mode", "") != "ddp") return "";
    return fmt::format("{} is for several ranks, and this is one alone: start it with {} -n N, or srun -n N",
                       by_name ? config : std::string("mode ddp"), base::mpirun());
}

}  // namespace

void settle_options(Session& session, options::Options& options, const std::string& command_line) {
    auto& control = session.control();
    refuse_other_options(session, command_line);
    comm::together(control, [&] {
        if (control.rank() == 0 && options.has("config")) options.read_config(options.text("config"));
    });
    options.adopt(comm::broadcast_text(control, options.serialise(), 0));
}

std::vector<std::string> guard_launch(Session& session, const options::Options& options,
                                      const std::vector<host::Placement>& placements) {
    std::vector<std::string> warnings;
    const int expected = static_cast<int>(options.integer_or("expect-ranks", 0));
    auto findings = session.check_launch(placements, expected);
    if (options.text_or("device", "cpu") != "cpu")
        std::ranges::move(check_gpus(placements), std::back_inserter(findings));
    comm::together(session.control(), [&] {
        for (const auto& finding : findings) {
            if (finding.fatal && session.is_one_of_many_alone())
                throw comm::PeerError("another process says why", base::ExitCode::environment);
            if (finding.fatal) throw base::EnvironmentError(finding.sentence(), finding.settings);
            warnings.push_back(options::told(finding.sentence(), finding.settings));
        }
    });
    if (const auto warning = alone_of_ddp(session, options); !warning.empty()) warnings.push_back(warning);
    return warnings;
}

Launch examine_launch(Session& session, options::Options& options, int default_threads) {
    auto& control = session.control();
    Launch launch{session.gather_placements(threads_of(options, default_threads)), {}};
    if (!options.flag("dry-run"))
        if (const auto local = check_results_folder(control, launch.placements, options.text("output")))
            launch.warnings.push_back(options::told(local->sentence(), local->settings));
    for (auto& warning : guard_launch(session, options, launch.placements))
        launch.warnings.push_back(std::move(warning));
    const auto& mine = launch.placements[static_cast<std::size_t>(control.rank())];
    if (!options.has("threads")) options.resolve("threads", fmt::format("{}", mine.threads));
    session.start_up().done("options and launch guard");
    return launch;
}

void warn_of(const Launch& launch, Session& session) {
    if (!session.is_root()) return;
    for (const auto& warning : launch.warnings) base::log::warn(warning);
}

void check_results_file(Session& session, const options::Options& options) {
    constexpr std::uint64_t kExpectedBytes = 4U << 20U;  // most runs are smaller
    comm::together(session.control(), [&] {
        if (session.is_root() && options.text("output") != "none")
            results::ResultFile(options.text("output")).prepare(kExpectedBytes);
    });
    session.start_up().done("settings and the results file");
}

void store(const std::vector<results::Run>& runs, const options::Options& options) {
    for (const auto& run : runs)
        results::ResultFile(options.text("output")).append(run, {.patience_s = options.real("lock-timeout")});
}

void print_settings(const std::vector<results::Setting>& settings) {
    for (const auto& setting : settings) print("# {}: {}\n", setting.key, base::one_line(setting.value));
}

}  // namespace ranklab::app
