#include "base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace ranklab::base {
namespace {

bool begins_letter(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, begins_letter));
}

std::string wrapped(std::string_view head, std::string_view text, std::size_t columns) {
    const std::string indent(columns_of(head), ' ');
    std::istringstream words{std::string(text)};
    std::string all, line(head);
    bool empty = true;
    for (std::string word; words >> word; empty = false) {
        if (!empty && columns_of(line) + 1 + columns_of(word) > columns) {
            all += line + '\n';
            line = indent + word;
        } else {
            line += (empty ? "" : " ") + word;
        }
    }
    return all + line + '\n';
}

std::string shortened(std::string_view text, std::size_t columns) {
    if (columns_of(text) <= columns) return std::string(text);
    constexpr std::string_view kRest = "...";
    std::string kept;
    std::size_t width = 0;
    for (const char byte : text) {
        if (begins_letter(byte) && ++width + kRest.size() > columns) break;
        kept += byte;
    }
    return kept.append(kRest.substr(0, std::min(kRest.size(), columns)));
}

bool obeys_sequences(int descriptor) {
    const char* const kind = std::getenv("TERM");
    return kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb" &&
           isatty(descriptor) != 0;
}

// Open MPI connects each rank to a pseudo-terminal, even if mpirun's output goes to a file.
bool shows_colour(int descriptor) {
    const char* const none = std::getenv("NO_COLOR");
    if (none != nullptr && *none != '\0') return false;
    return std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && obeys_sequences(descriptor);
}

std::size_t columns_of_terminal(int descriptor) {
    winsize size{};
    const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : kScreenColumns;
}

}  // namespace ranklab::base
