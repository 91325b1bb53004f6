#include "report/model/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirstLine = "# ranklab reference, schema 1";
constexpr std::size_t kMostBytes = 4 << 20;  // more is no such file
constexpr std::array kHeader{"experiment", "source",     "quantity", "unit",   "value",
                             "ranks",      "conditions", "note",     "same_as"};

// The cells of one record (RFC 4180) from `at` on, which is moved behind its line's end; nothing where a
// quote is not closed.
std::optional<std::vector<std::string>> record_at(const std::string& text, std::size_t& at) {
    std::vector<std::string> cells{""};
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"') {
            cells.back() += text[++at];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else if (c == '\n' && !quoted) {
            ++at;
            return cells;
        } else if (c != '\r' || quoted) {
            cells.back() += c;
        }
    }
    return quoted ? std::nullopt : std::optional(cells);
}

template <class Number>
bool read_number(const std::string& text, Number& number) {
    const auto found = base::number_in<Number>(text);
    if (found) number = *found;
    return found.has_value();
}

// What is wrong with a row, in words; "" where nothing is.
std::string fault_of(const std::vector<std::string>& cells, Reference& row) {
    if (cells.size() != kHeader.size())
        return fmt::format("{} columns, not {}", cells.size(), kHeader.size());
    if (!read_number(cells[4], row.value) || !std::isfinite(row.value))
        return fmt::format("'{}' is no number", base::printable(cells[4], 40));
    if (!read_number(cells[5], row.ranks) || row.ranks < 0)
        return fmt::format("'{}' is no number of ranks", base::printable(cells[5], 40));
    for (const std::size_t i : {0, 1, 2, 3})
        if (cells[i].empty()) return fmt::format("the column {} is empty", kHeader[i]);
    row.experiment = cells[0];
    row.source = cells[1];
    row.quantity = cells[2];
    row.unit = cells[3];
    row.conditions = cells[6];
    row.note = cells[7];
    if (!cells[8].empty()) row.same_as = base::split(cells[8], ';');
    try {
        Selection selection(row.same_as);
    } catch (const base::OptionError& error) {
        return error.what();
    }
    return "";
}

std::string content_of(const fs::path& path) {
    std::string text;
    const auto file = base::open_regular<base::DataError>(path, O_RDONLY);
    if (!file || !base::read_up_to(file, kMostBytes, text)) throw base::DataError("it cannot be read");
    return text;
}

// Throws a sentence's second half.
std::vector<Reference> rows_of(const std::string& text) {
    if (!text.starts_with(kFirstLine))
        throw base::DataError(fmt::format("its first line is not '{}'", kFirstLine));
    std::vector<Reference> rows;
    std::string document;
    bool header = false;
    std::size_t line = 0;
    for (std::size_t at = 0; at < text.size();) {
        ++line;
        if (text[at] == '#' || text[at] == '\n') {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            const std::string comment = text.substr(at, end - at);
            if (comment.starts_with("# source: ")) document = base::trim(comment.substr(10));
            at = end + 1;
            continue;
        }
        const auto cells = record_at(text, at);
        if (!cells)
            throw base::DataError(fmt::format("a quote that begins in record {} is not closed", line));
        if (!header) {
            if (!std::equal(cells->begin(), cells->end(), kHeader.begin(), kHeader.end()))
                throw base::DataError("its header is not that of schema 1");
            header = true;
            continue;
        }
        Reference row;
        const std::string fault = fault_of(*cells, row);
        if (!fault.empty()) throw base::DataError(fmt::format("record {}: {}", line, fault));
        row.document = document;
        rows.push_back(std::move(row));
    }
    if (document.empty()) throw base::DataError("it names no source (a line '# source: ...')");
    return rows;
}

std::vector<fs::path> files_of(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (at->path().extension() == ".csv") files.push_back(at->path());
    std::ranges::sort(files);
    return files;
}

}  // namespace

bool is_same_experiment(const Reference& reference, const results::Run& run) {
    return !reference.same_as.empty() && Selection(reference.same_as).matches(run);
}

References read_references(const fs::path& folder) {
    References found;
    if (folder.empty()) return found;
    for (const auto& path : files_of(folder)) {
        try {
            const auto rows = rows_of(content_of(path));
            found.rows.insert(found.rows.end(), rows.begin(), rows.end());
        } catch (const base::DataError& error) {
            found.problems.push_back(fmt::format(
                "the published figures in '{}' are left out, since {}: see the README beside them",
                path.string(), error.what()));
        }
    }
    return found;
}

std::string reference_lines(const results::Run& run, const References& references) {
    std::string text;
    for (const auto& row : references.rows) {
        const auto* m = run.find(row.quantity);
        if (m == nullptr || !run.valid || !is_same_experiment(row, run)) continue;
        text += fmt::format("published: {} {} ({}; {}); here {}, on this hardware\n", row.quantity,
                            readable(row.value, row.unit), base::printable(row.experiment, 80),
                            base::printable(row.conditions, 160), readable(m->summary.median, m->unit));
    }
    return text;
}

}  // namespace ranklab::report::model
