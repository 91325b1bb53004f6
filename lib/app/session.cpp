#include "app/session.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

#include "app/process.hpp"
#include "app/version.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"
#include "device/gpus.hpp"
#include "hdf5/file.hpp"
#include "options/sections.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

// Seconds: the shortest stall limit while a program starts, since a slow file system delays the
// start. A shorter --stall-timeout holds for the work alone.
constexpr double kShortestStart = 15;

std::string gpu_text(const device::GpuList& list) {
    if (list.gpus.empty()) return "none: " + list.why_none;
    std::vector<std::string> names;
    for (const auto& gpu : list.gpus) names.push_back(fmt::format("{} [{}]", gpu.name, gpu.pci_id));
    return base::join(names, "; ");
}

// Takes the rank for the log from the launcher, before MPI starts.
host::StartUp loaded() {
    if (const auto rank = comm::read_launcher().rank) base::log::set_rank(*rank, host::host_name());
    host::StartUp start_up;
    start_up.done("loading the program");
    return start_up;
}

host::OwnGpu own_gpu(const device::GpuList& list, int local_rank) {
    if (list.gpus.empty()) return {};
    const auto& gpu = list.gpus[static_cast<std::size_t>(
        device::gpu_of(local_rank, static_cast<int>(list.gpus.size())))];
    return {.name = gpu.name,
            .uuid = gpu.uuid,
            .pci_id = gpu.pci_id,
            .cpus = host::cpus_near(gpu.pci_id)};
}

std::vector<std::string> libraries() {
    std::vector<std::string> names{comm::MpiEnvironment::library_version(),
                                   "HDF5 " + hdf5::library_version()};
    const auto cuda = device::cuda_runtime_version();
    if (!cuda.empty()) names.push_back("CUDA runtime " + cuda);
    return names;
}

// How this process starts MPI. Assumes that a config file, which is not read yet, needs MPI.
comm::Start start_of(const Program& program, const options::Options& words) {
    const auto common = words.fields<vocabulary::CommonSettings>();
    // A Slurm step without PMI starts without MPI, so that the launch guard can refuse it.
    if (comm::is_step_without_pmi() && !common.expect_ranks) return comm::Start::without_mpi;
    if (common.config) return comm::Start::with_mpi;
    const auto needs = program.needs(words);
    if (needs.read_ahead && !common.dry_run && comm::read_launcher().rank.value_or(0) == 0)
        needs.read_ahead();
    if (!needs.mpi && !comm::has_task_environment()) return comm::Start::without_mpi;
    return needs.mpi_from_threads ? comm::Start::with_mpi : comm::Start::one_thread;
}

// The nearest existing folder above `output`; storing makes the missing folders.
fs::path folder_above(const fs::path& output) {
    std::error_code unknown;
    fs::path place = fs::absolute(output, unknown).parent_path();
    while (!fs::is_directory(place, unknown) && place.has_relative_path())
        place = place.parent_path();
    return place;
}

// True for one rank without a launcher: a multi-rank configuration run this way looks like a slow
// single device.
bool is_alone(Session& session) {
    return session.control().world_size() == 1 && !comm::read_launcher().world_size;
}

}  // namespace

Session::Session(comm::Start start, double stall_timeout_s)
    : start_up_(loaded()),
      watchdog_(stall_timeout_s > 0 ? std::max(stall_timeout_s, kShortestStart) : 0, progress_),
      mpi_(start) {
    base::log::set_rank(mpi_.control().rank(), host::host_name());
    start_up_.done("MPI_Init");
    watchdog_.set_limit(stall_timeout_s);
}

std::vector<host::Placement> Session::gather_placements(int threads) {
    const auto list = device::list_gpus();
    const int local_rank = control().local_rank();
    auto mine =
        host::own_placement(control().rank(), local_rank, threads, version_line(), gpu_text(list));
    mine.own_gpu = own_gpu(list, local_rank);
    mine.libraries = libraries();
    auto placements = comm::gather_values(control(), mine);
    host::settle_threads(placements);
    return placements;
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
    progress_.activity("waiting for the other ranks to end");
    progress_.finish();
    // A rank that is done waits for the others until its watchdog ends the job. A rank that failed
    // waits 5 s, since other ranks may fail, too.
    constexpr double kPatienceOfTheFailed = 5;
    const auto agreed = comm::agree_on_exit(
        mpi_.exit_plane(), code,
        code == 0 ? std::numeric_limits<double>::infinity() : kPatienceOfTheFailed);
    if (!agreed) {
        base::log::error("the other ranks did not reach the end of the run; job aborted");
        comm::MpiEnvironment::abort(code);
    }
    watchdog_.set_limit(0);  // MPI_Finalize has its own time limit
    mpi_.exit_with(*agreed);
    return *agreed;
}

