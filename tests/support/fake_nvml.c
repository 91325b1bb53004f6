/* A stand-in for libnvidia-ml.so.1 with two GPUs of known numbers, as nvml.h lays them out. FAKE_NVML chooses more:
 * "lost": GPU 1 is lost, "lost-at-start" already when it is looked for; "no-energy-counter"; "still": the energy counter
 * never moves; "garbage": power and use are all ones;
 * "does-not-start"; "blocked": calls for power block for a minute once each GPU had one. Built with FAKE_OLD it lacks
 * functions that older drivers lack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, NOT_SUPPORTED = 3, LOST = 15 };
struct utilization { unsigned gpu, memory; };
struct memory { unsigned long long total, free, used; };
struct pci { char old_bus_id[16]; unsigned numbers[5]; char bus_id[32]; };
static int is(const char* mode) {
    const char* chosen = getenv("FAKE_NVML");
    return chosen != NULL && strcmp(chosen, mode) == 0;
}
/* A handle is the address of its number. */
static int gpus[] = {0, 1};
static int gpu(void* handle) { return *(int*)handle; }
static int state(void* handle) { return is("lost") && gpu(handle) == 1 ? LOST : OK; }

const char* nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "Other"; }
int nvmlInit_v2(void) { return is("does-not-start") ? 9 : OK; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) { return *handle = &gpus[index], is("lost-at-start") && index == 1 ? LOST : OK; }
int nvmlDeviceGetUUID(void* handle, char* to, unsigned size) {
    snprintf(to, size, "GPU-0000000%d-1111-2222-3333-444444444444", gpu(handle));
    return OK;
}
int nvmlDeviceGetName(void* handle, char* to, unsigned size) {
    snprintf(to, size, "Fake H100 no. %d", gpu(handle));
    return OK;
}
int nvmlDeviceGetPciInfo_v3(void* handle, struct pci* pci) {
    snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%dA:00.0", gpu(handle) + 1);
    return OK;
}
int nvmlDeviceGetUtilizationRates(void* handle, struct utilization* used) {
    return used->gpu = is("garbage") ? ~0U : 90U + gpu(handle), used->memory = 7, state(handle);
}
int nvmlDeviceGetMemoryInfo(void* handle, struct memory* memory) {
    return memory->used = (1 + gpu(handle)) * 1000000000ULL, state(handle);
}
int nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
    static int calls;
    if (is("blocked") && ++calls > 2) sleep(60);
    return *milliwatts = is("garbage") ? ~0U : 250500U + 1000 * gpu(handle), state(handle);
}
int nvmlDeviceGetTemperature(void* handle, int sensor, unsigned* celsius) {
    return *celsius = 60 + gpu(handle), sensor == 0 ? state(handle) : NOT_SUPPORTED;
}
int nvmlDeviceGetClockInfo(void* handle, int clock, unsigned* megahertz) {
    return *megahertz = clock == 1 ? 1980 : 1, state(handle);
}
#ifndef FAKE_OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(void* handle, unsigned long long* reasons) {
    return *reasons = gpu(handle) == 0 ? 0x4 | 0x20 : 0, state(handle);
}
/* 300 W and 400 W. */
int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* millijoules) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *millijoules = is("still") ? 7 : (now.tv_sec * 1000ULL + now.tv_nsec / 1000000) * (300 + 100 * gpu(handle));
    return is("no-energy-counter") ? NOT_SUPPORTED : state(handle);
}
#endif
