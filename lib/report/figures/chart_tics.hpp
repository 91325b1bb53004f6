// Private to this room: where an axis has marks, and what stands at them, so that labels are few and short.
#pragma once

#include <string>
#include <vector>

namespace ranklab::report::figures {

struct Tic {
    double at = 0;
    std::string text;
};

/// Those of `values` whose labels have room beside each other: on long lists the first, the last and some
/// between.
std::vector<Tic> plain_tics(const std::vector<double>& values);
/// Of a logarithmic axis from `low` to `high` > 0: powers of ten, or 1, 2, 5, 10, ... where those are few.
std::vector<Tic> decimal_tics(double low, double high);
/// The same for seconds: "20 us", "1 ms".
std::vector<Tic> second_tics(double low, double high);
/// Of a logarithmic axis of bytes: at most five powers of two, "64 KiB", "1 MiB".
std::vector<Tic> byte_tics(double low, double high);

/// gnuplot's command for axis "x" or "y"; "" without tics, which leaves gnuplot its own.
std::string axis_tics(const char* axis, const std::vector<Tic>& tics);

}  // namespace ranklab::report::figures
