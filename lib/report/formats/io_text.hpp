// Private to this room: what the text report says of a run of `ranklab io` only.
#pragma once

#include <optional>
#include <string>

#include "results/run.hpp"

namespace ranklab::report::formats {

bool is_io(const results::Run& run);

/// One line: the rung, the records and their bytes, the ranks and workers.
std::string io_records(const results::Run& run);

/// A line a rate, storage in MiB/s with MB/s (1e6) in brackets; "" where none was measured.
std::string io_rates(const results::Run& run);

/// The tables whose columns mean something to a reader of the ladder, units in the heads, marks as footnotes;
/// nothing for a table of another name. Of a run that is not `valid` the ladder shows rates of verified rows
/// only.
std::optional<std::string> io_table(const results::Table& table, bool valid);

}  // namespace ranklab::report::formats
