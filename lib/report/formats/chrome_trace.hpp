// Steps and their phases as Chrome's Trace Event Format, which Perfetto and chrome://tracing open.
#pragma once

#include <cstddef>

#include "report/model/chosen_runs.hpp"

namespace ranklab::report::formats {

/// Of each run that stored samples, the first `most_steps` counted steps (repetitions of io): a process is a
/// run on a host, a thread a rank, a complete event a step or one of its phases. What the file holds are
/// durations: a rank's steps are set one after another, without what lies between them, and the phases inside
/// a step in their usual order, without gaps; the metadata says so. Of everything the newest run alone is
/// drawn.
void write_chrome_trace(const model::ChosenRuns& runs, std::size_t most_steps, const model::Sink& sink);

}  // namespace ranklab::report::formats