int run_mpi_program(const Program& program, const Words& words) {
    prepare_process();
    const auto& [command, work, answers_early, needs] = program;
    const bool alone = comm::read_launcher().world_size.value_or(1) == 1;
    std::optional<options::Options> parsed;
    bool answered = false;
    auto start = comm::Start::with_mpi;
    const int code = guarded([&] {
        try {
            parsed = parse_or_answer(command, words);
            answered = !parsed || answers_early(*parsed);
            if (!answered) start = start_of(program, *parsed);
        } catch (const base::OptionError&) {
            if (alone) throw;  // in a job all ranks throw it below
        }
        return 0;
    });
    if (code != 0 || answered) return code;

    return guarded([&] {
        // A config file's --stall-timeout is applied later.
        const auto stall_timeout = [&] {
            return (parsed ? parsed->fields<vocabulary::CommonSettings>()
                           : vocabulary::CommonSettings())
                .stall_timeout;
        };
        Session session(start, stall_timeout());
        return session.conclude([&] {
            comm::all_or_throw(session.control(), [&] {
                if (!parsed) parsed = parse_or_answer(command, words);  // throws
            });
            session.watch(stall_timeout());
            return work(session, *parsed);
        });
    });
}

// mpirun and srun can start ranks with different command lines (multiple programs). Ranks with
// different models or numbers of steps would wait for each other forever.
void refuse_other_options(Session& session, const std::string& command_line) {
    if (comm::is_same_everywhere(session.control(), command_line)) return;
    const auto lines = comm::gather_texts(session.control(), command_line);
    for (std::size_t rank = 1; rank < lines.size(); ++rank) {
        if (lines[rank] == lines.front()) continue;
        throw base::OptionError(fmt::format(
            "the ranks' options differ: rank 0 has '{}', rank {} has '{}'; start all ranks with "
            "the same options",
            base::printable(lines.front(), 300), rank, base::printable(lines[rank], 300)));
    }
}

host::Evidence evidence_of(Session& session, const std::vector<host::Placement>& placements,
                           const vocabulary::CommonSettings& common, bool on_gpus) {
    const auto launcher = comm::read_launcher();
    return {.placements = placements,
            .connected = session.control().world_size(),
            .launcher = launcher.name,
            .launched = launcher.world_size,
            .expected = common.expect_ranks,
            .own_launchers = comm::own_launchers(launcher.name),
            .on_gpus = on_gpus};
}

// Finds the hosts that do not see the results folder: rank 0 makes a file in the folder, and
// every rank looks for it. Its name is new, since a host may have cached the folder's contents.
std::optional<host::ResultsFolder> look_at_results_folder(
    comm::Communicator& control, const std::vector<host::Placement>& placements,
    const fs::path& output) {
    if (output == "none") return std::nullopt;
    host::ResultsFolder folder{
        .path = folder_above(output), .host = placements.front().host, .blind = {}};
    std::set<std::string> hosts, blind;
    for (const auto& p : placements) hosts.insert(p.host);
    if (hosts.size() < 2) return folder;
    std::string mark = (fs::path(folder.path) / ".ranklab-seen-XXXXXX").string();
    if (control.rank() == 0 && !base::Descriptor(::mkstemp(mark.data()))) mark.clear();
    mark = comm::broadcast_text(control, mark, 0);
    std::error_code unknown;
    const auto sees = comm::gather_values(control, static_cast<int>(fs::exists(mark, unknown)));
    if (mark.empty()) return std::nullopt;
    if (control.rank() == 0) fs::remove(mark, unknown);
    for (std::size_t rank = 0; rank < sees.size(); ++rank)
        if (sees[rank] == 0) blind.insert(placements[rank].host);
    folder.blind.assign(blind.begin(), blind.end());
    return folder;
}

options::Options merge_config(Session& session, const options::Options& words,
                              const std::string& command_line) {
    auto& control = session.control();
    refuse_other_options(session, command_line);
    const auto config = words.fields<vocabulary::CommonSettings>().config;
    if (!config) return words;
    std::string text;
    comm::all_or_throw(control, [&] {
        if (control.rank() == 0) text = options::ini_text(*config, {"config"});
    });
    text = comm::broadcast_text(control, text, 0);
    std::optional<options::Options> merged;
    comm::all_or_throw(control, [&] { merged = words.with_config(*config, text); });
    return *merged;
}

Launch examine_launch(Session& session, const vocabulary::CommonSettings& common,
                      const experiments::LaunchNeeds& needs) {
    Launch launch{session.gather_placements(threads_of(common.threads, needs.threads)), {}};
    auto evidence = evidence_of(session, launch.placements, common, needs.gpus);
    if (!common.dry_run)
        evidence.folder =
            look_at_results_folder(session.control(), launch.placements, common.output);
    comm::all_or_throw(session.control(), [&] {
        for (const auto& finding : host::findings_of_run(evidence)) {
            if (finding.fatal) throw base::EnvironmentError(finding.sentence());
            launch.warnings.push_back(finding.sentence());
        }
    });
    if (is_alone(session) && needs.several_ranks)
        launch.warnings.push_back(fmt::format(
            "this is one rank; start several with {} -n N, or srun -n N", base::mpirun()));
    session.start_up().done("options and launch guard");
    return launch;
}

}  // namespace ranklab::app
