// A run as plain structs: experiments fill it, ResultFile writes it, report reads it.
// docs/results.md has the file's form.
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

#include "hdf5/table.hpp"
#include "stats/summary.hpp"
#include "vocabulary/measurements.hpp"
#include "vocabulary/names.hpp"
#include "vocabulary/tables.hpp"

namespace ranklab::results {

using vocabulary::Kind;
std::string kind_name(Kind kind);

struct Measurement {
    std::string name;  ///< the interface's name, with its unit ("step_time_s")
    std::string unit;  ///< "s", "samples/s", "B", "1"
    Kind kind = Kind::cost;
    std::string rank_reduction;   ///< how `summary` folds ranks: "max", "sum", "mean" or "none"
    std::string axis;             ///< what a row of `samples` is: "step", "epoch", "run"
    std::size_t columns = 1;      ///< 1, or one per rank
    std::vector<double> samples;  ///< row-major [rows, columns]; counted rows only
    std::vector<double> warmup;   ///< same columns; recorded, not in `summary`
    stats::Summary summary;       ///< over rows, after folding the ranks of each row

    /// Counted ones.
    std::size_t rows() const { return samples.size() / std::max<std::size_t>(1, columns); }
    /// The largest of each counted row.
    std::vector<double> largest_of_rows() const { return largest_of(samples); }
    /// The largest value of each row of `rows`, which has as many columns.
    std::vector<double> largest_of(const std::vector<double>& rows) const;
};

using Column = hdf5::Column;  ///< named with its unit where it has one

/// A table of the experiment; all columns have equal length.
struct Table {
    std::string name;
    std::vector<Column> columns;

    /// The values of that column; nullptr where there is none, or it holds another type.
    template <class T>
    const std::vector<T>* find(const std::string& column) const {
        for (const auto& one : columns) {
            if (one.name == column) return std::get_if<std::vector<T>>(&one.values);
        }
        return nullptr;
    }
};

struct HostRow {
    int rank = 0;
    int local_rank = 0;
    std::string host;
    std::string cpus;    ///< the rank's cpuset, "0-3,8"
    std::string device;  ///< "cpu" or the GPU's name
    // Older programs did not store these.
    int threads = 0;  ///< that compute; 0: not stored
    /// The physical cores of its cpuset, each by its lowest CPU, "0-1"; "": not stored.
    std::string cores = {};
};

/// One effective option. `number` says that the value is written bare in JSON.
struct Setting {
    std::string key;
    std::string value;
    bool number = false;
};

/// One fact of the surroundings; context_json is {section: {key: value}}.
struct Fact {
    std::string section;
    std::string key;
    std::string value;
};

/// The facts of a run in a list of runs.
struct RunHeader {
    std::string id;  ///< 20261121T101500Z-3f9a1c
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

    /// Returns nullptr where there is none of that name.
    const Measurement* find(std::string_view name) const;
    const Table* find_table(std::string_view name) const;
    /// The effective option of that name; "" where there is none.
    std::string setting(std::string_view key) const;
    /// The value of a fact in the context. For a run of an older version, which did not store what
    /// a catalogue entry can do, the value that its options imply; "" if there is none.
    std::string fact(std::string_view section, std::string_view key) const;
    std::string fact(const vocabulary::FactName& name) const {
        return fact(name.section, name.key);
    }
    /// Whether the fact is "yes".
    bool says(const vocabulary::FactName& name) const { return fact(name) == "yes"; }
    void add_fact(const vocabulary::FactName& name, std::string value);
    /// The median of that measurement; NaN where there is none.
    double median(std::string_view name) const;
    /// The verdict of the table `verification`: "yes" where all checks that apply passed, "NO"
    /// where the first that did not pass failed, otherwise that one's result ("not verified").
    std::string verified() const;
    /// Why its measurements are incomplete: "time limit", a signal ("SIGTERM"), "not complete"
    /// where its job ended without it (kNotComplete); "" where they are complete.
    std::string cut_short() const;
};

/// How the first warning begins of a run that its job did not finish.
inline constexpr std::string_view kNotComplete = "the run is NOT COMPLETE: ";

/// Makes a run id: the UTC start and 24 random bits from the system, so that ids of jobs that start
/// in the same second differ.
std::string make_run_id(std::int64_t unix_seconds);

class Rows {
  public:
    using Value = std::variant<double, std::int64_t, std::string>;

    /// Rows of the table of that name (vocabulary/tables.hpp). Throws Error where there is none.
    explicit Rows(std::string_view table);

    /// Adds a value for each column, in their order and of their types. Throws Error for anything
    /// else: a bug.
    void add(std::initializer_list<Value> row);

    std::size_t size() const { return rows_; }
    /// With all its columns, also where it has no row.
    Table table() && { return std::move(table_); }

  private:
    Table table_;
    std::size_t rows_ = 0;
};

}  // namespace ranklab::results
