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

/// EnvironmentError where the limit of the address space (ulimit -v) leaves less than `more_bytes` beside
/// what is mapped: libraries that meet it in their midst end the process by signals or in their own words.
void require_address_space(std::uint64_t more_bytes);

/// Threads of this process now (/proc/self/status); 0 if unknown.
int thread_count();

/// Seconds since the kernel started this process (resolution 10 ms): loading libraries is in it.
double seconds_since_process_start();

}  // namespace ranklab::host
