/* To be preloaded: makes each rank a node of its own, and one of them slow.
 *   RANKLAB_NODES        rank N joins the cgroup of the folder RANKLAB_NODES<N>; in comm only with RANKLAB_PIN, since ranks that share a core
 *                        cannot yield to each other from different cgroups
 *   RANKLAB_PIN          rank N runs on core N
 *   RANKLAB_SLOW_WRITES  "RANK US": each write of 64 KiB or more by that rank takes so much longer
 *   RANKLAB_SLOW_LINK    "A B NS": each exchange of ranks A and B takes NS longer per KiB */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int rank = -1, slow_rank = -1, a = -1, b = -1;
static long write_us, ns_per_kib;

static const char *value(const char *name) { return getenv(name) != NULL ? getenv(name) : ""; }

static void wait_ns(long ns) {
    const struct timespec pause = {ns / 1000000000, ns % 1000000000};
    nanosleep(&pause, NULL);
}

__attribute__((constructor)) static void join_node(void) {
    const char *nodes = value("RANKLAB_NODES"), *own = getenv("OMPI_COMM_WORLD_RANK") != NULL ? getenv("OMPI_COMM_WORLD_RANK") : value("PMIX_RANK");
    char program[16] = "";
    prctl(PR_GET_NAME, program);
    if (strncmp(program, "ranklab-", 8) != 0 || (*nodes != 0 && *own == 0)) return;
    rank = atoi(own);
    sscanf(value("RANKLAB_SLOW_WRITES"), "%d %ld", &slow_rank, &write_us);
    sscanf(value("RANKLAB_SLOW_LINK"), "%d %d %ld", &a, &b, &ns_per_kib);
    if (*nodes == 0 || (strcmp(program, "ranklab-comm") == 0 && *value("RANKLAB_PIN") == 0)) return;
    char path[4096];
    snprintf(path, sizeof path, "%s%d/cgroup.procs", nodes, rank);
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%d", (int)getpid()) < 0 || fclose(file) != 0) {
        fprintf(stderr, "rank %d cannot join %s\n", rank, path);
        _exit(1);
    }
    if (*value("RANKLAB_PIN") == 0) return;
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(rank, &core);
    sched_setaffinity(0, sizeof core, &core);
}

static ssize_t slowed(ssize_t written) {
    if (rank >= 0 && rank == slow_rank && written >= 65536) wait_ns(1000 * write_us);
    return written;
}

ssize_t write(int file, const void *bytes, size_t count) {
    static ssize_t (*real)(int, const void *, size_t);
    if (real == NULL) real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return slowed(real(file, bytes, count));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    static ssize_t (*real)(int, const struct iovec *, int);
    if (real == NULL) real = (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
    return slowed(real(file, parts, count));
}

int MPI_Sendrecv(const void *sent, int count, MPI_Datatype type, int to, int tag, void *received, int count_received, MPI_Datatype type_received, int from,
                 int tag_received, MPI_Comm comm, MPI_Status *status) {
    const int code = PMPI_Sendrecv(sent, count, type, to, tag, received, count_received, type_received, from, tag_received, comm, status);
    if (a < 0 || (rank != a && rank != b)) return code;
    int bytes = 0, other = -1;
    MPI_Group members, world;
    PMPI_Type_size(type, &bytes);
    PMPI_Comm_group(comm, &members);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(members, 1, &to, world, &other);
    PMPI_Group_free(&members);
    PMPI_Group_free(&world);
    if (other == a + b - rank) wait_ns(ns_per_kib * bytes / 1024 * count);
    return code;
}
