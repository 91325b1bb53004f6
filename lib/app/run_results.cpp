#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "report/model/chosen_runs.hpp"
#include "results/archive.hpp"
#include "results/result_file.hpp"

namespace ranklab::app {
namespace {

using results::ResultFile;
using results::RunHeader;

constexpr std::size_t kMostFiles = 250;  // open at the same time

// The options of all verbs. Each verb's schema has those that it reads.
struct ResultsSettings {
    Words files;  // positional words
    Words where;
    std::optional<std::string> output;
    std::optional<std::int64_t> keep_last;
    bool skip_damaged = false, dry_run = false, yes = false;
    double lock_timeout = results::kLockTimeout;
};

report::model::ChosenRuns chosen(const std::string& file, const ResultsSettings& asked) {
    return {ResultFile(file), {.conditions = asked.where}};
}

std::set<std::string> ids_of(const std::vector<RunHeader>& headers) {
    std::set<std::string> ids;
    for (const auto& header : headers) ids.insert(header.id);
    return ids;
}

std::string size_text(std::uint64_t bytes) {
    return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
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

// One line per file, and one per damaged run.
std::string check(const ResultsSettings& asked) {
    for (const auto& file : asked.files) {
        const auto found = results::inspect(file);
        print_whole(fmt::format("{}: {} runs, {}, {} damaged\n", base::one_line(file), found.runs,
                                size_text(found.bytes), found.damaged.size()));
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
         results::merge(files.front(), {files.begin() + 1, files.end()}, asked.lock_timeout)) {
        text += fmt::format("{}: {} runs added, {} there already\n",
                            base::one_line(merged.file.string()), merged.added, merged.known);
        for (const auto& id : merged.renamed)
            text += fmt::format("another run had the id of {}, which is therefore added as {}\n",
                                base::one_line(id.substr(0, id.rfind('-'))), base::one_line(id));
    }
    return text + fmt::format("{}: {} runs\n", base::one_line(files.front()),
                              ResultFile(files.front()).runs().size());
}

std::set<std::string> whole_runs(const std::string& file) {
    auto found = results::inspect(file);
    refuse_ruin(file, found);
    return std::move(found.whole);
}

[[noreturn]] void refuse_nothing(const std::string& file, bool everything) {
    if (everything) throw base::OptionError(fmt::format("{} holds no runs", file));
    throw base::OptionError(fmt::format(
        "no run of {} meets the conditions; `ranklab results list {}` shows what there is", file,
        base::shell_path(file)));
}

std::string export_some(const ResultsSettings& asked) {
    const std::string file = asked.files.front();
    if (!asked.output)
        throw base::OptionError("results export needs a file to write; give --output NEW.h5");
    const auto runs = chosen(file, asked);
    const bool skip = asked.skip_damaged;
    if (skip && !runs.everything())
        throw base::OptionError(
            "--skip-damaged exports all undamaged runs; use --where on the exported file");
    const auto ids = skip ? whole_runs(file) : ids_of(runs.headers());
    if (ids.empty()) refuse_nothing(file, runs.everything());
    results::export_runs(file, ids, *asked.output, asked.lock_timeout);
    return fmt::format("{}: {} runs\n", *asked.output, ids.size());
}

// The runs that meet the conditions, without the newest --keep-last of them.
std::vector<RunHeader> doomed_runs(const std::string& file, const ResultsSettings& asked) {
    const auto runs = chosen(file, asked);
    if (runs.everything() && !asked.keep_last)
        throw base::OptionError(
            "results prune needs to know what to remove; give --where CONDITION or --keep-last N");
    auto doomed = runs.headers();
    if (!asked.keep_last) return doomed;
    std::ranges::stable_sort(
        doomed, [](const auto& a, const auto& b) { return a.started_utc < b.started_utc; });
    const auto kept = std::min(doomed.size(), static_cast<std::size_t>(*asked.keep_last));
    doomed.resize(doomed.size() - kept);
    return doomed;
}

std::string prune(const ResultsSettings& asked) {
    const std::string file = asked.files.front();
    const auto doomed = doomed_runs(file, asked);
    if (doomed.empty()) return "0 runs to remove\n";
    const auto lines = [&](const char* verb) {
        std::string text;
        for (const auto& run : doomed)
            text += fmt::format("{} {} {} {}\n", verb, run.id, run.command,
                                base::printable(run.label, 60));
        return text;
    };
    if (!asked.yes) print_whole(lines("would remove"));
    if (asked.dry_run) return fmt::format("{} runs would be removed\n", doomed.size());
    if (!asked.yes)
        throw base::OptionError(fmt::format(
            "{} runs would be removed permanently; give --yes to remove them", doomed.size()));
    const auto path = std::filesystem::path(file);
    const auto before = std::filesystem::file_size(path);
    results::remove_runs(path, ids_of(doomed), asked.lock_timeout);
    return lines("removed") + fmt::format("{} runs removed; {} was {} and is {}\n", doomed.size(),
                                          file, size_text(before),
                                          size_text(std::filesystem::file_size(path)));
}

// The work returns the text for stdout.
Command command_of(ProgramText text, options::Schema schema,
                   std::string (*work)(const ResultsSettings&)) {
    describe_help(schema);
    return {std::move(text), std::move(schema), [work](const auto& given, const Words&) {
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
            "Lists, checks, merges, exports and prunes the runs of results files.",
            "FILE...",
            {command_of({"results list", "FILE [--where CONDITION]...",
                         "Lists the runs of a results file, one row each.",
                         "  ranklab results list results/ranklab.h5\n"
                         "  ranklab results list results/ranklab.h5 --where model=resnet50 \\\n"
                         "      --where 'ranks>=4'\n"},
                        where, list),
             command_of({"results check", "FILE...",
                         "Reads all data of every run; exit 3 if a run is damaged.",
                         "  ranklab results check results/ranklab.h5\n"},
                        options(kMostFiles, 1), check),
             command_of({"results merge", "OUT FILE...",
                         "Adds the runs of the files to OUT, each id once.",
                         "  ranklab results merge all.h5 cluster_a.h5 cluster_b.h5\n"
                         "  ranklab results merge results/ranklab.h5 results/ranklab.h5.2*.h5\n"
                         "      # runs that were set apart\n"},
                        options(kMostFiles, 2).append(wait), merge),
             command_of({"results export", "FILE --output NEW.h5 [--where CONDITION]...",
                         "Writes chosen runs to a new file.",
                         "  ranklab results export results/ranklab.h5 --output paper.h5 \\\n"
                         "      --where label=paper --where valid=1\n"
                         "  ranklab results export broken.h5 --output saved.h5 --skip-damaged\n"},
                        options::Schema(where)
                            .text("output", &S::output, "NEW.h5",
                                  "the file to write, which must not exist")
                            .flag("skip-damaged", &S::skip_damaged, "leave out damaged runs")
                            .append(wait),
                        export_some),
             command_of(
                 {"results prune", "FILE --where CONDITION... | --keep-last N [--dry-run | --yes]",
                  "Removes runs permanently and frees their disk space.",
                  "  ranklab results prune results/ranklab.h5 --where valid=0 --dry-run\n"
                  "  ranklab results prune results/ranklab.h5 --where label=nightly \\\n"
                  "      --keep-last 100 --yes\n"},
                 options::Schema(where)
                     .integer("keep-last", &S::keep_last, 0, "keep the N newest of these runs")
                     .flag("dry-run", &S::dry_run,
                           "print what would be removed, without changing the file")
                     .flag("yes", &S::yes, "remove the runs; otherwise they are only listed")
                     .append(wait),
                 prune)}};
}

}  // namespace

int run_results(int argc, char** argv) {
    return run_verbs(program(), arguments_of(argc, argv));
}

}  // namespace ranklab::app
