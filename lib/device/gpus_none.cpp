#include "device/gpus.hpp"

namespace ranklab::device {

GpuList list_gpus() {
    return {{}, "this build has no CUDA (RANKLAB_WITH_CUDA)"};
}
std::string cuda_runtime_version() {
    return {};
}

}  // namespace ranklab::device
