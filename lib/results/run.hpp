// A run as plain structs, with its tables: experiments fill it, ResultFile stores it, report reads
// it. docs/results.md describes the file format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hdf5/array.hpp"
#include "stats/summary.hpp"
#include "vocabulary/measurements.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::results {

using Column = hdf5::Column;  ///< the name ends in the unit, if there is one

/// All columns have equal length.
struct Table {
    std::string name;
    std::vector<Column> columns;

    /// Returns nullptr if there is no such column.
    const Column* column(std::string_view column_name) const;
    /// The column's values; nullptr if there is no such column, or it has a different type.
    template <class T>
    const std::vector<T>* find(std::string_view column_name) const {
        const Column* const one = column(column_name);
        return one == nullptr ? nullptr : std::get_if<std::vector<T>>(&one->values);
    }
};

/// Builds a table of vocabulary/tables.hpp row by row. Throws Error for a name, number or type of
/// values that the vocabulary does not have: a bug.
class Rows {
  public:
    using Value = std::variant<double, std::int64_t, std::string>;

    explicit Rows(std::string_view table);

    void add(std::initializer_list<Value> row);

    std::size_t size() const { return rows_; }
    /// With all columns, even without rows.
    Table table() && { return std::move(table_); }

  private:
    Table table_;
    std::size_t rows_ = 0;
};

/// A row of a stored table, which must outlive it.
struct StoredRow {
    const Table* table = nullptr;
    std::size_t row = 0;

    /// NaN if there is no such column or number.
    double number(std::string_view column) const;
    /// "" if there is no such column.
    std::string text(std::string_view column) const;
};

std::vector<StoredRow> rows_of(const Table& table);

using vocabulary::Kind;
std::string kind_name(Kind kind);

struct Measurement {
    std::string name;  ///< as in the vocabulary, with its unit ("step_time_s")
    std::string unit;  ///< "s", "samples/s", "B", "1"
    Kind kind = Kind::cost;
    std::string rank_reduction;   ///< of the ranks' values: "max", "sum", "mean" or "none"
    std::string axis;             ///< what a row is: "step", "epoch", "run"
    std::size_t columns = 1;      ///< 1, or one per rank
    std::vector<double> samples;  ///< row-major [rows, columns], without warm-up
    std::vector<double> warmup;   ///< the same of the warm-up
    stats::Summary summary;       ///< over the rows of `samples`, reduced over ranks

    std::size_t rows() const { return samples.size() / std::max<std::size_t>(1, columns); }
    /// The largest value of each row of `samples`.
    std::vector<double> largest_of_rows() const { return largest_of(samples); }
    /// The largest value of each row of `rows`, which has the same columns.
    std::vector<double> largest_of(const std::vector<double>& rows) const;
};

/// The numbers of a summary beside n, with their names in the results file and in exports.
struct SummaryField {
    const char* name;
    double& (*of)(stats::Summary& summary);
};
inline constexpr SummaryField kSummaryFields[] = {
    {"median", [](stats::Summary& s) -> double& { return s.median; }},
    {"mean", [](stats::Summary& s) -> double& { return s.mean; }},
    {"min", [](stats::Summary& s) -> double& { return s.min; }},
    {"max", [](stats::Summary& s) -> double& { return s.max; }},
    {"p95", [](stats::Summary& s) -> double& { return s.p95; }},
    {"p99", [](stats::Summary& s) -> double& { return s.p99; }},
    {"ci95_low", [](stats::Summary& s) -> double& { return s.ci95.low; }},
    {"ci95_high", [](stats::Summary& s) -> double& { return s.ci95.high; }}};

/// The result of a check in the table `verification`.
enum class CheckOutcome { passed, failed, not_verified, does_not_apply };
std::string_view text_of(CheckOutcome outcome);

struct HostRow {
    int rank = 0;
    int local_rank = 0;
    std::string host;
    std::string cpus;        ///< the rank's cpuset, "0-3,8"
    std::string device;      ///< "cpu" or the GPU's name
    int threads = 0;         ///< compute threads; 0: not stored by an older version
    std::string cores = {};  ///< physical cores, each by its lowest CPU; "": not stored
};

/// One effective option.
struct Setting {
    std::string key;
    std::string value;
    bool number = false;  ///< written without quotes in JSON
};

/// One fact of the context, such as host.cpu.
struct Fact {
    std::string section;
    std::string key;
    std::string value;
};

/// What a list of runs shows.
struct RunHeader {
    std::string id;  ///< 20261121T101500Z-3f9a1c0d5b7e2468
    std::string command;
    std::string label;
    std::string started_utc;
    bool valid = true;
    int exit_code = 0;
};

struct Run : RunHeader {
    std::string argv;  ///< the command line, shell-quoted
    double duration_s = 0;
    std::string version;
    std::string git_revision;
    std::vector<Setting> config;
    std::vector<Fact> context;
    std::vector<std::string> warnings;
    std::vector<HostRow> hosts;
    std::vector<Measurement> measurements;
    std::vector<Table> tables;

    /// find() and find_table() return nullptr for an unknown name.
    const Measurement* find(std::string_view name) const;
    const Table* find_table(std::string_view name) const;
    /// The effective option; "" if there is none.
    std::string setting(std::string_view key) const;
    /// The value of a fact in the context. If an older version did not store the fact, the value
    /// that the run's options imply; "" if there is none.
    std::string fact(std::string_view section, std::string_view key) const;
    std::string fact(const vocabulary::FactName& name) const {
        return fact(name.section, name.key);
    }
    /// Whether the fact begins with this word.
    bool says(const vocabulary::FactName& name,
              vocabulary::FactWord word = vocabulary::FactWord::yes) const;
    /// `details`: stored after the word.
    void add_fact(const vocabulary::FactName& name, vocabulary::FactWord word,
                  std::string_view details = "");
    /// The median of the measurement; NaN if there is none.
    double median(std::string_view name) const;
    std::vector<CheckOutcome> check_outcomes() const;
    /// failed if a check failed, passed if all checks that apply passed, else not_verified.
    CheckOutcome verified() const;
    /// For people: "yes", "NO" or "not verified".
    std::string verified_text() const;
    /// Marks a run whose job ended too early; `progress` says how far the run came.
    void mark_incomplete(const std::string& progress);
    /// Why the measurements are incomplete: "time limit", a signal ("SIGTERM"), "not complete"; ""
    /// if they are complete.
    std::string cut_short() const;
};

/// The rows of the run's table of that name; none if it lacks the table.
std::vector<StoredRow> rows_of(const Run& run, std::string_view table);

/// Makes a run id: the UTC start and 64 random bits, so that runs that start in the same second
/// differ.
std::string make_run_id(std::int64_t unix_seconds);

/// A run's configuration, context and warnings as JSON, as the results file stores them. Bytes that
/// are not UTF-8 become U+FFFD.
///
/// {"key": value}. A Setting::number is written without quotes, or as null if it is NaN, infinite
/// or no number. The later of two settings with the same key counts.
std::string config_to_json(const std::vector<Setting>& config);
/// {"section": {"key": "value"}}.
std::string context_to_json(const std::vector<Fact>& context);
/// ["sentence", ...].
std::string warnings_to_json(const std::vector<std::string>& warnings);

/// Parse what the functions above return. Numbers come back in JSON's shortest form ("1e-3" as
/// "0.001"), null as "nan". Throw DataError for other JSON.
std::vector<Setting> config_from_json(const std::string& text);
std::vector<Fact> context_from_json(const std::string& text);
std::vector<std::string> warnings_from_json(const std::string& text);

}  // namespace ranklab::results
