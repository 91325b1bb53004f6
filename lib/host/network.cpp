// The network that a process uses.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>

#include "host/findings.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// The network component that a library contains ("btl tcp"); "" for other libraries.
std::string component_of(std::string_view library) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kParts{
        {{"mca_pml_", "pml "},
         {"mca_mtl_", "mtl "},
         {"mca_btl_", "btl "},
         {"libuct_", "UCX "},
         {"libfabric", "libfabric"},
         {"libnccl-net", "NCCL plug-in"},
         {"librccl-net", "RCCL plug-in"}}};
    for (const auto& [begin, part] : kParts)
        if (library.starts_with(begin))
            return fmt::format("{}{}", part, library.substr(begin.size()));
    constexpr std::string_view kBegin = "lib", kEnd = "-fi";  // lib<provider>-fi.so
    return library.starts_with(kBegin) && library.ends_with(kEnd)
               ? fmt::format(
                     "provider {}",
                     library.substr(kBegin.size(), library.size() - kBegin.size() - kEnd.size()))
               : "";
}

std::string loaded(const fs::path& root) {
    std::ifstream maps(root / "proc/self/maps");
    Names found;
    for (std::string line; std::getline(maps, line);) {
        const std::string name = line.substr(line.rfind('/') + 1);
        if (const auto end = name.find(".so"); end != std::string::npos)
            found.insert(component_of(name.substr(0, end)));
    }
    for (const char* none : {"", "btl self"}) found.erase(none);
    return fmt::format("{}", fmt::join(found, ", "));
}

// The paths in a folder; none if it cannot be read.
std::set<fs::path> entries(const fs::path& folder) {
    std::set<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator one(folder, error), end; !error && one != end; one.increment(error))
        found.insert(one->path());
    return found;
}

std::string opened_devices(const fs::path& root) {
    static constexpr std::array<std::string_view, 4> kDevices{"/dev/infiniband/", "/dev/cxi",
                                                              "/dev/hfi1", "/dev/psm"};
    Names found;
    for (const auto& link : entries(root / "proc/self/fd")) {
        std::error_code error;
        const std::string file = fs::read_symlink(link, error).string();
        if (std::ranges::any_of(kDevices, [&](auto begin) { return file.starts_with(begin); }))
            found.insert(file);
    }
    return fmt::format("{}", fmt::join(found, ", "));
}

// sysfs lists InfiniBand, RoCE, Omni-Path and EFA in class infiniband, Slingshot in class cxi.
std::string networks_up(const fs::path& root) {
    Names found;
    for (const auto& device : entries(root / "sys/class/infiniband"))
        for (const auto& port : entries(device / "ports")) {
            std::string state;  // "4: ACTIVE"
            std::getline(std::ifstream(port / "state"), state);
            if (state.ends_with("ACTIVE")) found.insert(device.filename().string());
        }
    for (const auto& device : entries(root / "sys/class/cxi"))
        found.insert(device.filename().string());
    return fmt::format("{}", fmt::join(found, ", "));
}

}  // namespace

std::string Network::text() const {
    const auto or_none = [](const std::string& names) { return names.empty() ? "none" : names; };
    return fmt::format("components loaded: {}; devices opened: {}; fast networks up: {}",
                       or_none(components), or_none(opened), or_none(up));
}

Network network_of_process(const fs::path& root) {
    return {host_name(), loaded(root), opened_devices(root), networks_up(root)};
}

}  // namespace ranklab::host
