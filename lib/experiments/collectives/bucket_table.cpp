#include "experiments/collectives/bucket_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bucket_lines.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/one_line.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "experiments/collectives/templates.hpp"

namespace ranklab::experiments {
namespace {

constexpr const char* kTableSetting = "from-model";
constexpr std::string_view kTableSuffix = ".csv";
// More is no such table: one row a parameter of the largest networks takes some 100 KB.
constexpr std::size_t kMostTableBytes = std::size_t{4} << 20;
constexpr std::int64_t kMostElements = 1'000'000'000'000;  // of a row; the sum over all rows is a number, too
constexpr std::size_t kColumns = 5;

std::int64_t whole_number(const std::string& cell, const char* column) {
    const auto value = base::number_in<std::int64_t>(cell);
    if (value && *value >= 1 && *value <= kMostElements) return *value;
    throw base::DataError(
        fmt::format("its {} '{}' are no whole number from 1 to 10^12", column, base::printable(cell, 40)));
}

BucketRow row_in(std::string_view line, std::size_t number) {
    const auto cells = base::split(line, ',');
    if (cells.size() != kColumns)
        throw base::DataError(fmt::format("it has {} columns, not {}", cells.size(), kColumns));
    if (cells[0] != fmt::format("{}", number))
        throw base::DataError(fmt::format("its bucket is '{}'", base::printable(cells[0], 40)));
    const auto type = base::element_named(cells[3]);
    if (!type || !base::is_floating(*type))
        throw base::DataError(fmt::format("its dtype '{}' is none of fp32, fp16, bf16 and fp64",
                                          base::printable(cells[3], 40)));
    const BucketRow row{.parameters = whole_number(cells[1], "parameters"),
                        .elements = whole_number(cells[2], "elements"),
                        .dtype = *type,
                        .bytes = whole_number(cells[4], "bytes")};
    const auto size = static_cast<std::int64_t>(base::size_of(*type));
    if (row.bytes != row.elements * size)
        throw base::DataError(fmt::format("{} elements of {} are {} bytes, and it has {}", row.elements,
                                          cells[3], row.elements * size, row.bytes));
    return row;
}

// What a comment says: the rest of "# model: resnet50".
std::optional<std::string> said(std::string_view line, std::string_view name) {
    const std::string begin = fmt::format("# {}: ", name);
    if (!line.starts_with(begin)) return std::nullopt;
    return std::string(line.substr(begin.size()));
}

class TableReader {
  public:
    void read(std::string_view line) {
        if (line.starts_with('#')) return read_comment(line);
        if (!header_) {
            if (line != base::kBucketHeader)
                throw base::DataError(fmt::format("its header is not '{}'", base::kBucketHeader));
            header_ = true;
            return;
        }
        try {
            table_.rows.push_back(row_in(line, table_.rows.size()));
        } catch (base::DataError& error) {
            error.add_context(fmt::format("row {}", table_.rows.size()));
            throw;
        }
    }
    // One that was cut short lacks rows, and the sum of their elements is not that of the model.
    BucketTable finish() {
        if (!parameters_ || table_.model.empty())
            throw base::DataError("it does not say its model and parameters (lines '# model: ...')");
        std::int64_t sum = 0;
        for (const auto& row : table_.rows) sum += row.elements;
        if (sum != *parameters_ || sum == 0)
            throw base::DataError(
                fmt::format("its buckets hold {} elements, and the model has {} parameters: "
                            "rows are missing, or too many",
                            sum, *parameters_));
        return std::move(table_);
    }

  private:
    void read_comment(std::string_view line) {
        if (const auto model = said(line, "model")) table_.model = base::one_line(*model);
        if (const auto parameters = said(line, "parameters"))
            parameters_ = base::number_in<std::int64_t>(*parameters);
    }

    BucketTable table_;
    std::optional<std::int64_t> parameters_;
    bool header_ = false;
};

BucketTable read_table(const std::string& path) {
    std::string text;
    const auto file = base::open_regular<base::DataError>(path, O_RDONLY);
    if (!file || !base::read_up_to(file, kMostTableBytes + 1, text))
        throw base::DataError(fmt::format("{} cannot be read ({}); name another table", base::one_line(path),
                                          std::strerror(errno)),
                              {kTableSetting});
    try {
        return parse_bucket_table(text);
    } catch (const base::DataError& error) {
        throw base::DataError(
            fmt::format("{} is no table of gradient buckets: {}; write one by `ranklab train "
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
    if (!text.starts_with(base::kBucketTitle))
        throw base::DataError(fmt::format("its first line is not '{}'", base::kBucketTitle));
    TableReader reader;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line(text.data() + at, end - at);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty()) reader.read(line);
        at = end + 1;
    }
    return reader.finish();
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
            "there are no gradient buckets of a model '{}' here: there are those of {}, and of a file "
            "(a name with a / or with .csv at its end){}",
            base::printable(name_or_file, 40), base::join(models, ", "),
            base::or_did_you_mean(name_or_file, models)),
        {kTableSetting});
}

}  // namespace ranklab::experiments
