#include "base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/wrap.hpp"

namespace ranklab::base {
namespace {

// Open MPI gives each rank a terminal of its own, wherever mpirun's output goes.
bool is_a_persons(int descriptor) {
    return std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && isatty(descriptor) != 0;
}

}  // namespace

bool obeys_sequences(int descriptor) {
    const char* const kind = std::getenv("TERM");
    return kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb" && isatty(descriptor) != 0;
}

bool shows_colour(int descriptor) {
    const char* const none = std::getenv("NO_COLOR");
    if (none != nullptr && *none != '\0') return false;
    return is_a_persons(descriptor) && obeys_sequences(descriptor);
}

std::size_t columns_of_terminal(int descriptor) {
    winsize size{};
    const bool told = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return told ? size.ws_col : kScreenColumns;
}

bool wraps_lines(int descriptor) {
    return is_a_persons(descriptor);
}

}  // namespace ranklab::base
