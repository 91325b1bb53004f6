// lib/device in a build without CUDA: lists no GPU; functions that need a GPU throw.
#include "base/error.hpp"
#include "device/gpus.hpp"

namespace ranklab::device {
namespace {

[[noreturn]] void refuse() {
    throw base::EnvironmentError(
        "this build has no CUDA (RANKLAB_WITH_CUDA); compute on the CPU, or build where CMake "
        "finds "
        "cuda_runtime.h",
        {"device cpu"});
}

}  // namespace

void close_stream(StreamHandle) noexcept {}
void close_event(EventHandle) noexcept {}
void close_memory(void*) noexcept {}

GpuList list_gpus() {
    return {{}, "this build has no CUDA (RANKLAB_WITH_CUDA)"};
}
std::string cuda_runtime_version() {
    return {};
}
void start_cuda_profiler() {}
void stop_cuda_profiler() {}
void select_gpu(int) {
    refuse();
}

Event::Event(Kind) {
    refuse();
}
void Event::record(StreamHandle) {
    refuse();
}
bool Event::done() const {
    refuse();
}
double Event::seconds_since(const Event&) const {
    refuse();
}
Stream::Stream() {
    refuse();
}
void wait_on(StreamHandle, const Event&) {
    refuse();
}
void synchronize(StreamHandle) {
    refuse();
}

Buffer::Buffer(std::size_t) {
    refuse();
}
void copy_to_device(void*, const void*, std::size_t, StreamHandle) {
    refuse();
}
void copy_to_host(void*, const void*, std::size_t, StreamHandle) {
    refuse();
}
void fill_zero(void*, std::size_t, StreamHandle) {
    refuse();
}

}  // namespace ranklab::device
