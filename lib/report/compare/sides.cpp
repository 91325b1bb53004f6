#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/compare/compare.hpp"
#include "report/model/chosen_runs.hpp"

namespace ranklab::report::compare {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStoredRevision = 12;  // hex digits

// Adds the condition of label:TEXT, rev:HEX or id:RUN; returns false for other words (files).
bool add_condition(model::Choice& choice, const std::string& word) {
    const std::string value = word.substr(std::min(word.find(':') + 1, word.size()));
    if (word.starts_with("label:"))
        choice.label = value;
    else if (word.starts_with("rev:"))
        choice.conditions.push_back(
            fmt::format("git_revision={}*", value.substr(0, kStoredRevision)));
    else if (word.starts_with("id:"))
        choice.conditions.push_back("id=" + value);
    else
        return false;
    return true;
}

fs::path file_of(const std::string& word) {
    constexpr std::string_view kPrefix = "file:";
    std::error_code ignored;
    if (word.starts_with(kPrefix)) return word.substr(kPrefix.size());
    if (fs::exists(word, ignored)) return word;
    throw base::OptionError(
        fmt::format("there is no file '{0}'; a label is written label:{0}, a revision rev:{0}",
                    base::printable(word, 60)));
}

}  // namespace

Side read_side(const std::string& word, const fs::path& file,
               const std::vector<std::string>& where) {
    if (word.empty())
        throw base::OptionError("A and B must not be empty; name files, labels or revisions");
    model::Choice choice{.conditions = where};
    const bool is_file = !add_condition(choice, word);
    const fs::path from = is_file ? file_of(word) : file;
    const model::ChosenRuns runs(results::ResultFile(from), std::move(choice));
    Side side{is_file ? from.string() : fmt::format("{} in {}", word, from.string()), {}};
    runs.visit(results::Detail::summaries,
               [&](results::Run&& run) { side.runs.push_back(std::move(run)); });
    if (side.runs.empty()) throw base::OptionError(base::trim(runs.nothing()));
    return side;
}

}  // namespace ranklab::report::compare
