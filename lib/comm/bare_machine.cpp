#include "comm/bare_machine.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/path_folders.hpp"
#include "comm/launcher.hpp"

namespace ranklab::comm {
namespace {

bool is_in_path(const char* program) {
    return std::ranges::any_of(base::path_folders(), [&](const std::string& folder) {
        return ::access((folder + '/' + program).c_str(), X_OK) == 0;
    });
}

bool has_home() {
    const char* const home = std::getenv("HOME");
    return (home != nullptr && *home != '\0') || ::getpwuid(::geteuid()) != nullptr;
}

}  // namespace

bool must_forbid_rsh(const std::function<const char*(const char*)>& lookup,
                     const std::function<bool(const char*)>& has_program) {
    for (const char* said : {"OMPI_MCA_plm", "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_mca_base_param_files"})
        if (lookup(said) != nullptr) return false;
    return !has_task_environment(lookup) && !has_program("ssh") && !has_program("rsh");
}

void settle_for_bare_machine() {
    const auto environment = [](const char* name) -> const char* { return std::getenv(name); };
    if (must_forbid_rsh(environment, is_in_path)) setenv("OMPI_MCA_plm", "^rsh", 0);
    if (!has_home()) setenv("HOME", "/", 1);
}

}  // namespace ranklab::comm
