#include "app/command_line.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "app/manual.hpp"
#include "app/version.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"
#include "comm/launcher.hpp"
#include "host/process.hpp"
#include "results/lock_wait.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::app {

void describe_help(options::Schema& schema) {
    schema.section("Help")
        .flag("help", "this text")
        .shorthand('h')
        .role(options::Role::request)
        .flag("version", "version, revision and build")
        .role(options::Role::request);
}

void describe_common(options::Schema& schema) {
    schema.append(vocabulary::common_settings())
        .fallback("lock-timeout", fmt::format("{:.0f}", results::LockWait::kPatience));
}

void name_remedies(const options::Schema& schema) {
    using Names = std::initializer_list<std::pair<const char*, const char*>>;
    const auto those_of = [&schema](Names known) {
        std::vector<std::string> remedies;
        for (const auto& [option, remedy] : known)
            if (schema.find(option) != nullptr) remedies.emplace_back(remedy);
        return remedies;
    };
    const bool writes_records = schema.find("strategy") != nullptr;  // its --size is theirs
    auto memory = those_of({{"batch-size", "use a smaller --batch-size"},
                            {"edge", "make smaller volumes (--edge)"},
                            {"where", "choose fewer runs (--where)"}});
    if (writes_records) memory.emplace_back("use a smaller --size");
    base::set_remedies(
        {memory, those_of({{"threads", "use fewer --threads"}, {"workers", "use fewer --workers"}})});
}

bool answer_help(const options::Options& options, const options::Schema& schema, const ProgramText& text) {
    if (options.flag("version")) {
        if (speaks_for_job()) fmt::print("{}\n{}\n", version_line(), build_features());
        return true;
    }
    if (!options.flag("help")) return false;
    if (speaks_for_job()) {
        fmt::print(
            "Usage: ranklab {} {}\n\n{}\n\nExamples:\n{}\n{}"
            "Exit codes: 0 ok, 1 internal, 2 usage, 3 wrong data or failed verification, 5 environment or\n"
            "launch guard, 6 time limit, 7 measurement invalid; 128 + N where signal N stopped the work.\n",
            text.command, text.usage, text.summary, text.examples, schema.help());
    }
    return true;
}

int run_plain_command(options::Schema& schema, const ProgramText& text, const std::vector<std::string>& words,
                      const std::function<int(const options::Options&)>& work) {
    describe_help(schema);
    name_remedies(schema);
    if (answer_manual(words, [&] { return manual_of(text, schema); })) return 0;
    const auto options = options::Options::parse(schema, words);
    if (answer_help(options, schema, text)) return 0;
    return work(options);
}

int threads_of(const options::Options& options, int fallback) {
    if (options.has("threads")) return static_cast<int>(options.integer("threads"));
    const char* const set = std::getenv("OMP_NUM_THREADS");
    if (fallback != 0 || set == nullptr) return fallback;
    const std::string_view text = set;  // of a list the first is the outermost level's
    const std::string first = base::trim(text.substr(0, text.find(',')));
    int threads = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), threads);
    const bool valid = error == std::errc() && end == first.data() + first.size();
    return valid && threads >= 1 && threads <= vocabulary::kMostThreads ? threads : 0;
}

std::vector<std::string> arguments_of(int argc, char** argv) {
    return {argv + std::min(argc, 1), argv + argc};
}

bool speaks_for_job() {
    return comm::read_launcher().rank.value_or(0) == 0;
}

void leave_speaking_to_rank_0(base::ExitCode code) {
    if (speaks_for_job()) return;
    sleep(2);
    std::_Exit(static_cast<int>(code));
}

void require_address_space_once(std::uint64_t more_bytes) {
    try {
        host::require_address_space(more_bytes);
    } catch (const base::Error& error) {
        leave_speaking_to_rank_0(error.code());
        throw;
    }
}

}  // namespace ranklab::app
