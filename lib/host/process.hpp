// What the kernel says of this process: the figures that htop and Slurm's MaxRSS are read for.
#pragma once

#include <cstdint>
#include <string>

namespace ranklab::host {

/// Highest resident set so far, or since restart_peak_rss(), in bytes (getrusage's ru_maxrss).
std::int64_t peak_rss_bytes();

/// Gives unused memory back and has the peak begin anew, at what is resident now. False where the kernel
/// refuses; the peak then stays.
bool restart_peak_rss();

/// Of the host, in bytes; 0 if unknown.
std::int64_t memory_bytes();

/// What the job asked Slurm for on this host, in bytes (SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU times
/// SLURM_CPUS_ON_NODE); 0 where it asked for none, or there is no Slurm.
std::int64_t memory_asked_bytes();

/// EnvironmentError where the limit of the address space (ulimit -v) leaves less than `more_bytes` beside
/// what is mapped: libraries that meet it in their midst end the process by signals or in their own words.
void require_address_space(std::uint64_t more_bytes);

/// EnvironmentError where a limit is too low for the daemon that Open MPI starts beside a process without a
/// launcher: the size of a file (ulimit -f: the daemon would spin and take all memory), open files (-n), the
/// stack (-s) and threads (-u); or where its folder for temporary files cannot be written.
void require_limits_of_lone_mpi();

/// Threads of this process now (/proc/self/status); 0 if unknown.
int thread_count();

/// Of the program that started this one; "" if unknown. Of a rank that Hydra started on its own host:
/// mpiexec's.
std::string starter_name();

/// Seconds since the kernel started this process (resolution 10 ms): loading libraries is in it.
double seconds_since_process_start();

}  // namespace ranklab::host
