// Preloaded, it makes each pread of a program take 2 ms longer, as those of a slow file system do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

static void wait_first(void) {
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
}

ssize_t pread(int fd, void* to, size_t size, off_t at) {
    ssize_t (*next)(int, void*, size_t, off_t) =
        (ssize_t(*)(int, void*, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    wait_first();
    return next(fd, to, size, at);
}

ssize_t pread64(int fd, void* to, size_t size, off64_t at) {
    ssize_t (*next)(int, void*, size_t, off64_t) =
        (ssize_t(*)(int, void*, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    wait_first();
    return next(fd, to, size, at);
}
