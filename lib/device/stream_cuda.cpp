#include <cuda_runtime.h>

#include "device/cuda_check.hpp"
#include "device/stream.hpp"

namespace ranklab::device {

void StreamTraits::close(type stream) noexcept {
    cuda_log(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

void EventTraits::close(type event) noexcept {
    cuda_log(cudaEventDestroy(event), "cudaEventDestroy");
}

Event::Event(Kind kind) {
    cudaEvent_t event = nullptr;
    const unsigned flags = kind == Kind::timing ? cudaEventDefault : cudaEventDisableTiming;
    cuda_check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
    event_.reset(event);
}

void Event::record(StreamHandle stream) {
    cuda_check(cudaEventRecord(event_.get(), stream), "cudaEventRecord");
}

bool Event::done() const {
    const cudaError_t rc = cudaEventQuery(event_.get());
    if (rc == cudaErrorNotReady) return false;
    cuda_check(rc, "cudaEventQuery");
    return true;
}

void Event::synchronize() const {
    cuda_check(cudaEventSynchronize(event_.get()), "cudaEventSynchronize");
}

double Event::seconds_since(const Event& start) const {
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, start.get(), event_.get()), "cudaEventElapsedTime");
    return milliseconds / 1e3;
}

Stream::Stream() {
    cudaStream_t stream = nullptr;
    cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    stream_.reset(stream);
}

void wait_on(StreamHandle stream, const Event& event) {
    cuda_check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

void synchronize(StreamHandle stream) {
    cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace ranklab::device
