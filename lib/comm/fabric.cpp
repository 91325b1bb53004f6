#include "comm/fabric.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "comm/launcher.hpp"

namespace ranklab::comm {

namespace fs = std::filesystem;

bool fabric_device_here() {
    std::error_code error;
    if (fs::exists("/sys/class/infiniband", error) && !fs::is_empty("/sys/class/infiniband", error))
        return true;
    for (fs::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        for (const std::string_view device : {"hfi1", "ipath", "cxi", "kgni", "bxi"})
            if (name.starts_with(device)) return true;
    }
    return bool(error);  // who cannot look does not know
}

bool may_skip_cm(const std::function<const char*(const char*)>& lookup, bool fabric_here) {
    for (const char* said : {"OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_mca_base_param_files"})
        if (lookup(said) != nullptr) return false;
    if (fabric_here) return false;
    const char* all = lookup("OMPI_COMM_WORLD_SIZE");
    const char* local = lookup("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (all == nullptr) return !has_task_environment(lookup);
    return local != nullptr && std::strcmp(all, local) == 0;
}

void skip_cm_without_fabric() {
    const auto environment = [](const char* name) -> const char* { return std::getenv(name); };
    // The variable overrules the system's file of parameters, which names ucx on some: UCX starts a thread of
    // its own, and is unloaded again where it finds no device.
    if (may_skip_cm(environment, fabric_device_here())) setenv("OMPI_MCA_pml", "^cm,ucx", 0);
}

}  // namespace ranklab::comm
