// Private to this room.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "report/model/chosen_runs.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {

/// text_of(run) of each, in the order stored, to the sink: one run is put into words, on another thread,
/// while the next one is read. What a side throws ends both, and is thrown here.
void write_each(const model::ChosenRuns& runs, results::Detail detail,
                const std::function<std::string(const results::Run&)>& text_of, const model::Sink& sink);

/// "train/mnist-cnn/ddp/bucketed", "io/mpi-send/files:15/size:100": what is run, without how much of it. The
/// precision and the device stand in it where they are not fp32 and cpu, the data set where it is another
/// than synthetic. Spaces become '_'.
std::string workload_name(const results::Run& run);

/// The same with "/ranks:2" and the batch of each rank or the worker processes: runs of one name are
/// repetitions.
std::string configuration_name(const results::Run& run);

/// A cost in s or us that is a time, and no difference of times.
bool is_time(const results::Measurement& measurement);

/// "m +- h", each divided: the median and the longer side of its 95 % interval.
std::string with_half_width(const stats::Summary& summary, double divisor);
/// The two lines of throughput_samples_per_s that run_text describes; "" where it has none.
std::string rate_lines(const results::Run& run);
/// After the last epoch, of what each rank holds the same; a median over epochs would be that of a
/// half-trained model. NaN where nothing is known.
double last_value(const results::Run& run, std::string_view measurement);

/// Four significant digits of a number as large as `scale`, at least `fewest` behind the point, never an
/// exponent.
std::string plain(double value, double scale, double fewest);
/// "n/a" for NaN.
std::string plain(double value);

/// A stored table under its title, texts flush left, at most so many rows: what stands in its heads and cells
/// is what these say.
std::string stored_table(const results::Table& table, const std::string& title, std::size_t most_rows,
                         const model::HowTo& how_to,
                         const std::function<std::string(const std::string& column)>& head_of,
                         const std::function<std::string(const results::Column&, std::size_t row)>& cell_of);

/// benchy's summary lines, as its scripts look for them; "" for runs without an ablation.
std::string benchy_lines(const results::Run& run);

bool is_io(const results::Run& run);

/// One line: the rung, the records and their bytes, the ranks and workers.
std::string io_records(const results::Run& run);

/// A line a rate, storage in MiB/s with MB/s (1e6) in brackets, and below it what memory has to do with it;
/// where the files lay. "" where none was measured.
std::string io_rates(const results::Run& run);

/// The tables whose columns mean something to a reader of the ladder, units in the heads, marks as footnotes;
/// nothing for a table of another name. Of a run that is not valid the ladder shows rates of verified rows
/// only; it ends in what it says of how to write.
std::optional<std::string> io_table(const results::Run& run, const results::Table& table,
                                    const model::HowTo& how_to);

}  // namespace ranklab::report::formats
