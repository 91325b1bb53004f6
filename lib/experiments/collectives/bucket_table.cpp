#include "experiments/collectives/options.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "experiments/collectives/templates.hpp"
#include "vocabulary/tables.hpp"

namespace ranklab::experiments {
namespace {

constexpr const char* kTableSetting = "from-model";
constexpr std::string_view kTableSuffix = ".csv";
// The largest networks, with one row per parameter, need some 100 KB.
constexpr std::size_t kMostTableBytes = std::size_t{4} << 20;
constexpr std::int64_t kMostElements = 1'000'000'000'000;  // per row, so that sums cannot overflow
constexpr std::size_t kColumns = 5;

std::optional<BucketRow> row_in(std::string_view line, std::size_t number) {
    const auto cells = base::split(line, ',');
    if (cells.size() != kColumns || cells[0] != fmt::format("{}", number)) return std::nullopt;
    const auto count = [&](std::size_t column) {
        const auto value = base::number_in<std::int64_t>(cells[column]);
        return value && *value <= kMostElements ? *value : 0;
    };
    const auto type = base::element_named(cells[3]);
    const BucketRow row{count(1), count(2), type.value_or(base::Element::f32), count(4)};
    const bool good = type && base::is_floating(*type) && row.parameters > 0 && row.elements > 0 &&
                      row.bytes == row.elements * static_cast<std::int64_t>(base::size_of(*type));
    return good ? std::optional(row) : std::nullopt;
}

// Returns the value of a line "# NAME: VALUE".
std::optional<std::string> said(std::string_view line, std::string_view name) {
    const std::string begin = fmt::format("# {}: ", name);
    if (!line.starts_with(begin)) return std::nullopt;
    return std::string(line.substr(begin.size()));
}

BucketTable read_table(const std::string& path) {
    std::string text;
    const auto file = base::open_regular<base::DataError>(path, O_RDONLY);
    if (!file || !base::read_up_to(file, kMostTableBytes + 1, text))
        throw base::DataError(fmt::format("{} cannot be read ({}); name another table",
                                          base::one_line(path), std::strerror(errno)),
                              {kTableSetting});
    try {
        return parse_bucket_table(text);
    } catch (const base::DataError& error) {
        throw base::DataError(
            fmt::format("{} is not a table of gradient buckets: {}; write one by `ranklab train "
                        "--dry-run --buckets FILE`",
                        base::one_line(path), error.what()),
            {kTableSetting});
    }
}

}  // namespace

std::vector<std::string> shipped_models() {
    std::vector<std::string> names;
    for (const auto& one : collectives::templates())
        names.emplace_back(one.name.substr(0, one.name.size() - kTableSuffix.size()));
    return names;
}

BucketTable parse_bucket_table(const std::string& text) {
    if (text.size() > kMostTableBytes) throw base::DataError("it is larger than 4 MiB");
    if (!text.starts_with(vocabulary::kBucketTitle))
        throw base::DataError(fmt::format("its first line is not '{}'", vocabulary::kBucketTitle));
    BucketTable table;
    std::int64_t parameters = 0;
    std::int64_t elements = 0;
    bool header = false;
    for (const auto& each : base::split(text, '\n')) {
        const std::string line = base::trim(each);
        if (const auto model = said(line, "model")) table.model = base::one_line(*model);
        if (const auto all = said(line, "parameters"))
            parameters = base::number_in<std::int64_t>(*all).value_or(0);
        if (line.empty() || line.starts_with('#')) continue;
        if (!header && line != vocabulary::kBucketHeader)
            throw base::DataError(fmt::format("its header is not '{}'", vocabulary::kBucketHeader));
        if (!std::exchange(header, true)) continue;
        const auto row = row_in(line, table.rows.size());
        if (!row)
            throw base::DataError(fmt::format("row {} is not of the form {}: '{}'",
                                              table.rows.size(), vocabulary::kBucketHeader,
                                              base::printable(line, 60)));
        elements += row->elements;
        table.rows.push_back(*row);
    }
    if (table.model.empty() || parameters < 1)
        throw base::DataError("it lacks the lines '# model: ...' and '# parameters: ...'");
    // A truncated table lacks rows.
    if (elements != parameters)
        throw base::DataError(fmt::format(
            "its rows hold {} elements, and the model has {} parameters", elements, parameters));
    return table;
}

BucketTable bucket_table(const std::string& name_or_file) {
    if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(kTableSuffix))
        return read_table(name_or_file);
    for (const auto& one : collectives::templates())
        if (one.name == name_or_file + std::string(kTableSuffix))
            return parse_bucket_table(std::string(one.text));
    const auto models = shipped_models();
    throw base::OptionError(
        fmt::format(
            "no gradient buckets of a model '{}'; give {}, or a file (with a / or ending in "
            ".csv){}",
            base::printable(name_or_file, 40), base::join(models, ", "),
            base::or_did_you_mean(name_or_file, models)),
        {kTableSetting});
}

}  // namespace ranklab::experiments
