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

UsedThing libtorch() {
    const fs::path program = base::program_beside("ranklab-train");
    std::error_code unknown;
    if (!fs::exists(program, unknown)) return {.rest = "not built in, so there is no ranklab train"};
    const auto place = find_libtorch(program);
    return {.version = place.version, .rest = place.text.substr(place.version.size())};
}

UsedThing mpi() {
    const std::string version = comm::MpiEnvironment::library_version();
    return {.version = version.substr(0, version.find(',')), .rest = in_file("libmpi")};
}

UsedThing cuda() {
    const std::string runtime = device::cuda_runtime_version();
    if (runtime.empty()) return {.rest = "not built in, so nothing runs on a GPU"};
    const auto list = device::list_gpus();
    const std::string gpus = list.gpus.empty()
                                 ? fmt::format("{}, so ranklab computes on the CPU", list.why_none)
                                 : fmt::format("{} GPU(s) seen", list.gpus.size());
    return {.version = "runtime " + runtime, .rest = fmt::format("{}; {}", in_file("libcudart"), gpus)};
}

// "2.28.9" and ", PATH" of "NCCL 2.28.9 (PATH)".
UsedThing nccl() {
    try {
        const std::string text = comm::nccl_library_text();
        const auto version = text.find(' ') + 1, path = text.find(" (");
        if (path == std::string::npos) return {.rest = text};
        return {.version = text.substr(version, path - version),
                .rest = ", " + text.substr(path + 2, text.size() - path - 3)};
    } catch (const base::Error& error) {
        return {.rest = fmt::format("not found, so ranks talk over MPI alone ({})", error.what())};
    }
}

UsedThing gnuplot() {
    std::error_code unknown;
    for (const auto& folder : base::path_folders())
        if (fs::exists(fs::path(folder) / "gnuplot", unknown)) return {.version = folder + "/gnuplot"};
    return {.rest =
                "not found, so ranklab report draws no pictures; their numbers are in its texts and pages "
                "all the same"};
}

UsedThing named(const char* name, UsedThing thing) {
    thing.name = name;
    return thing;
}

}  // namespace

results::Fact UsedThing::fact() const {
    return {"found", name, version + rest};
}

std::vector<UsedThing> what_is_here() {
    return {named("libtorch", libtorch()),
            named("mpi", mpi()),
            named("hdf5", {.version = hdf5::library_version(), .rest = in_file("libhdf5")}),
            named("cuda", cuda()),
            named("nccl", nccl()),
            named("glibc", {.version = gnu_get_libc_version()}),
            named("gnuplot", gnuplot())};
}

}  // namespace ranklab::app
