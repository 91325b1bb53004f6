#include "app/job_start.hpp"

#include <fmt/format.h>

#include "app/printing.hpp"
#include "base/error.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::app {
namespace {

// Under mpirun's and srun's multiple-program form each rank has its own command line: ranks that would train
// another model, or another number of steps, must not wait for each other.
void refuse_other_options(Session& session, const std::string& command_line) {
    const auto lines = comm::gather_texts(session.control(), command_line);
    for (std::size_t rank = 1; rank < lines.size(); ++rank) {
        if (lines[rank] == lines.front()) continue;
        throw base::OptionError(
            fmt::format("the ranks were started with different options: rank 0 with '{}', rank {} with '{}'; "
                        "give all the same",
                        base::printable(lines.front(), 300), rank, base::printable(lines[rank], 300)));
    }
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
    const auto findings = session.check_launch(placements, expected);
    comm::together(session.control(), [&] {
        for (const auto& finding : findings) {
            if (finding.fatal) throw base::EnvironmentError(finding.sentence, finding.settings);
            warnings.push_back(options::told(finding.sentence, finding.settings));
        }
    });
    return warnings;
}

void print_settings(const std::vector<results::Setting>& settings) {
    for (const auto& setting : settings) print("# {}: {}\n", setting.key, base::one_line(setting.value));
}

}  // namespace ranklab::app
