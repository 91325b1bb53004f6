#include "app/mpi_program.hpp"

#include <optional>

#include "app/guarded.hpp"
#include "app/manual.hpp"
#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi_environment.hpp"

namespace ranklab::app {
namespace {

// A config file may ask for anything, and is not read yet.
bool may_start_alone(const options::Options& options) {
    return !comm::has_task_environment() && !options.has("config");
}

}  // namespace

int run_mpi_program(int argc, char** argv, const options::Schema& schema, const ProgramText& text,
                    const std::function<bool(const options::Options&)>& answers_early,
                    const std::function<int(Session&, const options::Options&)>& work,
                    const std::function<bool(const options::Options&)>& needs_mpi,
                    const std::function<bool(const options::Options&)>& threads_call_mpi) {
    prepare_process();
    const bool alone = comm::read_launcher().world_size.value_or(1) == 1;
    std::optional<options::Options> parsed;
    const auto parse = [&] { parsed = options::Options::parse(schema, arguments_of(argc, argv)); };
    bool answered = false;
    auto start = comm::Start::with_mpi;
    const int code = guarded([&] {
        try {
            const auto words = arguments_of(argc, argv);
            answered = answer_manual(words, [&] { return manual_of(text, schema); }) ||
                       answer_help_all(words, schema, text);
            if (answered) return 0;
            parse();
            answered = answer_help(*parsed, schema, text) || answers_early(*parsed);
            if (!answered && threads_call_mpi && !parsed->has("config") && !threads_call_mpi(*parsed))
                start = comm::Start::one_thread;
            if (!answered && may_start_alone(*parsed) && needs_mpi && !needs_mpi(*parsed))
                start = comm::Start::without_mpi;
            // The launch guard refuses it, in its own words.
            if (comm::is_step_without_pmi() && !parsed->has("expect-ranks")) start = comm::Start::without_mpi;
        } catch (const base::OptionError&) {
            if (alone) throw;  // otherwise said again below, together
        }
        return 0;
    });
    if (code != 0 || answered) return code;

    return guarded([&] {
        // What a config file says comes later.
        Session session(start, parsed ? parsed->real("stall-timeout") : Session::kStallTimeout);
        return session.conclude([&] {
            comm::together(session.control(), [&] {
                if (!parsed) parse();
            });
            session.watch(parsed->real("stall-timeout"));
            return work(session, *parsed);
        });
    });
}

}  // namespace ranklab::app
