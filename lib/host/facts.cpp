#include "host/facts.hpp"

#include <elf.h>
#include <link.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <thread>

#include "base/file_system.hpp"
#include "base/launcher_words.hpp"
#include "base/number_ranges.hpp"
#include "base/proc_stat.hpp"
#include "base/text.hpp"

extern char** environ;

namespace ranklab::host {
namespace {

constexpr const char* kUnknown = "unknown";

std::string first_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    return std::getline(file, line) && !line.empty() ? line : std::string(kUnknown);
}

// The value of "key : value" in a /proc file.
std::string proc_value(const std::string& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(':');
        if (colon != std::string::npos && base::trim(line.substr(0, colon)) == key)
            return base::trim(line.substr(colon + 1));
    }
    return kUnknown;
}

// Slurm can hold a login token.
bool is_secret(std::string_view name) {
    static constexpr std::array<std::string_view, 5> kSecret{"JWT", "TOKEN", "SECRET", "PASSW", "_KEY"};
    return std::any_of(kSecret.begin(), kSecret.end(),
                       [&](auto s) { return name.find(s) != std::string_view::npos; });
}

}  // namespace

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::string cpu_model() {
    return proc_value("/proc/cpuinfo", "model name");
}

std::string process_instance() {
    const std::string start = base::stat_field(base::stat_after_name("/proc/self"), 22);
    return fmt::format("{} {} {}", host_name(), getpid(), start.empty() ? kUnknown : start);
}

std::vector<int> cpuset() {
    // A fixed cpu_set_t holds 1,024 CPUs; the kernel refuses a mask that is too small, so grow it.
    for (int capacity = 1024; capacity <= (1 << 20); capacity *= 4) {
        cpu_set_t* set = CPU_ALLOC(capacity);
        const std::size_t size = CPU_ALLOC_SIZE(capacity);
        std::vector<int> cpus;
        const bool ok = sched_getaffinity(0, size, set) == 0;
        for (int cpu = 0; ok && cpu < capacity; ++cpu) {
            if (CPU_ISSET_S(cpu, size, set)) cpus.push_back(cpu);
        }
        CPU_FREE(set);
        if (ok) return cpus;
    }
    return {};
}

namespace {

// The lowest hardware thread of a CPU's core.
int core_of(int cpu, const std::filesystem::path& root) {
    const auto siblings = base::ranges_in(
        first_line(root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu)));
    return siblings ? static_cast<int>(siblings->front().first) : cpu;
}

}  // namespace

std::vector<std::vector<int>> cores_of(const std::vector<int>& cpus, const std::filesystem::path& root) {
    std::vector<std::vector<int>> cores;
    std::map<int, std::size_t> known;
    for (const int cpu : cpus) {
        const auto [core, is_new] = known.try_emplace(core_of(cpu, root), cores.size());
        if (is_new) cores.emplace_back();
        cores[core->second].push_back(cpu);
    }
    return cores;
}

std::vector<int> core_names(const std::vector<int>& cpus) {
    std::set<int> names;
    for (const int cpu : cpus) names.insert(core_of(cpu, "/"));
    return {names.begin(), names.end()};
}

int cores_in(const std::vector<int>& cpus) {
    return static_cast<int>(cores_of(cpus).size());
}

std::vector<std::pair<std::string, std::string>> host_facts() {
    utsname system{};
    uname(&system);
    const std::string load = first_line("/proc/loadavg");
    return {
        {"kernel", fmt::format("{} {}", system.sysname, system.release)},
        {"machine", system.machine},
        {"cpu", cpu_model()},
        {"logical_cpus", fmt::format("{}", std::thread::hardware_concurrency())},
        {"numa_nodes", first_line("/sys/devices/system/node/online")},
        {"memory", proc_value("/proc/meminfo", "MemTotal")},
        {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
        {"transparent_hugepages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
        {"load_1min", load.substr(0, load.find(' '))},
    };
}

namespace {

constexpr std::array<std::string_view, 6> kLibrariesThatMatter{
    "libmpi.so", "libhdf5", "libtorch_cpu.so", "libtorch_cuda.so", "libcudart", "libnccl"};

// Of the notes of a loaded object: its first bytes, "" where the linker gave it none.
std::string build_id_in(const dl_phdr_info& object) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const auto& header = object.dlpi_phdr[i];
        if (header.p_type != PT_NOTE) continue;
        const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
        const std::uintptr_t end = begin + header.p_memsz;
        const auto padded = [](std::uint32_t size) {
            return (std::uintptr_t{size} + 3) & ~std::uintptr_t{3};
        };
        for (auto at = begin; at + sizeof(ElfW(Nhdr)) <= end;) {
            ElfW(Nhdr) note;
            std::memcpy(&note, reinterpret_cast<const void*>(at), sizeof note);
            const auto id = at + sizeof note + padded(note.n_namesz);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= 4 && id + note.n_descsz <= end) {
                const auto* const bytes = reinterpret_cast<const unsigned char*>(id);
                return fmt::format("{:02x}", fmt::join(bytes, bytes + 4, ""));
            }
            at = id + padded(note.n_descsz);
        }
    }
    return "";
}

int note_library(dl_phdr_info* object, std::size_t, void* names) {
    const std::string name = std::filesystem::path(object->dlpi_name).filename().string();
    const bool matters = std::ranges::any_of(kLibrariesThatMatter,
                                             [&](std::string_view start) { return name.starts_with(start); });
    if (matters) static_cast<std::vector<std::string>*>(names)->push_back(name + " " + build_id_in(*object));
    return 0;
}

}  // namespace

std::vector<std::string> loaded_libraries() {
    std::vector<std::string> names;
    dl_iterate_phdr(note_library, &names);
    std::ranges::sort(names);
    return names;
}

// The CUDA runtime writes the id in capitals, and its domain in four digits or in eight.
std::vector<int> cpus_near(std::string pci_id, const std::filesystem::path& root) {
    std::ranges::transform(pci_id, pci_id.begin(), [](unsigned char c) { return std::tolower(c); });
    if (pci_id.find(':') == 8 && pci_id.starts_with("0000")) pci_id.erase(0, 4);
    const auto near = base::ranges_in(first_line(root / "sys/bus/pci/devices" / pci_id / "local_cpulist"));
    std::vector<int> cpus;
    if (!near || pci_id.empty()) return cpus;
    for (const auto& [first, last] : *near)
        for (std::size_t cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    return cpus;
}

std::string file_system_of(const std::filesystem::path& path) {
    std::error_code ignored;
    auto place = std::filesystem::absolute(path, ignored);
    while (!std::filesystem::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
    return base::file_system_at(place).name;
}

std::vector<std::pair<std::string, std::string>> allowed_environment() {
    static constexpr std::array<std::string_view, 14> kPrefixes{
        "OMP_", "NCCL_",  "UCX_",  "OMPI_MCA_", "MPIR_CVAR_", "MPICH_", "I_MPI_",
        "FI_",  "ROMIO_", "HDF5_", "SLURM_",    "ONEDNN_",    "DNNL_",  "ATEN_"};
    std::vector<std::pair<std::string, std::string>> facts;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        const auto name = text.substr(0, equals);
        if (base::is_launchers_own(name) || is_secret(name)) continue;
        const bool allowed = name == "CUDA_VISIBLE_DEVICES" ||
                             std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                         [&](auto p) { return name.substr(0, p.size()) == p; });
        if (allowed) facts.emplace_back(name, text.substr(equals + 1));
    }
    std::sort(facts.begin(), facts.end());
    return facts;
}

}  // namespace ranklab::host
