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

const char* advice(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return "there is no room for it; free some space or name another place";
        case EROFS:
            return "the file system is read-only; name a writable place";
        case EACCES:
        case EPERM:
            return "you may not write there; name a writable place";
        default:
            return "it cannot be written there; name another place";
    }
}

}  // namespace

void DescriptorTraits::close(type descriptor) noexcept {
    ::close(descriptor);
}

void throw_errno(const char* call, const std::filesystem::path& path, int error, const char* setting) {
    const std::string sentence = fmt::format("{}: {} ({}: {})", path.string(), advice(error), call,
                                             std::generic_category().message(error));
    if (path_is_wrong(error)) throw OptionError(sentence, {setting});
    throw EnvironmentError(sentence, {setting});
}

}  // namespace ranklab::base
