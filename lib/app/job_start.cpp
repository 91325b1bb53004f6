#include "app/job_start.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "app/launch_checks.hpp"
#include "app/printing.hpp"
#include "base/error.hpp"
#include "base/mpirun.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "comm/by_root.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"

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
    const int connected = session.control().world_size();
    const bool on_gpus = options.text_or("device", "cpu") != "cpu";
    comm::together(session.control(), [&] {
        for (const auto& finding :
             host::findings_of_run(evidence_of(placements, connected, expected, on_gpus))) {
            if (finding.fatal && is_one_of_many_alone(connected))
                throw comm::PeerError("another process says why", base::ExitCode::environment);
            if (finding.fatal) throw base::EnvironmentError(finding.sentence());
            warnings.push_back(finding.sentence());
        }
    });
    if (const auto warning = alone_of_ddp(session, options); !warning.empty()) warnings.push_back(warning);
    return warnings;
}

void print_settings(const std::vector<results::Setting>& settings) {
    for (const auto& setting : settings) print("# {}: {}\n", setting.key, base::one_line(setting.value));
}

}  // namespace ranklab::app
