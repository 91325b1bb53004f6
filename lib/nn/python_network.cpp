// Networks of a Python file, through a plug-in: the program links no Python.
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/program.hpp"
#include "nn/own_network.hpp"

namespace ranklab::nn {
namespace {

// Starts Python at the first call.
const base::Plugin& python() {
    static const base::Plugin started = [] {
        base::Plugin plugin("libranklab_python.so");
        if (!plugin.is_open())
            throw base::EnvironmentError(
                fmt::format("networks in Python need ranklab's Python part, which cannot be loaded "
                            "({}); build ranklab where CMake finds Python.h and libpython, or "
                            "export the network as TorchScript",
                            plugin.why_not()),
                {"model"});
        try {
            plugin.function<void (*)()>("ranklab_start_python")();
        } catch (const base::DataError& error) {
            throw base::EnvironmentError(
                fmt::format("{}; activate the Python environment that has this torch",
                            error.what()),
                {"model"});
        }
        return plugin;
    }();
    return started;
}

}  // namespace

std::shared_ptr<const OwnFile> open_python(const std::string& path, const std::string& name) {
    // Never destroyed, as Python itself: its objects need a running Python.
    static auto& files = *new std::map<std::string, std::shared_ptr<const OwnFile>>;
    auto& file = files[path + ':' + name];
    if (file) return file;
    const auto open =
        python().function<OwnFile* (*)(const char*, const char*)>("ranklab_open_python_file");
    file.reset(open(path.c_str(), name.c_str()));
    return file;
}

}  // namespace ranklab::nn
