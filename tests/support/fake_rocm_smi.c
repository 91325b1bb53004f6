/* A stand-in for librocm_smi64.so with one GPU of known numbers, as rocm_smi.h of ROCm 6 lays them out. */
#include <stdint.h>
#include <stdio.h>

enum { OK = 0, NOT_SUPPORTED = 2 };
struct frequencies { _Bool deep_sleep; uint32_t supported, current; uint64_t frequency[33]; };

int rsmi_init(uint64_t flags) { return flags == 0 ? OK : NOT_SUPPORTED; }
int rsmi_num_monitor_devices(uint32_t* count) { return *count = 1, OK; }
int rsmi_dev_pci_id_get(uint32_t gpu, uint64_t* id) { return *id = 0xC100 + gpu, OK; }
int rsmi_dev_unique_id_get(uint32_t gpu, uint64_t* id) { return *id = 0xABCDEF + gpu, OK; }
int rsmi_dev_name_get(uint32_t gpu, char* to, size_t size) { return snprintf(to, size, "Fake MI300 no. %u", gpu), OK; }
int rsmi_dev_busy_percent_get(uint32_t gpu, uint32_t* percent) { return *percent = 70 + gpu, OK; }
int rsmi_dev_memory_usage_get(uint32_t gpu, int type, uint64_t* bytes) { return *bytes = 5000 + gpu, type == 0 ? OK : NOT_SUPPORTED; }
/* As on a GPU without the socket's power and the edge's temperature. */
int rsmi_dev_current_socket_power_get(uint32_t gpu, uint64_t* microwatts) { return *microwatts = gpu, NOT_SUPPORTED; }
int rsmi_dev_power_ave_get(uint32_t gpu, uint32_t sensor, uint64_t* microwatts) { return *microwatts = 140000000 + gpu + sensor, OK; }
int rsmi_dev_temp_metric_get(uint32_t gpu, uint32_t sensor, int metric, int64_t* millidegrees) {
    return *millidegrees = 55000 + (int)gpu, sensor == 1 && metric == 0 ? OK : NOT_SUPPORTED;
}
int rsmi_dev_gpu_clk_freq_get(uint32_t gpu, int clock, struct frequencies* is) {
    (void)gpu;
    is->supported = 2;
    is->current = 1;
    is->frequency[1] = 2100000000;
    return clock == 0 ? OK : NOT_SUPPORTED;
}
int rsmi_dev_energy_count_get(uint32_t gpu, uint64_t* count, float* microjoules, uint64_t* timestamp) {
    return *count = 2000000 + gpu, *microjoules = 15.25F, *timestamp = 1, OK;
}
