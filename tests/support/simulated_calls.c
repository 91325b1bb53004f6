// To be preloaded: an allreduce of 4 KiB or more takes no time, but moves the steady clock on by 10 ms times exp(0.1 x), x by an
// autoregressive series of first order for each message size: standard normal, with the autocorrelation SIMULATED_PHI.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { kLeast = 4096, kMost = 1 << 20 };
static long long passed_ns;

int clock_gettime(clockid_t clock, struct timespec* now) {
    static int (*next)(clockid_t, struct timespec*);
    if (!next) next = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
    const int code = next(clock, now);
    if (clock != CLOCK_MONOTONIC) return code;
    const long long ns = now->tv_nsec + passed_ns;
    now->tv_sec += ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
    return code;
}

static double normal(void) {
    static unsigned short state[3];
    static int seeded;
    if (!seeded) state[0] = (unsigned short)atoi(getenv("SIMULATED_SEED")), seeded = 1;
    const double u = 1 - erand48(state), v = erand48(state);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    static double x[kMost];
    static char met[kMost];
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    bytes *= count;
    if (bytes >= kLeast && bytes < kMost) {
        const double phi = met[bytes] ? atof(getenv("SIMULATED_PHI")) : 0;
        x[bytes] = phi * x[bytes] + sqrt(1 - phi * phi) * normal();
        met[bytes] = 1;
        passed_ns += llround(1e7 * exp(0.1 * x[bytes]));
    }
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}
