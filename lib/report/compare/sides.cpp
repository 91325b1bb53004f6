#include "report/compare/compare.hpp"

#include <fmt/format.h>

#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/values.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::compare {
namespace {

namespace fs = std::filesystem;
using results::Detail;
using results::ResultFile;
using results::Run;

// Whether one of both revisions is a prefix of the other: stored revisions are shortened, too.
bool is_revision(const Run& run, const std::string& word) {
    constexpr std::size_t kShortest = 7;
    const std::string clean = run.git_revision.substr(0, run.git_revision.find('-'));
    return !word.empty() && (run.git_revision.starts_with(word) ||
                             (clean.size() >= kShortest && word.starts_with(clean)));
}

// A side as the user typed it: a file, or runs of one file by a label, a revision or an id.
struct Word {
    std::string by, value;
    std::string shown;  ///< with its prefix

    bool is_file() const { return by == "file:"; }
    bool fits(const Run& run) const {
        if (by == "label:") return run.label == value;
        if (by == "id:") return run.id == value;
        return is_file() || is_revision(run, value);
    }
};

[[noreturn]] void refuse_unmatched(const Word& word, const fs::path& file) {
    std::set<std::string> labels, revisions;
    ResultFile(file).visit(Detail::settings, nullptr, [&](const Run& run) {
        labels.insert(run.label);
        revisions.insert(run.git_revision);
    });
    const auto listed = [](std::set<std::string>& names) {
        names.erase("");
        return names.empty() ? "none" : model::some_of(names, 8, ", ", 40);
    };
    throw base::OptionError(fmt::format(
        "'{}' matches no run of {}; its labels are: {}; its revisions: {}",
        base::printable(word.shown, 60), file.string(), listed(labels), listed(revisions)));
}

Word meaning_of(const std::string& word) {
    if (word.empty())
        throw base::OptionError("A and B must not be empty; name files, labels or revisions");
    for (const std::string by : {"file:", "label:", "rev:", "id:"})
        if (word.starts_with(by)) return {by, word.substr(by.size()), word};
    std::error_code ignored;
    if (!fs::exists(word, ignored))
        throw base::OptionError(
            fmt::format("there is no file '{0}'; a label is written label:{0}, a revision rev:{0}",
                        base::printable(word, 60)));
    return {"file:", word, word};
}

Side side_of(const Word& word, const fs::path& file, const CompareQuery& asked) {
    const model::Selection selection(asked.where);
    Side side{word.is_file() ? word.value : fmt::format("{} in {}", word.shown, file.string()), {}};
    bool any = false;  // run fits the word, whatever the conditions
    ResultFile(file).visit(
        Detail::summaries,
        [&](const Run& run) {
            any = any || word.fits(run);
            return word.fits(run) && selection.matches(run);
        },
        [&](Run&& run) { side.runs.push_back(std::move(run)); });
    if (!any && !word.is_file()) refuse_unmatched(word, file);
    if (!any)
        throw base::OptionError(
            fmt::format("{} holds no runs; name a results file with runs in it", side.name));
    if (side.runs.empty())
        throw base::OptionError(
            fmt::format("no run of {} meets {}", side.name, base::join(asked.where, ", ")),
            {"where"});
    return side;
}

}  // namespace

std::pair<Side, Side> read_sides(const CompareQuery& asked) {
    const Word a = meaning_of(asked.a), b = meaning_of(asked.b);
    const fs::path file_a = a.is_file() ? fs::path(a.value) : asked.file,
                   file_b = b.is_file() ? fs::path(b.value) : asked.file;
    model::refuse_unknown_keys(model::Selection(asked.where).keys(),
                               {ResultFile(file_a), ResultFile(file_b)});
    return {side_of(a, file_a, asked), side_of(b, file_b, asked)};
}

}  // namespace ranklab::report::compare
