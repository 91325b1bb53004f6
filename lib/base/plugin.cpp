#include "base/plugin.hpp"

#include <dlfcn.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::base {

Plugin::Plugin(std::string file)
    : file_(std::move(file)), handle_(dlopen(file_.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    const char* const why = handle_ == nullptr ? dlerror() : nullptr;
    if (why != nullptr) why_not_ = printable(why, 300);
}

void* Plugin::symbol(const char* name) const {
    void* const symbol = handle_ == nullptr ? nullptr : dlsym(handle_, name);
    if (symbol == nullptr)
        throw Error(fmt::format("internal: {} has no {}; build ranklab again", file_, name));
    return symbol;
}

}  // namespace ranklab::base
