// The dense peaks of GPUs by their vendors' data sheets, without sparsity.
#pragma once

#include <array>

namespace ranklab::device {

/// TFLOP/s for 16 bits, TF32, FP32 and FP64 by tensor or matrix cores where there are any.
struct GpuPeak {
    const char* name;  ///< the first row whose name is part of the GPU's counts
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
    // Half of a module: each of its two dies is a device.
    GpuPeak{"MI250X", 191.5, 0, 47.9, 47.9, "AMD MI250X data sheet 2021, one die"}};

}  // namespace ranklab::device
