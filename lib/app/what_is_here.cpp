#include "app/what_is_here.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <filesystem>

#include "app/libtorch_place.hpp"
#include "base/error.hpp"
#include "base/path_folders.hpp"
#include "base/program_beside.hpp"
#include "comm/mpi_environment.hpp"
#include "comm/nccl/offer.hpp"
#include "device/gpus.hpp"
#include "hdf5/file.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

struct Asked {
    std::string start;
    std::string path = {};
};

int note_path(dl_phdr_info* object, std::size_t, void* data) {
    auto& asked = *static_cast<Asked*>(data);
    if (fs::path(object->dlpi_name).filename().string().starts_with(asked.start))
        asked.path = object->dlpi_name;
    return 0;
}

// Of the loaded library whose file begins like that, with a comma before it; "" where none is.
std::string in_file(const std::string& start) {
    Asked asked{start};
    dl_iterate_phdr(note_path, &asked);
    std::error_code unknown;
    const fs::path whole = fs::weakly_canonical(asked.path, unknown);
    return asked.path.empty() ? "" : fmt::format(", {}", unknown ? asked.path : whole.string());
}

std::string libtorch() {
    const fs::path program = base::program_beside("ranklab-train");
    std::error_code unknown;
    if (!fs::exists(program, unknown)) return "not built in, so there is no ranklab train";
    return find_libtorch(program).text;
}

std::string mpi() {
    const std::string version = comm::MpiEnvironment::library_version();
    return version.substr(0, version.find(',')) + in_file("libmpi");
}

std::string cuda() {
    const std::string runtime = device::cuda_runtime_version();
    if (runtime.empty()) return "not built in, so nothing runs on a GPU";
    const auto list = device::list_gpus();
    const std::string gpus = list.gpus.empty()
                                 ? fmt::format("{}, so ranklab computes on the CPU", list.why_none)
                                 : fmt::format("{} GPU(s) seen", list.gpus.size());
    return fmt::format("runtime {}{}; {}", runtime, in_file("libcudart"), gpus);
}

// "2.28.9, PATH" of "NCCL 2.28.9 (PATH)".
std::string nccl() {
    try {
        const std::string text = comm::nccl_library_text();
        const auto version = text.find(' ') + 1, path = text.find(" (");
        if (path == std::string::npos) return text;
        return fmt::format("{}, {}", text.substr(version, path - version),
                           text.substr(path + 2, text.size() - path - 3));
    } catch (const base::Error& error) {
        return fmt::format("not found, so ranks talk over MPI alone ({})", error.what());
    }
}

std::string gnuplot() {
    std::error_code unknown;
    for (const auto& folder : base::path_folders())
        if (fs::exists(fs::path(folder) / "gnuplot", unknown)) return folder + "/gnuplot";
    return "not found, so ranklab report draws no pictures; their numbers are in its texts and pages all the "
           "same";
}

}  // namespace

std::vector<results::Fact> what_is_here() {
    return {{kFoundSection, "libtorch", libtorch()},
            {kFoundSection, "mpi", mpi()},
            {kFoundSection, "hdf5", hdf5::library_version() + in_file("libhdf5")},
            {kFoundSection, "cuda", cuda()},
            {kFoundSection, "nccl", nccl()},
            {kFoundSection, "glibc", gnu_get_libc_version()},
            {kFoundSection, "gnuplot", gnuplot()}};
}

}  // namespace ranklab::app
