// Private to this room: where an axis has marks, and what stands at them, so that labels are few and short.
#pragma once

#include <string>
#include <vector>

namespace ranklab::report::figures {

/// gnuplot's command for axis "x" or "y"; "" where gnuplot's own are better. Those of `values` whose labels
/// have room beside each other.
std::string plain_tics(const char* axis, const std::vector<double>& values);
/// Of a logarithmic axis from `low` to `high` > 0: powers of ten, or 1, 2, 5, 10, ... where those are few, in
/// the unit that people read.
std::string decimal_tics(const char* axis, double low, double high, const std::string& unit);
/// Of a logarithmic axis of bytes: at most five powers of two, "64 KiB", "1 MiB".
std::string byte_tics(const char* axis, double low, double high);
/// In gnuplot's single quotes, where nothing else means anything, on one line.
std::string gnuplot_quoted(std::string_view text);

}  // namespace ranklab::report::figures
