/* A disk or file server that is slow, by LD_PRELOAD: the calls named in SLOW_FILES_CALLS (open fsync close write
 * rename), on files whose path has SLOW_FILES_NAME in it, block inside the kernel for SLOW_FILES_MS first: in the
 * opening of a FIFO that has no other end yet. At most SLOW_FILES_MOST of them a process; only of the Open MPI
 * rank SLOW_FILES_RANK, if set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int blocked;

static void *open_other_end(void *path) {
    const long ms = atol(getenv("SLOW_FILES_MS"));
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
    syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, path, O_WRONLY));
    return NULL;
}

static void block(void) {
    char folder[] = "/tmp/ranklab-slow-XXXXXX";
    char path[64];
    pthread_t thread;
    if (mkdtemp(folder) == NULL) abort();
    snprintf(path, sizeof path, "%s/fifo", folder);
    if (mkfifo(path, 0600) != 0 || pthread_create(&thread, NULL, open_other_end, path) != 0) abort();
    syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
    pthread_join(thread, NULL);
    unlink(path);
    rmdir(folder);
}

static void on_path(const char *call, const char *path) {
    const char *calls = getenv("SLOW_FILES_CALLS");
    const char *name = getenv("SLOW_FILES_NAME");
    const char *most = getenv("SLOW_FILES_MOST");
    const char *rank = getenv("SLOW_FILES_RANK");
    const char *own = getenv("OMPI_COMM_WORLD_RANK");
    if (calls == NULL || name == NULL || strstr(calls, call) == NULL || strstr(path, name) == NULL) return;
    if (rank != NULL && own != NULL && strcmp(rank, own) != 0) return;
    if (most != NULL && atomic_fetch_add(&blocked, 1) >= atoi(most)) return;
    block();
}

static void on_descriptor(const char *call, int descriptor) {
    char link[64];
    char path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    on_path(call, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                           \
    int name(const char *path, int flags, ...) {             \
        va_list more;                                        \
        va_start(more, flags);                               \
        const int mode = va_arg(more, int);                  \
        va_end(more);                                        \
        on_path("open", path);                               \
        return REAL(name)(path, flags, mode);                \
    }
OPEN(open)
OPEN(open64)

int fsync(int descriptor) {
    on_descriptor("fsync", descriptor);
    return REAL(fsync)(descriptor);
}
int close(int descriptor) {
    on_descriptor("close", descriptor);
    return REAL(close)(descriptor);
}
ssize_t write(int descriptor, const void *bytes, size_t count) {
    on_descriptor("write", descriptor);
    return REAL(write)(descriptor, bytes, count);
}
int rename(const char *from, const char *to) {
    on_path("rename", to);
    return REAL(rename)(from, to);
}
