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

const char* reading_advice(int error) {
    return error == EACCES || error == EPERM
               ? "you may not read it; ask its owner for the right, or name another"
               : "it cannot be read; name another";
}

[[noreturn]] void refuse(const char* call, const std::filesystem::path& path, int error, const char* what,
                         const Settings& settings) {
    const std::string sentence =
        fmt::format("{}: {} ({}: {})", path.string(), what, call, std::generic_category().message(error));
    if (path_is_wrong(error)) throw OptionError(sentence, settings);
    throw EnvironmentError(sentence, settings);
}

}  // namespace

void DescriptorTraits::close(type descriptor) noexcept {
    ::close(descriptor);
}

void throw_errno(const char* call, const std::filesystem::path& path, int error, const char* setting) {
    refuse(call, path, error, advice(error), {setting});
}

void throw_read_errno(const char* call, const std::filesystem::path& path, int error, const char* setting) {
    refuse(call, path, error, reading_advice(error), setting == nullptr ? Settings{} : Settings{setting});
}

}  // namespace ranklab::base
