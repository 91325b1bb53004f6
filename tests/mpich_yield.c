/* Lets other processes run while a rank waits, which MPICH as Debian builds it never does: with more ranks than
 * cores, each wait then lasts until the system takes the core away, some milliseconds. What Open MPI has the
 * setting mpi_yield_when_idle for. Put in front by LD_PRELOAD, for tests alone: MPICH asks UCX for news through
 * this call whenever it waits. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

typedef unsigned (*Progress)(void *worker);

unsigned ucp_worker_progress(void *worker) {
    static Progress real = NULL;
    if (real == NULL) real = (Progress)dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned news = real(worker);
    if (news == 0) sched_yield();
    return news;
}
