/* Preloaded, it fails with EDQUOT, as on a file system whose quota is full, the calls that QUOTA_AT names ("write", "fsync", "close", separated by
 * commas; "read" fails with EIO) on files whose path holds QUOTA_ON; after the first QUOTA_AFTER bytes of the process (0). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static size_t written;

static int fails(int fd, const char* call, size_t bytes) {
    const char *on = getenv("QUOTA_ON"), *at = getenv("QUOTA_AT"), *after = getenv("QUOTA_AFTER");
    char link[64], path[4096];
    ssize_t length;
    if (on == NULL || at == NULL || strstr(at, call) == NULL) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strstr(path, on) == NULL) return 0;
    written += bytes;
    if (bytes > 0 && after != NULL && written <= strtoul(after, NULL, 10)) return 0;
    errno = EDQUOT;
    return 1;
}
static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

ssize_t write(int fd, const void* from, size_t bytes) {
    if (fails(fd, "write", bytes)) return -1;
    return ((ssize_t(*)(int, const void*, size_t))next("write"))(fd, from, bytes);
}
ssize_t pwrite(int fd, const void* from, size_t bytes, off_t at) {
    if (fails(fd, "write", bytes)) return -1;
    return ((ssize_t(*)(int, const void*, size_t, off_t))next("pwrite"))(fd, from, bytes, at);
}
ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t at) {
    if (fails(fd, "write", bytes)) return -1;
    return ((ssize_t(*)(int, const void*, size_t, off64_t))next("pwrite64"))(fd, from, bytes, at);
}
ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t at) {
    if (fails(fd, "write", 1)) return -1;
    return ((ssize_t(*)(int, const struct iovec*, int, off_t))next("pwritev"))(fd, parts, count, at);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
    if (fails(fd, "write", 1)) return -1;
    return ((ssize_t(*)(int, const struct iovec*, int))next("writev"))(fd, parts, count);
}
ssize_t read(int fd, void* to, size_t bytes) {
    if (fails(fd, "read", 0)) return errno = EIO, -1;
    return ((ssize_t(*)(int, void*, size_t))next("read"))(fd, to, bytes);
}
ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
    if (fails(fd, "read", 0)) return errno = EIO, -1;
    return ((ssize_t(*)(int, void*, size_t, off_t))next("pread"))(fd, to, bytes, at);
}
ssize_t pread64(int fd, void* to, size_t bytes, off64_t at) {
    if (fails(fd, "read", 0)) return errno = EIO, -1;
    return ((ssize_t(*)(int, void*, size_t, off64_t))next("pread64"))(fd, to, bytes, at);
}
int fsync(int fd) {
    if (fails(fd, "fsync", 0)) return -1;
    return ((int (*)(int))next("fsync"))(fd);
}
int close(int fd) {
    const int failed = fails(fd, "close", 0);
    const int result = ((int (*)(int))next("close"))(fd);
    if (failed) errno = EDQUOT;
    return failed ? -1 : result;
}
