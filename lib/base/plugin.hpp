// A library of ranklab's own that a program loads when a run needs it.
#pragma once

#include <string>

namespace ranklab::base {

/// Never closed, since LibTorch's libraries cannot be unregistered.
class Plugin {
  public:
    /// `file` lies in lib/ next to bin/, found by the programs' rpath. Its symbols, and those of
    /// the libraries that it links, are visible to what is loaded later.
    explicit Plugin(std::string file);

    bool is_open() const { return handle_ != nullptr; }
    /// Why it is not open, in one line.
    const std::string& why_not() const { return why_not_; }

    /// Throws Error if the library has no such function: a bug.
    template <class Function>
    Function function(const char* name) const {
        // POSIX allows calling dlsym's result; C++ needs reinterpret_cast for that.
        return reinterpret_cast<Function>(symbol(name));
    }

  private:
    void* symbol(const char* name) const;

    std::string file_, why_not_;
    void* handle_ = nullptr;
};

}  // namespace ranklab::base
