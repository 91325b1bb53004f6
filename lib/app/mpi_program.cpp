#include "app/mpi_program.hpp"

#include <optional>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"

namespace ranklab::app {

int run_mpi_program(int argc, char** argv, const options::Schema& schema, const ProgramText& text,
                    const std::function<bool(const options::Options&)>& answers_early,
                    const std::function<int(Session&, const options::Options&)>& work) {
    prepare_process();
    const bool alone = comm::read_launcher().world_size.value_or(1) == 1;
    std::optional<options::Options> parsed;
    const auto parse = [&] { parsed = options::Options::parse(schema, arguments_of(argc, argv)); };
    bool answered = false;
    const int code = guarded([&] {
        try {
            parse();
            answered = answer_help(*parsed, schema, text) || answers_early(*parsed);
        } catch (const base::OptionError&) {
            if (alone) throw;  // otherwise said again below, together
        }
        return 0;
    });
    if (code != 0 || answered) return code;

    return guarded([&] {
        Session session;
        return session.conclude([&] {
            comm::together(session.control(), [&] {
                if (!parsed) parse();
            });
            return work(session, *parsed);
        });
    });
}

}  // namespace ranklab::app
