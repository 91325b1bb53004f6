#include "base/descriptor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace ranklab::base {
namespace {

bool path_is_wrong(int error) {
    return error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG || error == ELOOP;
}

std::string advice(int error, std::string_view option) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return fmt::format("there is no room for it; free some space or name another place with {}",
                               option);
        case EROFS:
            return fmt::format("the file system is read-only; name a writable place with {}", option);
        case EACCES:
        case EPERM:
            return fmt::format("you may not write there; name a writable place with {}", option);
        default:
            return fmt::format("name another place with {}", option);
    }
}

}  // namespace

void DescriptorTraits::close(type descriptor) noexcept {
    ::close(descriptor);
}

void throw_errno(const char* call, const std::filesystem::path& path, int error, std::string_view option) {
    const std::string sentence = fmt::format("{}: {} ({}: {})", path.string(), advice(error, option), call,
                                             std::generic_category().message(error));
    if (path_is_wrong(error)) throw OptionError(sentence);
    throw EnvironmentError(sentence);
}

}  // namespace ranklab::base
