// What the terminal of who reads can show.
#pragma once

#include <cstddef>

namespace ranklab::base {

/// Whether that file is a terminal that obeys control sequences; one of TERM=dumb, or of no TERM, shows them.
bool obeys_sequences(int descriptor);

/// Whether that file takes colours: a terminal that knows them, where NO_COLOR (https://no-color.org) does
/// not speak against it.
bool shows_colour(int descriptor);

/// How wide that file's terminal is; kScreenColumns where it does not say.
std::size_t columns_of_terminal(int descriptor);

/// Whether lines are to end where that terminal does: false of a file or a pipe, which others read.
bool wraps_lines(int descriptor);

}  // namespace ranklab::base
