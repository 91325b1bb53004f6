// The kernel's figures of this process, as htop and Slurm's MaxRSS show them.
#pragma once

#include <cstdint>

namespace ranklab::host {

/// Highest resident set so far, in bytes (getrusage's ru_maxrss).
std::int64_t peak_rss_bytes();

/// Memory of the host in bytes; 0 if unknown.
std::int64_t memory_bytes();

/// Memory that the job asked Slurm for on this host, in bytes (SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU times
/// SLURM_CPUS_ON_NODE); 0 where it asked for none, or there is no Slurm.
std::int64_t memory_asked_bytes();

/// Threads of this process now (/proc/self/status); 0 if unknown.
int thread_count();

/// Seconds since the kernel started this process (resolution 10 ms): loading libraries is in it.
double seconds_since_process_start();

}  // namespace ranklab::host
