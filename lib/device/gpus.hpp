// The GPUs that this process can use; CUDA streams, events and memory. Only lib/device includes
// cuda_runtime.h: CUDA's types are only declared, so that the header serves builds without CUDA,
// too. In such a build the list of GPUs is empty, and constructors and copies throw
// EnvironmentError.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/handle.hpp"

struct CUstream_st;
struct CUevent_st;

namespace ranklab::device {

struct Gpu {
    std::string name;
    std::string pci_id;
    std::int64_t memory_bytes = 0;
    /// "GPU-<hex>" as in nvidia-smi. The parts of a GPU (MIG) share its pci_id and differ in uuid.
    std::string uuid;
};

struct GpuList {
    std::vector<Gpu> gpus;
    std::string why_none;  ///< a sentence; set if `gpus` is empty
};

GpuList list_gpus();

/// The index of a rank's GPU: local ranks take the `gpus` visible GPUs in turn. 0 if the launcher
/// shows each rank one GPU.
constexpr int gpu_of(int local_rank, int gpus) {
    return gpus > 0 ? local_rank % gpus : 0;
}
/// Sets the calling thread's current GPU. Throws EnvironmentError if there is no such GPU.
void select_gpu(int index);

/// nsys and ncu with --capture-range=cudaProfilerApi (ncu: --profile-from-start off) record between
/// these calls. They do nothing without a profiler or without CUDA.
void start_cuda_profiler();
void stop_cuda_profiler();

/// The CUDA runtime of this build, "13.0"; "" without CUDA.
std::string cuda_runtime_version();

/// Dense peaks (without sparsity) from the vendors' data sheets, in TFLOP/s: 16 bits, TF32 (0: the
/// GPU has none), FP32, and FP64 by tensor or matrix cores if the GPU has them.
struct GpuPeak {
    const char* name;  ///< part of the GPU's name; the first row that matches applies
    double half, tf32, single, wide;
    const char* source;
};
inline constexpr std::array kGpuPeaks{
    GpuPeak{"GB200", 2500, 1250, 80, 40, "NVIDIA GB200 NVL72 data sheet 2024"},
    GpuPeak{"B200", 2250, 1125, 75, 37, "NVIDIA HGX data sheet 2025"},
    GpuPeak{"H100 NVL", 835, 417, 60, 60, "NVIDIA H100 data sheet 2024"},
    GpuPeak{"H100 PCIe", 756, 378, 51, 51, "NVIDIA H100 data sheet 2023"},
    GpuPeak{"GH200", 989, 494, 67, 67, "NVIDIA GH200 data sheet 2024"},
    GpuPeak{"H200", 989, 494, 67, 67, "NVIDIA H200 data sheet 2024"},
    GpuPeak{"H100", 989, 494, 67, 67, "NVIDIA H100 data sheet 2024"},
    GpuPeak{"A100", 312, 156, 19.5, 19.5, "NVIDIA A100 data sheet 2021"},
    GpuPeak{"V100", 125, 0, 15.7, 7.8, "NVIDIA V100 data sheet 2020"},
    GpuPeak{"MI300X", 1307.4, 653.7, 163.4, 163.4, "AMD MI300X data sheet 2023"},
    // Half of the module's peak: each of its two dies is a device.
    GpuPeak{"MI250X", 191.5, 0, 47.9, 47.9, "AMD MI250X data sheet 2021, one die"}};

using StreamHandle = CUstream_st*;  ///< cudaStream_t; nullptr is the legacy default stream
using EventHandle = CUevent_st*;    ///< cudaEvent_t

// Destroy the object; log a failure.
void close_stream(StreamHandle stream) noexcept;
void close_event(EventHandle event) noexcept;
void close_memory(void* memory) noexcept;

/// A CUDA event. Kind::order is cheaper; Kind::timing can measure times.
struct Event : base::unique_handle<EventHandle, nullptr, close_event> {
    enum class Kind { order, timing };
    explicit Event(Kind kind = Kind::order);

    /// May be called again. Work that already waits for the event still waits for the earlier
    /// record.
    void record(StreamHandle stream);
    bool done() const;  ///< true if never recorded
    /// Both events must be of Kind::timing, recorded and done.
    double seconds_since(const Event& start) const;
};

/// A stream on the GPU that was current at construction. It does not synchronise with the legacy
/// default stream: order work by events.
struct Stream : base::unique_handle<StreamHandle, nullptr, close_stream> {
    Stream();
};

/// Has later work on `stream` wait for `event`; does not block the host.
void wait_on(StreamHandle stream, const Event& event);
/// Blocks the host until all work on `stream` is done.
void synchronize(StreamHandle stream);

/// Memory on the GPU that was current at construction, uninitialised.
struct Buffer : base::unique_handle<void*, nullptr, close_memory> {
    Buffer() = default;
    explicit Buffer(std::size_t bytes);

    void* data() const { return get(); }  ///< nullptr if default-constructed or of 0 bytes
};

/// Enqueue a copy on `stream`; with pageable host memory the call may block. Do not read or reuse
/// the host memory before the copy is done: synchronize(stream).
void copy_to_device(void* to, const void* from_host, std::size_t bytes, StreamHandle stream);
void copy_to_host(void* to_host, const void* from, std::size_t bytes, StreamHandle stream);
void fill_zero(void* to, std::size_t bytes, StreamHandle stream);

namespace detail {
inline std::atomic<StreamHandle> compute_stream{nullptr};  // owned by the caller that sets it
}

/// The stream on which gradients are written and read. By default nullptr, the legacy default
/// stream that LibTorch uses. Global, not thread-local: hooks of backward run on LibTorch's
/// threads.
inline StreamHandle compute_stream() {
    return detail::compute_stream;
}

/// Sets the compute stream while the object lives, then restores the previous one.
class ComputeStream : base::Immovable {
  public:
    explicit ComputeStream(StreamHandle stream)
        : before_(detail::compute_stream.exchange(stream)) {}
    ~ComputeStream() { detail::compute_stream = before_; }

  private:
    StreamHandle before_;
};

}  // namespace ranklab::device
