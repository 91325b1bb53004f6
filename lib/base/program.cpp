#include "base/program.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

#include <dlfcn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

namespace ranklab::base {

std::filesystem::path program_beside(const std::string& name) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

ProgramOutput output_of(const std::string& line) {
    ProgramOutput output;
    std::FILE* const pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return {-1, "no process can be started"};
    std::array<char, 1 << 16> part{};
    while (const auto got = std::fread(part.data(), 1, part.size(), pipe))
        output.text.append(part.data(), got);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) output.code = WEXITSTATUS(status);
    return output;
}

std::string mpirun() {
    return RANKLAB_MPIRUN;
}

std::string mpi_library_name(std::string_view text) {
    std::istringstream words{std::string(text.substr(0, text.find('\n')))};
    std::string name;
    for (std::string word; words >> word;) name += name.empty() ? word : " " + word;
    constexpr std::string_view kMpich = "MPICH Version: ", kCray = "MPI VERSION : ";
    if (name.starts_with(kMpich)) return "MPICH " + name.substr(kMpich.size());
    return name.starts_with(kCray) ? name.substr(kCray.size()) : name;
}

bool is_launchers_own(std::string_view variable) {
    constexpr std::string_view kBeginnings[] = {"OMPI_MCA_orte_",
                                                "OMPI_MCA_ess",
                                                "OMPI_MCA_initial_wdir",
                                                "OMPI_MCA_shmem_RUNTIME",
                                                "OMPI_MCA_pmix",
                                                "OMPI_MCA_mpi_oversubscribe",
                                                "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
                                                "I_MPI_HYDRA_",
                                                "I_MPI_MPIRUN",
                                                "I_MPI_INFO_"};
    return std::ranges::any_of(kBeginnings, [&](auto one) { return variable.starts_with(one); });
}

Plugin::Plugin(std::string file)
    : file_(std::move(file)), handle_(dlopen(file_.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    const char* const why = handle_ == nullptr ? dlerror() : nullptr;
    if (why != nullptr) why_not_ = printable(why, 300);
}

void* Plugin::symbol(const char* name) const {
    void* const symbol = handle_ == nullptr ? nullptr : dlsym(handle_, name);
    if (symbol == nullptr)
        throw Error(fmt::format("internal: {} has no {}; build ranklab again", file_, name));
    return symbol;
}

}  // namespace ranklab::base
