// The driver's counters of each GPU: power, clocks, energy. Loads NVML or ROCm SMI at run time, so
// that a build without CUDA has the counters, too.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace ranklab::device {

/// One sample of a GPU. A field is NaN or "" if the library lacks the counter (an older version) or
/// the driver lost the GPU.
struct GpuReading {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double busy_percent = kNone, memory_bytes = kNone;
    double power_W = kNone;  ///< instantaneous, or the driver's mean over a second
    double temperature_C = kNone, clock_MHz = kNone;
    double energy_J = kNone;    ///< since the driver's start
    std::string throttle = {};  ///< reasons for a lower clock, "power cap, hot", or "none"

    static auto fields(auto& self) {
        return std::tie(self.busy_percent, self.memory_bytes, self.power_W, self.temperature_C,
                        self.clock_MHz, self.energy_J, self.throttle);
    }
};

struct GpuMeter {
    std::string id;  ///< the UUID, "GPU-<hex>"; else the PCI id; the index if the GPU is lost
    std::string pci_id, name;
    std::function<GpuReading()> read;
};

struct GpuMeters {
    std::vector<GpuMeter> gpus;
    std::string why_none;  ///< set if `gpus` is empty
};

/// All GPUs of the host that the driver shows this process; CUDA_VISIBLE_DEVICES has no influence.
/// This call and GpuMeter::read may block as long as the driver does. RANKLAB_NVML_LIBRARY and
/// RANKLAB_ROCM_SMI_LIBRARY replace the libraries.
GpuMeters open_gpu_meters();

/// Compares PCI ids. Libraries write the domain with 4 or 8 digits, in upper or lower case.
bool is_same_pci(std::string one, std::string other);

}  // namespace ranklab::device
