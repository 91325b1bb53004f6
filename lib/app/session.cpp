#include "app/session.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <limits>

#include "app/guarded.hpp"
#include "app/printing.hpp"
#include "app/version.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"
#include "device/gpus.hpp"
#include "hdf5/file.hpp"
#include "host/facts.hpp"
#include "host/topology.hpp"

namespace ranklab::app {
namespace {

// A slow file system or a crowded machine, where --stall-timeout is meant for the work.
constexpr double kShortestStart = 15;

double limit_of_start(double stall_timeout_s) {
    return stall_timeout_s > 0 ? std::max(stall_timeout_s, kShortestStart) : 0;
}

std::string gpu_text(const device::GpuList& list) {
    if (list.gpus.empty()) return "none: " + list.why_none;
    std::vector<std::string> names;
    for (const auto& gpu : list.gpus) names.push_back(fmt::format("{} [{}]", gpu.name, gpu.pci_id));
    return base::join(names, "; ");
}

// The log names the rank, as far as the launcher tells it, before MPI does.
host::StartUp loaded() {
    if (const auto rank = comm::read_launcher().rank) base::log::set_rank(*rank, host::host_name());
    host::StartUp start_up;
    start_up.done("loading the program");
    return start_up;
}

host::OwnGpu own_gpu(const device::GpuList& list, int local_rank) {
    if (list.gpus.empty()) return {};
    const auto& gpu =
        list.gpus[static_cast<std::size_t>(device::gpu_of(local_rank, static_cast<int>(list.gpus.size())))];
    return {.name = gpu.name, .uuid = gpu.uuid, .pci_id = gpu.pci_id, .cpus = host::cpus_near(gpu.pci_id)};
}

std::vector<std::string> libraries() {
    std::vector<std::string> names{comm::MpiEnvironment::library_version(),
                                   "HDF5 " + hdf5::library_version()};
    const auto cuda = device::cuda_runtime_version();
    if (!cuda.empty()) names.push_back("CUDA runtime " + cuda);
    return names;
}

}  // namespace

Session::Session(comm::Start start, double stall_timeout_s)
    : start_up_(loaded()), watchdog_(limit_of_start(stall_timeout_s)), mpi_(start) {
    base::log::set_rank(mpi_.control().rank(), host::host_name());
    start_up_.done("MPI_Init");
    watchdog_.set_limit(stall_timeout_s);
}

std::vector<host::Placement> Session::gather_placements(int threads) {
    const auto list = device::list_gpus();
    const int local_rank = control().local_rank();
    auto mine = host::own_placement(control().rank(), local_rank, threads, version_line(), gpu_text(list));
    mine.own_gpu = own_gpu(list, local_rank);
    mine.libraries = libraries();
    auto placements = comm::gather_values(control(), mine);
    host::settle_threads(placements);
    return placements;
}

Session::Watch Session::watch(TerminalProgress& progress, double seconds) {
    watch(seconds);
    return {watchdog_, progress};
}

int Session::conclude(const std::function<int()>& work) {
    int code = 0;
    try {
        code = work();
        if (code == 0) check_printed();
    } catch (...) {
        code = code_of_current_exception();
    }
    std::fflush(stdout);
    watchdog_.set_activity("waiting for the other ranks to end");
    // A rank that is done waits under the watchdog; one that failed gives the others a moment to fail too.
    constexpr double kPatienceOfTheFailed = 5;
    const auto agreed = comm::agree_on_exit(
        mpi_.exit_plane(), code, code == 0 ? std::numeric_limits<double>::infinity() : kPatienceOfTheFailed);
    if (!agreed) {
        base::log::error("the other ranks did not reach the end of the run; job aborted");
        comm::MpiEnvironment::abort(code);
    }
    watchdog_.set_limit(0);  // MPI_Finalize has a limit of its own
    mpi_.exit_with(*agreed);
    return *agreed;
}

}  // namespace ranklab::app
