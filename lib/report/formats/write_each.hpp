// Private to this room: a text for each of many runs, one run read while the one before is put into words.
#pragma once

#include <functional>
#include <string>

#include "report/model/chosen_runs.hpp"

namespace ranklab::report::formats {

/// text_of(run) of each, in the order stored, to the sink; both are called on another thread than the
/// caller's, one call at a time. At most a few runs are held. What a side throws ends both, and is thrown
/// here.
void write_each(const model::ChosenRuns& runs, results::Detail detail,
                const std::function<std::string(const results::Run&)>& text_of, const model::Sink& sink);

}  // namespace ranklab::report::formats
