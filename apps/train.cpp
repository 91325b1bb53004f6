#include <cstdio>
#include <cstdlib>

#include "app/programs.hpp"

int main(int argc, char** argv) {
    const int code =
        ranklab::app::run_experiment(argc, argv, ranklab::experiments::train_experiment());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // Skips LibTorch's destructors, which take 0.1 s, unless a profiler is loaded, since profilers
    // write their files at exit.
    for (const char* tool : {"LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
        if (std::getenv(tool) != nullptr) return code;
    std::fflush(nullptr);
    std::_Exit(code);
#endif
    return code;
}
