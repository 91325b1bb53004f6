#include "app/process.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "options/schema.hpp"
#include "results/staged_file.hpp"

namespace ranklab::app {
namespace {

// Bytes: glibc keeps freed blocks below this size. These are the largest values that glibc accepts
// (older versions: 32 MiB). By default it returns blocks above 128 KiB to the system, and each step
// faults them in again.
constexpr int kKeepBytes[] = {1 << 30, 32 << 20};

// Opens /dev/null in place of each closed standard stream; stdout for reading only, so that lost
// output is noticed. Otherwise the next opened file would get the stream's number and our output.
void hold_standard_streams() {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            static_cast<void>(
                ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY));
    }
}

}  // namespace

int code_of_current_exception() {
    try {
        throw;
    } catch (const comm::PeerError& error) {
        return static_cast<int>(error.code());  // the rank that failed has printed its error
    } catch (const std::exception& error) {
        const auto failure = base::describe_failure(error);
        base::log::error(failure.sentence, failure.settings);
        return static_cast<int>(failure.code);
    }
}

int guarded(const std::function<int()>& work) {
    try {
        const int code = work();
        if (code == 0) check_printed();
        return code;
    } catch (...) {
        return code_of_current_exception();
    }
}

void prepare_process() {
    hold_standard_streams();
    base::log::set_message_formatter(options::user_message);
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    allocator_settings();
}

std::string allocator_settings() {
    static const std::string settings = [] {
        for (const int bytes : kKeepBytes) {
            if (mallopt(M_MMAP_THRESHOLD, bytes) == 1 && mallopt(M_TRIM_THRESHOLD, bytes) == 1) {
                return fmt::format("glibc mallopt: mmap and trim thresholds {} MiB", bytes >> 20);
            }
        }
        return std::string("defaults");
    }();
    return settings;
}

void refuse_several_processes() {
    const auto count = [](const char* name) {
        const char* const value = std::getenv(name);
        return value == nullptr ? 0 : std::atoi(value);
    };
    for (const auto& [size, rank] : {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                     {"PMI_SIZE", "PMI_RANK"},
                                     {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}) {
        const int processes = count(size);
        if (processes < 2) continue;
        const std::string sentence = fmt::format(
            "a launcher started {} of these processes, but a sweep starts its ranks itself; leave "
            "mpirun or srun out",
            processes);
        if (count(rank) > 0) std::_Exit(base::number_of(base::ExitCode::environment));
        throw base::EnvironmentError(sentence);
    }
}

void print_text(std::string_view text) {
    // On failure stdout's error flag stays set, for check_printed().
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
}

void print_whole(std::string_view text) {
    std::clearerr(stdout);  // ignores errors of earlier lines
    print_text(text);
    check_printed();
}

void print_progress(const std::string& line) {
    fmt::print(stderr, "{}\n", line);
}

void check_printed() {
    const bool flushed = std::fflush(stdout) == 0;
    if (flushed && std::ferror(stdout) == 0) return;
    std::clearerr(stdout);
    throw base::EnvironmentError(
        "stdout cannot be written; check for a full disk or a closed pipe");
}

namespace fs = std::filesystem;

void write_report(const std::optional<std::string>& path,
                  const std::function<void(const report::model::Sink&)>& fill) {
    if (path.value_or("").empty()) {
        std::string text;
        fill([&](std::string_view part) { text += part; });
        return print_whole(text);
    }
    base::make_folders(results::resolve(*path).parent_path());
    results::TextFile file(*path, "output");
    fill([&](std::string_view part) { file.write(part); });
    file.commit();
    base::log::info("the report is in " + base::one_line(*path));
}

std::filesystem::path shipped(const char* installed, const char* in_source) {
    const fs::path bin = base::program_beside("");
    for (const fs::path& place :
         {bin / "../share/ranklab" / installed, bin / "../../.." / in_source})
        if (std::error_code unknown; fs::exists(place, unknown)) return place;
    return {};
}

std::filesystem::path reference_folder() {
    if (const char* const folder = std::getenv("RANKLAB_REFERENCE")) return folder;
    return shipped("reference", "results/reference");
}

}  // namespace ranklab::app
