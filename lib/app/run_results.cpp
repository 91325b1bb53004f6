#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "report/model/chosen_runs.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using results::ResultFile;

constexpr std::size_t kMostFiles = 250;  // open at the same time

// The options of all verbs. Each verb's schema offers only the options that the verb reads.
struct ResultsSettings {
    Words files;  // positional words
    Words where;
    std::optional<std::string> output;
    bool skip_damaged = false;
    double lock_timeout = results::kLockTimeout;
};

report::model::ChosenRuns chosen(const std::string& file, const ResultsSettings& asked) {
    return {ResultFile(file), {.conditions = asked.where}};
}

std::string list(const ResultsSettings& asked) {
    const std::string file = asked.files.front();
    const auto runs = chosen(file, asked);
    const auto headers = runs.headers();
    if (headers.empty()) return runs.nothing();
    return report::formats::runs_text(
        report::model::list_runs(runs.file(), headers, headers.size()), headers.size(), runs.text(),
        "ranklab report " + base::shell_path(file) + " --run");
}

// Throws DataError if every run of the file is damaged.
void refuse_ruin(const std::string& file, const results::Inspection& found) {
    if (found.whole.empty() && found.runs > 0)
        throw base::DataError(fmt::format("{}: {} of {} runs are damaged; restore a copy", file,
                                          found.runs, found.runs));
}

// Prints one line per file and one per damaged run. Throws DataError if a run is damaged.
std::string check(const ResultsSettings& asked) {
    for (const auto& file : asked.files) {
        const auto found = results::inspect(file);
        print_whole(fmt::format("{}: {} runs, {:.1f} KiB, {} damaged\n", base::one_line(file),
                                found.runs, base::real(found.bytes) / 1024, found.damaged.size()));
        for (const auto& run : found.damaged)
            print_whole(fmt::format("damaged {}: {}\n", base::printable(run.id, 60),
                                    base::one_line(run.why)));
        refuse_ruin(file, found);
        if (!found.damaged.empty())
            throw base::DataError(fmt::format(
                "{}: {} of {} runs are damaged; `ranklab results export {} --output NEW.h5 "
                "--skip-damaged` saves the others",
                file, found.damaged.size(), found.runs, base::shell_path(file)));
    }
    return "";
}

std::string merge(const ResultsSettings& asked) {
    const Words& files = asked.files;
    std::string text;
    for (const auto& merged :
         results::merge(files.front(), {files.begin() + 1, files.end()}, asked.lock_timeout))
        text += fmt::format("{}: {} runs added, {} there already\n",
                            base::one_line(merged.file.string()), merged.added, merged.known);
    return text + fmt::format("{}: {} runs\n", base::one_line(files.front()),
                              ResultFile(files.front()).runs().size());
}

std::string export_some(const ResultsSettings& asked) {
    const std::string file = asked.files.front();
    if (!asked.output)
        throw base::OptionError("results export needs a file to write; give --output NEW.h5");
    const auto runs = chosen(file, asked);
    if (asked.skip_damaged && !runs.everything())
        throw base::OptionError(
            "--skip-damaged exports all undamaged runs; use --where on the exported file");
    std::set<std::string> ids;
    if (asked.skip_damaged) {
        const auto found = results::inspect(file);
        refuse_ruin(file, found);
        ids = found.whole;
    } else {
        for (const auto& header : runs.headers()) ids.insert(header.id);
    }
    if (ids.empty())
        throw base::OptionError(
            fmt::format("no run of {} was chosen; `ranklab results list {}` shows what there is",
                        file, base::shell_path(file)));
    results::export_runs(file, ids, *asked.output, asked.lock_timeout);
    return fmt::format("{}: {} runs\n", *asked.output, ids.size());
}

// `work` returns the text to print.
Command command_of(const char* name, options::Schema schema,
                   std::string (*work)(const ResultsSettings&)) {
    describe_help(schema);
    return {text_of_command(name), std::move(schema), [work](const auto& given, const Words&) {
                auto asked = given.template fields<ResultsSettings>();
                asked.files = given.positional();
                print_whole(work(asked));
                return 0;
            }};
}

CommandGroup program() {
    using S = ResultsSettings;
    const auto options = [](std::size_t most, std::size_t least) {
        return options::Schema().positional(most, least).section("Options");
    };
    const auto where = options(1, 1).texts("where", &S::where, "CONDITION",
                                           "only runs that meet this condition: KEY=VALUE, !=, <, "
                                           "<=, > or >=; may be given several times");
    const auto wait = options::Schema()
                          .real("lock-timeout", &S::lock_timeout, 0,
                                "seconds to wait for another job that holds the file's lock")
                          .in("seconds");
    return {"results",
            "Lists, checks, merges and exports the runs of results files.",
            "FILE...",
            {command_of("results list", where, list),
             command_of("results check", options(kMostFiles, 1), check),
             command_of("results merge", options(kMostFiles, 2).append(wait), merge),
             command_of("results export",
                        options::Schema(where)
                            .text("output", &S::output, "NEW.h5",
                                  "the file to write, which must not exist")
                            .flag("skip-damaged", &S::skip_damaged, "leave out damaged runs")
                            .append(wait),
                        export_some)}};
}

}  // namespace

int run_results(int argc, char** argv) {
    return run_verbs(program(), arguments_of(argc, argv));
}

}  // namespace ranklab::app
