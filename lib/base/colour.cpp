#include "base/colour.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace ranklab::base {

bool shows_colour(int descriptor) {
    const char* const none = std::getenv("NO_COLOR");
    const char* const kind = std::getenv("TERM");
    if (none != nullptr && *none != '\0') return false;
    // Open MPI gives each rank a terminal of its own, wherever mpirun's output goes.
    if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return false;
    return kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb" && isatty(descriptor) != 0;
}

}  // namespace ranklab::base
