#include "comm/nccl/nccl_communicator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::comm {
namespace {

#ifdef RANKLAB_ROCM
constexpr const char* kFile = "librccl.so.1";
#else
constexpr const char* kFile = "libnccl.so.2";
#endif
constexpr int kOldestVersion = NCCL_VERSION(2, 18, 1);  // the first with ncclCommSplit

template <class Function>
void find(void* handle, const char* name, const std::string& path, Function& function) {
    // POSIX allows this conversion of dlsym's result.
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function != nullptr) return;
    throw base::EnvironmentError(fmt::format(
        "{} lacks {}: it is not NCCL, or older than {}; set RANKLAB_NCCL_LIBRARY to the {} of a "
        "newer one",
        path, name, nccl_version_text(kOldestVersion), kFile));
}

std::shared_ptr<const NcclLibrary> take(void* handle, const std::string& path) {
    auto library = std::make_shared<NcclLibrary>();
    library->path = path;
#define RANKLAB_NCCL_FIND(member, function) find(handle, #function, path, library->member);
    RANKLAB_NCCL_FUNCTIONS(RANKLAB_NCCL_FIND)
#undef RANKLAB_NCCL_FIND
    library->check(library->get_version(&library->version), "ncclGetVersion");
    if (library->version >= kOldestVersion) return library;
    throw base::EnvironmentError(
        fmt::format("{} is NCCL {}, older than {}; set RANKLAB_NCCL_LIBRARY to a newer {}, or use "
                    "another backend",
                    path, nccl_version_text(library->version), nccl_version_text(kOldestVersion),
                    kFile),
        {"backend mpi"});
}

const char* advice(ncclResult_t rc) {
    switch (rc) {
        case ncclUnhandledCudaError:
            return "check the GPU and its driver with nvidia-smi and ranklab doctor";
        case ncclSystemError:
            return "check that nodes reach each other (NCCL_SOCKET_IFNAME names the interface) and "
                   "that /dev/shm is not full";
        case ncclRemoteError:
            return "another rank or the network failed first; look for its message";
        default:
            return "NCCL_DEBUG=WARN prints more";
    }
}

}  // namespace

std::string nccl_version_text(int version) {
    const int unit = version >= 10000 ? 10000 : 1000;  // 2.8 and older: 2804
    return fmt::format("{}.{}.{}", version / unit, version % unit / 100, version % 100);
}

std::vector<std::string> nccl_search_path(const std::function<const char*(const char*)>& lookup) {
    const char* chosen = lookup("RANKLAB_NCCL_LIBRARY");
    if (chosen != nullptr && *chosen != '\0') return {chosen};
    std::vector<std::string> paths;
    if (const std::string built_with = RANKLAB_NCCL_LIBRARY_PATH; !built_with.empty())
        paths.push_back(built_with);
    // The wheel's library beside a Python's LibTorch; a training job has loaded it already.
    const char* torch = lookup("RANKLAB_TORCH_ROOT");
    if (torch != nullptr && *torch != '\0')
        paths.push_back(std::string(torch) + "/../nvidia/nccl/lib/libnccl.so.2");
    paths.emplace_back(kFile);
    return paths;
}

std::shared_ptr<const NcclLibrary> load_nccl(const std::vector<std::string>& paths) {
    std::vector<std::string> tried;
    for (const auto& path : paths) {
        if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return take(handle, path);
        tried.emplace_back(dlerror());
    }
    throw base::EnvironmentError(fmt::format("NCCL cannot be loaded ({}); set RANKLAB_NCCL_LIBRARY "
                                             "to a {}, or use another backend",
                                             base::join(tried, "; "), kFile),
                                 {"backend mpi"});
}

std::shared_ptr<const NcclLibrary> load_nccl() {
    return load_nccl(
        nccl_search_path([](const char* name) -> const char* { return std::getenv(name); }));
}

std::string nccl_sentence(const char* call, ncclResult_t rc, const std::string& text,
                          const std::string& last_error) {
    const auto account = base::trim(last_error);
    return fmt::format("{} failed: {}{}; {}", call, text,
                       account.empty() ? "" : fmt::format(" ({})", base::printable(account, 300)),
                       advice(rc));
}

void NcclLibrary::check(ncclResult_t rc, const char* call) const {
    if (rc == ncclSuccess) return;
    const char* last = get_last_error(nullptr);
    throw base::NcclError(
        nccl_sentence(call, rc, get_error_string(rc), last == nullptr ? "" : last));
}

// In the order of DType.
ncclDataType_t nccl_type(DType dtype) {
    constexpr std::array kTypes{ncclUint8,   ncclInt32,   ncclInt64,   ncclFloat32,
                                ncclFloat64, ncclFloat16, ncclBfloat16};
    return kTypes.at(base::number_of(dtype));
}

ncclRedOp_t nccl_op(ReduceOp op) {
    constexpr std::array kOps{ncclSum, ncclMin, ncclMax};
    return kOps.at(base::number_of(op));
}

}  // namespace ranklab::comm
