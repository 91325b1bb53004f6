#include "app/session.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "app/guarded.hpp"
#include "app/printing.hpp"
#include "app/version.hpp"
#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "device/gpus.hpp"
#include "hdf5/file.hpp"
#include "host/facts.hpp"
#include "host/topology.hpp"

namespace ranklab::app {
namespace {

// The others wait for the lost rank in a collective, which MPI does not end by itself.
void end_without(const std::string& who) {
    base::log::error(
        fmt::format("{} is gone: its process was killed or its node failed, so the job is ended; look into "
                    "that node's log",
                    who));
    comm::MpiEnvironment::abort(static_cast<int>(base::ExitCode::environment));
}

void end_after(const std::string& who) {
    if (!who.empty()) base::log::error(fmt::format("the job is ended, since {} is gone", who));
    comm::MpiEnvironment::abort(static_cast<int>(base::ExitCode::environment));
}

void warn_of_unreached(const std::string& who) {
    base::log::warn(fmt::format(
        "rank 0 and {} could not connect by TCP, directly or by way of others, so they do not see "
        "whether the other one works: if such a process ends, the others may wait for it, and "
        "ranklab reports a stall only after {} times --stall-timeout; let the nodes of a job reach "
        "each other on any port",
        who, StallClock::kMostPatience));
}

std::string gpu_text(const device::GpuList& list) {
    if (list.gpus.empty()) return "none: " + list.why_none;
    std::vector<std::string> names;
    for (const auto& gpu : list.gpus) names.push_back(fmt::format("{} [{}]", gpu.name, gpu.pci_id));
    return base::join(names, "; ");
}

host::StartUp loaded() {
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

comm::MpiEnvironment& Session::started() {
    start_up_.done("MPI_Init");
    if (start_clock_) start_clock_->comes_to("connecting the ranks");
    return mpi_;
}

Session::Session(comm::Start start, double patience_s)
    : start_up_(loaded()),
      start_clock_(start == comm::Start::without_mpi ? std::nullopt
                                                     : std::optional<StartClock>(std::in_place, patience_s)),
      mpi_(start),
      lifeline_(started().control(), host::host_name(), {end_without, end_after, warn_of_unreached}) {
    base::log::set_rank(mpi_.control().rank(), host::host_name());
    base::set_ranks_on_node(mpi_.control().local_size());
    start_clock_.reset();
    start_up_.done("connecting the ranks");
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

void Session::watch(double seconds) {
    if (watchdog_ && watchdog_->seconds() == seconds) return;
    watchdog_.emplace(seconds, lifeline_, control().rank());
    mpi_.end_within(seconds);
}

Session::Watch Session::watch(TerminalProgress& progress, double seconds) {
    watch(seconds);
    return {*watchdog_, progress};
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
    // A rank that is done waits for those that work; one that failed gives the others a moment to fail too.
    constexpr double kPatienceOfTheDone = 3600;
    constexpr double kPatienceOfTheFailed = 5;
    const auto agreed =
        comm::agree_on_exit(mpi_.exit_plane(), code, code == 0 ? kPatienceOfTheDone : kPatienceOfTheFailed);
    if (agreed) return *agreed;
    base::log::error("the other ranks did not come to the end, so the job is ended for all");
    comm::MpiEnvironment::abort(code == 0 ? static_cast<int>(base::ExitCode::environment) : code);
}

}  // namespace ranklab::app
