// The form of the first screen. Private to this room.
#pragma once

#include <string>
#include <string_view>

#include "report/formats/formats.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::formats {

/// "  name          value", on as many lines of 80 columns as it takes; "" without a value.
std::string screen_line(std::string_view name, std::string_view value);

enum class Tone { bad, doubtful };
/// The same text with that word, where it first stands, in colour, where the screen has colours.
std::string painted(std::string text, std::string_view word, Tone tone, const Screen& screen);

/// "538.3 ms": four digits in a unit that a person reads; "n/a" for none.
std::string readable_time(double seconds);
/// "538.3 ms, 95 % interval 133.8 .. 4264 ms", or why there is none.
std::string readable_time(const stats::Summary& seconds);

/// The same of a run's time, and how many samples it is over; "" where it has none.
std::string counted_time(const results::Run& run, std::string_view measurement);

/// "83 %", "0.4 %".
std::string readable_percent(double percent);

/// What a valid run came to and what limited it, without what was verified and what to beware of.
std::string answer_lines(const results::Run& run);

/// That an invalid run is one, and why.
std::string invalid_text(const results::Run& run, const Screen& screen = {});
/// Of a run without an interval of its overlap, a clause.
std::string why_no_overlap(const results::Run& run);

/// What was checked: "yes: a, b", "NO: c (why)"; "" where nothing is known.
std::string verification_text(const results::Run& run);

/// What the answer of a run of `io`, or of the comparison of several runs, has in place of that of `train`;
/// "" for other runs.
std::string io_answer(const results::Run& run);
std::string comm_answer(const results::Run& run);
std::string comparison_answer(const results::Run& run);
/// Of a run of `comm`, also of an invalid one, whose wrong elements it shows: nccl-tests' table, what started
/// operations hide, a model's buckets.
std::string comm_tables(const results::Run& run);
/// Its first line; the tables of the report say the rest.
std::string comparison_line(const results::Run& run);
/// The same on one line.
std::string io_headline(const results::Run& run);
std::string comm_headline(const results::Run& run);
std::string comparison_headline(const results::Run& run);

}  // namespace ranklab::report::formats
