#include "report/compare_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/selection.hpp"
#include "results/result_file.hpp"

namespace ranklab::report {
namespace {

namespace fs = std::filesystem;
using results::Detail;
using results::ResultFile;
using results::Run;

enum class By { file, label, revision, id };

struct Word {
    By by = By::file;
    std::string value;
    std::string shown;  ///< as the user wrote it
};

bool is_file(const std::string& word) {
    std::error_code ignored;
    return fs::is_regular_file(word, ignored);
}

// A name that can only mean a file: where there is none, the file is what is missed.
bool looks_like_file(const std::string& word) {
    return word.find('/') != std::string::npos || word.ends_with(".h5") || word.ends_with(".hdf5");
}

std::optional<Word> with_prefix(const std::string& word) {
    static constexpr std::array<std::pair<const char*, By>, 4> kPrefixes{
        {{"file:", By::file}, {"label:", By::label}, {"rev:", By::revision}, {"id:", By::id}}};
    for (const auto& [prefix, by] : kPrefixes) {
        if (word.starts_with(prefix)) return Word{by, word.substr(std::string(prefix).size()), word};
    }
    return std::nullopt;
}

// By its beginning; a stored one is cut short itself, so a word that begins with it is the same revision too.
bool is_revision(const std::string& stored, const std::string& word) {
    constexpr std::size_t kShortest = 7;
    const std::string clean = stored.substr(0, stored.find('-'));
    if (word.empty()) return false;
    return stored.starts_with(word) || (clean.size() >= kShortest && word.starts_with(clean));
}

bool fits(const Word& word, const Run& run) {
    switch (word.by) {
        case By::label:
            return run.label == word.value;
        case By::revision:
            return is_revision(run.git_revision, word.value);
        case By::id:
            return run.id == word.value;
        case By::file:
            break;
    }
    return true;
}

// Labels and revisions of a file's runs, with how many have them.
struct Census {
    std::map<std::string, std::size_t> labels, revisions;

    std::size_t with_revision(const std::string& word) const {
        std::size_t runs = 0;
        for (const auto& [revision, count] : revisions)
            if (is_revision(revision, word)) runs += count;
        return runs;
    }
};

Census census_of(const fs::path& file) {
    Census census;
    ResultFile(file).visit(
        Detail::settings,
        [&](const Run& run) {
            ++census.labels[run.label];
            ++census.revisions[run.git_revision];
            return false;
        },
        [](Run&&) {});
    return census;
}

std::string listed(const std::map<std::string, std::size_t>& counts) {
    constexpr std::size_t kMost = 8;
    std::vector<std::string> shown;
    for (const auto& [name, runs] : counts) {
        if (!name.empty() && shown.size() < kMost) shown.push_back(base::printable(name, 40));
    }
    if (shown.empty()) return "none";
    return base::join(shown, ", ") + (counts.size() > kMost ? ", ..." : "");
}

[[noreturn]] void refuse_unmatched(const Word& word, const fs::path& file) {
    const Census census = census_of(file);
    throw base::OptionError(fmt::format("'{}' matches no run of {}; its labels are: {}; its revisions: {}",
                                        base::printable(word.shown, 60), file.string(), listed(census.labels),
                                        listed(census.revisions)));
}

// What a bare word of labels and revisions means in that file.
Word bare_word(const std::string& word, const SidesAsked& asked) {
    const Census census = census_of(asked.file);
    const auto label = census.labels.find(word);
    std::vector<std::string> meanings;
    if (is_file(word)) meanings.push_back("file:" + word);
    if (label != census.labels.end())
        meanings.push_back(fmt::format("label:{} ({} runs)", word, label->second));
    if (const std::size_t runs = census.with_revision(word); runs > 0)
        meanings.push_back(fmt::format("rev:{} ({} runs)", word, runs));
    if (meanings.size() > 1)
        throw base::OptionError(fmt::format("'{}' may be several things; say which: {}",
                                            base::printable(word, 60), base::join(meanings, " or ")));
    if (meanings.empty()) refuse_unmatched({By::label, word, word}, asked.file);
    const auto meant = with_prefix(meanings.front());
    return {meant->by, word, word};
}

Word meaning_of(const std::string& word, const SidesAsked& asked) {
    if (word.empty()) throw base::OptionError("A and B must not be empty; name files, labels or revisions");
    if (const auto explicit_word = with_prefix(word)) return *explicit_word;
    if (!asked.file_given && (is_file(word) || looks_like_file(word))) return {By::file, word, word};
    std::error_code ignored;
    if (!asked.file_given && !fs::exists(asked.file, ignored))
        throw base::OptionError(
            fmt::format("'{}' is no file, and {}, in which labels and revisions would be looked up, is not "
                        "there; name two "
                        "results files, or the one that has the runs by --file",
                        base::printable(word, 60), asked.file.string()));
    return bare_word(word, asked);
}

Side read_side(const Word& word, const SidesAsked& asked, const Selection& selection) {
    const fs::path file = word.by == By::file ? fs::path(word.value) : asked.file;
    Side side{word.by == By::file ? word.value : fmt::format("{} in {}", word.shown, file.string()), {}};
    bool any = false;
    ResultFile(file).visit(
        Detail::summaries,
        [&](const Run& run) {
            const bool meant = fits(word, run);
            any = any || meant;
            return meant && selection.matches(run);
        },
        [&](Run&& run) { side.runs.push_back(std::move(run)); });
    if (!any && word.by != By::file) refuse_unmatched(word, file);
    if (side.runs.empty())
        throw base::OptionError(
            any ? fmt::format("no run of {} meets --where {}", side.name,
                              base::join(asked.where, " --where "))
                : fmt::format("{} holds no runs; name a results file with runs in it", side.name));
    return side;
}

}  // namespace

std::pair<Side, Side> read_sides(const SidesAsked& asked) {
    const Selection selection(asked.where);
    const Word a = meaning_of(asked.a, asked);
    const Word b = meaning_of(asked.b, asked);
    Side side_a = read_side(a, asked, selection);
    return {std::move(side_a), read_side(b, asked, selection)};
}

}  // namespace ranklab::report
