// Colours, where who reads can see them.
#pragma once

namespace ranklab::base {

/// Whether that file takes colours: a terminal that knows them, where NO_COLOR (https://no-color.org) does
/// not speak against it.
bool shows_colour(int descriptor);

}  // namespace ranklab::base
