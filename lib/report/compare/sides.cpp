#include "report/compare/compare.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>

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
    std::vector<std::string> names;
    for (const auto& [name, runs] : counts)
        if (!name.empty()) names.push_back(name);
    return names.empty() ? "none" : model::some_of(names, 8, ", ", 40);
}

[[noreturn]] void refuse_unmatched(const Word& word, const fs::path& file) {
    const Census census = census_of(file);
    throw base::OptionError(fmt::format("'{}' matches no run of {}; its labels are: {}; its revisions: {}",
                                        base::printable(word.shown, 60), file.string(), listed(census.labels),
                                        listed(census.revisions)));
}

// What a bare word of labels and revisions means in that file.
Word bare_word(const std::string& word, const SidesAsked& asked, std::optional<Census>& known) {
    if (!known) known = census_of(asked.file);
    const Census& census = *known;
    const auto label = census.labels.find(word);
    std::vector<std::string> meanings;
    if (is_file(word)) meanings.push_back("file:" + word);
    if (label != census.labels.end())
        meanings.push_back(fmt::format("label:{} ({} runs)", word, label->second));
    if (const std::size_t runs = census.with_revision(word); runs > 0)
        meanings.push_back(fmt::format("rev:{} ({} runs)", word, runs));
    if (meanings.size() > 1)
        throw base::OptionError(fmt::format("'{}' may mean several things; give one of: {}",
                                            base::printable(word, 60), base::join(meanings, " or ")));
    if (meanings.empty()) refuse_unmatched({By::label, word, word}, asked.file);
    const auto meant = with_prefix(meanings.front());
    return {meant->by, word, word};
}

Word meaning_of(const std::string& word, const SidesAsked& asked, std::optional<Census>& census) {
    if (word.empty()) throw base::OptionError("A and B must not be empty; name files, labels or revisions");
    if (const auto explicit_word = with_prefix(word)) return *explicit_word;
    if (!asked.file_given && (is_file(word) || looks_like_file(word))) return {By::file, word, word};
    std::error_code ignored;
    if (!asked.file_given && !fs::exists(asked.file, ignored))
        throw base::OptionError(
            fmt::format("'{}' is no file, and {}, in which labels and revisions would be looked up, is not "
                        "there; name two results files, or the one that has the runs",
                        base::printable(word, 60), asked.file.string()),
            {"file"});
    return bare_word(word, asked, census);
}

// One side on its way.
struct Reading {
    Word word;
    fs::path file;
    Side side;
    bool any = false;  ///< a run fits the word, whether or not it meets the conditions
};

Reading reading_of(const Word& word, const SidesAsked& asked) {
    const fs::path file = word.by == By::file ? fs::path(word.value) : asked.file;
    const std::string name =
        word.by == By::file ? word.value : fmt::format("{} in {}", word.shown, file.string());
    return {word, file, {name, {}}};
}

// Both sides of one file are read at once: the time goes into HDF5.
void read(const std::vector<Reading*>& sides, const model::Selection& selection) {
    ResultFile(sides.front()->file)
        .visit(
            Detail::summaries,
            [&](const Run& run) {
                bool wanted = false;
                for (Reading* one : sides) {
                    if (!fits(one->word, run)) continue;
                    one->any = true;
                    wanted = true;
                }
                return wanted && selection.matches(run);
            },
            [&](Run&& run) {
                for (Reading* one : sides)
                    if (fits(one->word, run)) one->side.runs.push_back(run);
            });
}

void need_runs(const Reading& one, const SidesAsked& asked) {
    if (!one.any && one.word.by != By::file) refuse_unmatched(one.word, one.file);
    if (!one.side.runs.empty()) return;
    throw base::OptionError(
        one.any ? fmt::format("no run of {} meets {}", one.side.name, base::join(asked.where, ", "))
                : fmt::format("{} holds no runs; name a results file with runs in it", one.side.name),
        one.any ? base::Settings{"where"} : base::Settings{});
}

}  // namespace

std::pair<Side, Side> read_sides(const SidesAsked& asked) {
    const model::Selection selection(asked.where);
    std::optional<Census> census;
    const Word word_a = meaning_of(asked.a, asked, census);
    const Word word_b = meaning_of(asked.b, asked, census);
    Reading a = reading_of(word_a, asked), b = reading_of(word_b, asked);
    model::refuse_unknown_keys(selection.keys(), {ResultFile(a.file), ResultFile(b.file)});
    if (a.file == b.file) {
        read({&a, &b}, selection);
    } else {
        read({&a}, selection);
        read({&b}, selection);
    }
    need_runs(a, asked);
    need_runs(b, asked);
    return {std::move(a.side), std::move(b.side)};
}

}  // namespace ranklab::report::compare
