// Single values of runs and of their stored tables.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/frame/frame.hpp"
#include "results/result_file.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::model {

/// The run's value of `key` as text; "" if it has none. A key is a setting ("model"), else a field
/// (id, command, label, version, git_revision, exit_code, cut_short, valid: 0 or 1, ranks, nodes),
/// else a fact ("host.kernel").
std::string value_of(const results::Run& run, const std::string& key);
/// Throws OptionError for a key or measurement that neither the vocabulary nor a run of the file
/// has. Nothing is refused if the file has no runs.
void refuse_unknown_keys(const std::vector<std::string>& keys, const results::ResultFile& file);
void refuse_unknown_measurements(const std::vector<std::string>& names,
                                 const results::ResultFile& file);

std::set<std::string> host_names(const results::Run& run);
/// The number of hosts; 0 if the run stored none.
inline std::size_t node_count(const results::Run& run) {
    return host_names(run).size();
}

/// The measurements of all commands that `where` shows.
std::vector<std::string> names_shown(vocabulary::Shown where);

bool is_rate(std::string_view measurement);
/// The value after the last epoch, since a median over epochs would describe a half-trained model;
/// without epochs the median. NaN if there is none.
double final_value(const results::Run& run, const std::string& measurement);

using results::rows_of;
using results::StoredRow;
/// The number, else the text; empty for NaN, or if there is no such column.
Cell cell_of(const StoredRow& row, std::string_view column);

/// The phases of a training step in the table `phases`, without the step itself: `per_hit_s` and
/// `percent` are means over ranks and counted steps, which add up to the mean step. (Measurements
/// of phases are maxima over ranks, which do not add up.)
std::vector<StoredRow> step_parts(const results::Run& run);

/// Whether forward and backward end on the GPU as soon as the host has launched their kernels.
bool waits_for_launches(const results::Run& run);

/// A stored table for people: units instead of endings of names, intervals joined with their
/// columns, without empty columns. Keeps `most` rows (of some tables the rows with the largest
/// values of one column); a note counts the other rows.
Frame frame_of(const results::Table& table, std::size_t most = SIZE_MAX);

/// A row per measurement of the run, except measurements of single messages, which are in the table
/// `messages`.
Frame measurements_of(const results::Run& run);

}  // namespace ranklab::report::model
