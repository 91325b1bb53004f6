// Private to this room: the parts of the answer.
#pragma once

#include <string>

#include "report/formats/formats.hpp"

namespace ranklab::report::formats {

enum class Tone { bad, doubtful };
/// The same text with that word, where it first stands, in colour, where the screen has colours.
std::string painted(std::string text, std::string_view word, Tone tone, const Screen& screen);

/// What was checked: "yes: a, b", "NO: c (why)"; "" where nothing is known.
std::string verification_text(const results::Run& run);
/// "33.2 ms (32.9 .. 33.5), 50 counted"; "" where the run has no such time.
std::string counted_time(const results::Run& run, std::string_view measurement);
/// benchy's summary lines, as its scripts look for them; "" for runs without an ablation.
std::string benchy_lines(const results::Run& run);
/// What limits a training step.
std::string limit_text(const results::Run& run);

/// Of `ranklab comm`: a latency and a bandwidth sentence and the messages; the line of the result.
std::string comm_answer(const results::Run& run);
std::string comm_result(const results::Run& run);
/// Of one strategy of `ranklab io`, and of a ladder of several.
std::string io_answer(const results::Run& run);
std::string io_result(const results::Run& run);
/// Of a run that compares strategies; "" of any other.
std::string io_verification(const results::Run& run);

}  // namespace ranklab::report::formats
