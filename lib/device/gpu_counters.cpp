#include "device/gpu_counters.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/text.hpp"

namespace ranklab::device {
namespace {

/// An optional function of NVML or ROCm SMI. Both return 0 on success.
template <class... Arguments>
struct Function {
    int (*call)(Arguments...);

    // POSIX allows calling dlsym's result; C++ needs reinterpret_cast for that.
    Function(void* library, const char* name)
        : call(reinterpret_cast<decltype(call)>(dlsym(library, name))) {}
    bool operator()(Arguments... arguments) const { return status(arguments...) == 0; }
    int status(Arguments... arguments) const { return call == nullptr ? -1 : call(arguments...); }
    /// Passes `others` and a pointer to a value. Returns unit * value; NaN on failure.
    double number(double unit, auto... others) const {
        using Last = std::tuple_element_t<sizeof...(others), std::tuple<Arguments...>>;
        std::remove_pointer_t<Last> value{};
        return (*this)(others..., &value) ? unit * static_cast<double>(value) : GpuReading::kNone;
    }
    std::string text(auto gpu) const {
        std::array<char, 256> letters{};
        return (*this)(gpu, letters.data(), letters.size() - 1)
                   ? base::printable(letters.data(), 200)
                   : "";
    }
};

// The library is never closed: a thread may still block in it when the program ends.
void* load(const char* variable, std::vector<const char*> names, std::string& why_not) {
    const char* chosen = std::getenv(variable);
    if (chosen != nullptr && *chosen != '\0') names = {chosen};
    for (const char* name : names)
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (chosen != nullptr && *chosen != '\0') why_not = base::printable(dlerror(), 200);
    return nullptr;
}

// Copied from nvml.h: struct layouts and constants.
struct NvmlUtilization {
    unsigned gpu, memory;
};
struct NvmlMemory {
    unsigned long long total, free, used;
};
struct NvmlPci {
    std::array<char, 16> old_bus_id;
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    std::array<char, 32> bus_id;
};
constexpr int kGpuTemperature = 0, kSmClock = 1;

struct Nvml {
    using Device = void*;
    void* library;
    Function<> init{library, "nvmlInit_v2"};
    Function<unsigned*> count{library, "nvmlDeviceGetCount_v2"};
    Function<unsigned, Device*> device{library, "nvmlDeviceGetHandleByIndex_v2"};
    Function<Device, char*, unsigned> uuid{library, "nvmlDeviceGetUUID"};
    Function<Device, char*, unsigned> name{library, "nvmlDeviceGetName"};
    Function<Device, NvmlPci*> pci{library, "nvmlDeviceGetPciInfo_v3"};
    Function<Device, NvmlUtilization*> utilization{library, "nvmlDeviceGetUtilizationRates"};
    Function<Device, NvmlMemory*> memory{library, "nvmlDeviceGetMemoryInfo"};
    Function<Device, unsigned*> power{library, "nvmlDeviceGetPowerUsage"};
    Function<Device, int, unsigned*> temperature{library, "nvmlDeviceGetTemperature"};
    Function<Device, int, unsigned*> clock{library, "nvmlDeviceGetClockInfo"};
    Function<Device, unsigned long long*> throttle{library,
                                                   "nvmlDeviceGetCurrentClocksThrottleReasons"};
    Function<Device, unsigned long long*> energy{library, "nvmlDeviceGetTotalEnergyConsumption"};
};

std::string error_text(void* library, int code) {
    const auto text = reinterpret_cast<const char* (*)(int)>(dlsym(library, "nvmlErrorString"));
    return fmt::format("{} (code {})",
                       text == nullptr ? "no reason given" : base::printable(text(code), 100),
                       code);
}

// A counter that the driver cannot read may be all ones.
double plausible(double value, double most) {
    return value <= most ? value : GpuReading::kNone;
}

std::string throttle_text(unsigned long long reasons) {
    constexpr std::pair<unsigned, const char*> kReasons[] = {
        {0x1, "idle"},           {0x2, "clocks set"},       {0x4, "power cap"},
        {0x8, "hardware"},       {0x10, "sync boost"},      {0x20, "hot"},
        {0x40, "hardware: hot"}, {0x80, "hardware: power"}, {0x100, "display clocks"}};
    std::vector<std::string> found;
    for (const auto& [bit, what] : kReasons)
        if ((reasons & bit) != 0) found.emplace_back(what);
    if (const auto others = reasons & ~0x1FFULL) found.push_back(fmt::format("{:#x}", others));
    return found.empty() ? "none" : base::join(found, ", ");
}

GpuReading read(const Nvml& nvml, Nvml::Device gpu) {
    GpuReading is{.power_W = plausible(nvml.power.number(1e-3, gpu), 1e5),
                  .temperature_C = nvml.temperature.number(1, gpu, kGpuTemperature),
                  .clock_MHz = nvml.clock.number(1, gpu, kSmClock),
                  .energy_J = nvml.energy.number(1e-3, gpu)};
    if (NvmlUtilization used{}; nvml.utilization(gpu, &used))
        is.busy_percent = plausible(used.gpu, 100);
    if (NvmlMemory memory{}; nvml.memory(gpu, &memory))
        is.memory_bytes = static_cast<double>(memory.used);
    if (unsigned long long reasons = 0; nvml.throttle(gpu, &reasons))
        is.throttle = throttle_text(reasons);
    return is;
}

GpuMeters nvml_meters() {
    GpuMeters meters;
    void* library = load("RANKLAB_NVML_LIBRARY", {"libnvidia-ml.so.1"}, meters.why_none);
    if (library == nullptr) return meters;
    const auto nvml = std::make_shared<const Nvml>(Nvml{library});
    unsigned count = 0;
    int code = nvml->init.status();
    if (code == 0) code = nvml->count.status(&count);
    if (code != 0) return {{}, "NVML does not start: " + error_text(library, code)};
    for (unsigned i = 0; i < count; ++i) {
        Nvml::Device gpu = nullptr;
        if (!nvml->device(i, &gpu)) {  // the driver lost the GPU
            meters.gpus.push_back({fmt::format("{}", i), "", "", [] { return GpuReading{}; }});
            continue;
        }
        NvmlPci pci{};
        const std::string pci_id = nvml->pci(gpu, &pci) ? pci.bus_id.data() : "";
        const std::string uuid = nvml->uuid.text(gpu);
        meters.gpus.push_back({uuid.empty() ? pci_id : uuid, pci_id, nvml->name.text(gpu),
                               [nvml, gpu] { return read(*nvml, gpu); }});
    }
    if (count == 0) meters.why_none = "NVML lists no GPU";
    return meters;
}

// Copied from rocm_smi.h of ROCm 6: struct layouts and constants.
struct RocmFrequencies {
    bool has_deep_sleep;
    std::uint32_t supported, current;
    std::array<std::uint64_t, 33> frequency;
};
constexpr int kVideoMemory = 0, kEdge = 0, kJunction = 1, kCurrent = 0, kSystemClock = 0;

struct RocmSmi {
    using Device = std::uint32_t;
    void* library;
    Function<std::uint64_t> init{library, "rsmi_init"};
    Function<Device*> count{library, "rsmi_num_monitor_devices"};
    Function<Device, std::uint64_t*> pci{library, "rsmi_dev_pci_id_get"};
    Function<Device, std::uint64_t*> unique_id{library, "rsmi_dev_unique_id_get"};
    Function<Device, char*, std::size_t> name{library, "rsmi_dev_name_get"};
    Function<Device, std::uint32_t*> busy{library, "rsmi_dev_busy_percent_get"};
    Function<Device, int, std::uint64_t*> memory{library, "rsmi_dev_memory_usage_get"};
    Function<Device, std::uint64_t*> power{library, "rsmi_dev_current_socket_power_get"};
    Function<Device, std::uint32_t, std::uint64_t*> mean_power{library, "rsmi_dev_power_ave_get"};
    Function<Device, std::uint32_t, int, std::int64_t*> temperature{library,
                                                                    "rsmi_dev_temp_metric_get"};
    Function<Device, int, RocmFrequencies*> clock{library, "rsmi_dev_gpu_clk_freq_get"};
    Function<Device, std::uint64_t*, float*, std::uint64_t*> energy{library,
                                                                    "rsmi_dev_energy_count_get"};
};

// `one`, or `other` if `one` is NaN.
double either(double one, double other) {
    return std::isnan(one) ? other : one;
}

// Before ROCm 6 the struct had no has_deep_sleep: `current` then reads as at least `supported`, and
// the result is NaN.
double clock_of(const RocmSmi& smi, RocmSmi::Device gpu) {
    RocmFrequencies is{};
    const bool is_there = smi.clock(gpu, kSystemClock, &is) && is.current < is.supported &&
                          is.current < is.frequency.size();
    return is_there ? 1e-6 * static_cast<double>(is.frequency[is.current]) : GpuReading::kNone;
}

GpuReading read(const RocmSmi& smi, RocmSmi::Device gpu) {
    GpuReading is{
        .busy_percent = smi.busy.number(1, gpu),
        .memory_bytes = smi.memory.number(1, gpu, kVideoMemory),
        .power_W = either(smi.power.number(1e-6, gpu), smi.mean_power.number(1e-6, gpu, 0)),
        .temperature_C = either(smi.temperature.number(1e-3, gpu, kEdge, kCurrent),
                                smi.temperature.number(1e-3, gpu, kJunction, kCurrent)),
        .clock_MHz = clock_of(smi, gpu)};
    float microjoules = 0;
    std::uint64_t counted = 0, timestamp = 0;
    if (smi.energy(gpu, &counted, &microjoules, &timestamp))
        is.energy_J = 1e-6 * double{microjoules} * static_cast<double>(counted);
    return is;
}

GpuMeters rocm_meters() {
    GpuMeters meters;
    // Without the kernel's driver the library prints an exception of its own.
    const char* chosen = std::getenv("RANKLAB_ROCM_SMI_LIBRARY");
    if ((chosen == nullptr || *chosen == '\0') && ::access("/dev/kfd", F_OK) != 0) return meters;
    void* library = load("RANKLAB_ROCM_SMI_LIBRARY",
                         {"librocm_smi64.so.7", "librocm_smi64.so.6",
                          "/opt/rocm/lib/librocm_smi64.so", "librocm_smi64.so"},
                         meters.why_none);
    if (library == nullptr) return meters;
    const auto smi = std::make_shared<const RocmSmi>(RocmSmi{library});
    RocmSmi::Device count = 0;
    if (!smi->init(0) || !smi->count(&count)) return {{}, "ROCm SMI does not start"};
    for (RocmSmi::Device gpu = 0; gpu < count; ++gpu) {
        std::uint64_t pci = 0, unique = 0;
        std::string pci_id;
        if (smi->pci(gpu, &pci))
            pci_id = fmt::format("{:04x}:{:02x}:{:02x}.{}", pci >> 32, pci >> 8 & 0xFF,
                                 pci >> 3 & 0x1F, pci & 7);
        const bool has_unique = smi->unique_id(gpu, &unique);
        meters.gpus.push_back({has_unique ? fmt::format("GPU-{:016x}", unique) : pci_id, pci_id,
                               smi->name.text(gpu), [smi, gpu] { return read(*smi, gpu); }});
    }
    if (count == 0) meters.why_none = "ROCm SMI lists no GPU";
    return meters;
}

}  // namespace

GpuMeters open_gpu_meters() {
    auto nvidia = nvml_meters();
    if (!nvidia.gpus.empty()) return nvidia;
    auto amd = rocm_meters();
    std::string why_none;
    if (!amd.gpus.empty()) return amd;
    for (const auto& why : {nvidia.why_none, amd.why_none})
        if (!why.empty()) why_none += (why_none.empty() ? "" : "; ") + why;
    return {{},
            why_none.empty()
                ? "neither NVML (NVIDIA) nor ROCm SMI (AMD) could be loaded on this host"
                : why_none};
}

bool is_same_pci(std::string one, std::string other) {
    for (auto* id : {&one, &other}) {
        std::ranges::transform(*id, id->begin(), [](unsigned char c) { return std::tolower(c); });
        id->erase(0, id->find_first_not_of('0'));
    }
    return !one.empty() && one == other;
}

}  // namespace ranklab::device
