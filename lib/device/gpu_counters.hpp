// The driver's counters of each GPU: power, clocks, energy. NVML or ROCm SMI is loaded at run time,
// so that a build without CUDA has them too.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace ranklab::device {

/// NaN or "" where the library does not say: it is older, or the GPU is lost.
struct GpuReading {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double busy_percent = kNone, memory_bytes = kNone;
    double power_W = kNone;  ///< now, or the driver's mean of the last second
    double temperature_C = kNone, clock_MHz = kNone;
    double energy_J = kNone;    ///< since the driver was loaded
    std::string throttle = {};  ///< what holds the clock down: "power cap, hot", or "none"

    static auto fields(auto& self) {
        return std::tie(self.busy_percent, self.memory_bytes, self.power_W, self.temperature_C,
                        self.clock_MHz, self.energy_J, self.throttle);
    }
};

struct GpuMeter {
    std::string id;  ///< the UUID, "GPU-<hex>"; the PCI id where there is none
    std::string pci_id, name;
    std::function<GpuReading()> read;
};

struct GpuMeters {
    std::vector<GpuMeter> gpus;
    std::string why_none;  ///< when `gpus` is empty
};

/// All GPUs of the host that this process may see, whatever CUDA_VISIBLE_DEVICES says. This and the
/// readings may block for as long as the driver does. RANKLAB_NVML_LIBRARY and
/// RANKLAB_ROCM_SMI_LIBRARY name other libraries.
GpuMeters open_gpu_meters();

/// Whether both name one PCI device: libraries write domains of 4 or 8 digits, and either case.
bool is_same_pci(std::string one, std::string other);

}  // namespace ranklab::device
