/* A library to preload that makes one call of the system fail, or all from then on.
 *
 * FAULTS_UNDER   only calls about files below this folder count (threads and the clock always do)
 * FAULTS_ERRNO   what the call fails with
 * FAULTS_AT      the number of the call, from 1 on, that fails; 0: none
 * FAULTS_LASTS   1: every later one fails, too
 * FAULTS_KINDS   letters: o open, r read, w write and make room, s sync, n rename, link, make, remove, m map,
 *                t start a thread, f fork, c the clock is before 1970 from then on
 * FAULTS_COUNT   a file that the number of calls is written to at the end of the process, where it is named
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char *under, *kinds;
static int code, lasts;
static long at;
static atomic_long calls;
static atomic_int clock_is_wrong;

/* Read the environment again, and count from 0: for a process that was forked. */
__attribute__((constructor)) void faults_arm(void) {
    calls = 0;
    under = getenv("FAULTS_UNDER");
    kinds = getenv("FAULTS_KINDS");
    code = atoi(getenv("FAULTS_ERRNO") ? getenv("FAULTS_ERRNO") : "0");
    at = atol(getenv("FAULTS_AT") ? getenv("FAULTS_AT") : "0");
    lasts = getenv("FAULTS_LASTS") != NULL && *getenv("FAULTS_LASTS") == '1';
}

/* At the end, and before an end without destructors. */
__attribute__((destructor)) void faults_count(void) {
    const char *name = getenv("FAULTS_COUNT");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", (long)calls);
        fclose(file);
    }
}

/* Whether this call fails; sets errno. */
static int fails(char kind) {
    if (!kinds || !strchr(kinds, kind)) return 0;
    long now = atomic_fetch_add(&calls, 1) + 1;
    if (!at || now < at || (now > at && !lasts)) return 0;
    if (strchr(kinds, 'c')) {
        clock_is_wrong = 1;
        return 0;
    }
    errno = code;
    return 1;
}

static int path_counts(const char *path) {
    if (!under || !path) return 0;
    if (*path == '/') return strncmp(path, under, strlen(under)) == 0;
    char here[4096];
    return getcwd(here, sizeof here) && strncmp(here, under, strlen(under)) == 0;
}

static int file_counts(int file) {
    char link[64], path[4096];
    if (!under || file < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return path_counts(path);
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define BY_PATH(kind, path, otherwise) \
    if (path_counts(path) && fails(kind)) return otherwise
#define BY_FILE(kind, file, otherwise) \
    if (file_counts(file) && fails(kind)) return otherwise
/* What opens for writing is refused by a disk that is read only. */
#define OPENING(path, flags) \
    if (path_counts(path) && (code != EROFS || ((flags) & (O_WRONLY | O_RDWR | O_CREAT))) && fails('o')) return -1
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    }

int open(const char *path, int flags, ...) { MODE(flags) REAL(open); OPENING(path, flags); return real(path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) REAL(open64); OPENING(path, flags); return real(path, flags, mode); }
int openat(int d, const char *path, int flags, ...) { MODE(flags) REAL(openat); OPENING(path, flags); return real(d, path, flags, mode); }
int openat64(int d, const char *path, int flags, ...) { MODE(flags) REAL(openat64); OPENING(path, flags); return real(d, path, flags, mode); }

ssize_t read(int f, void *b, size_t n) { REAL(read); BY_FILE('r', f, -1); return real(f, b, n); }
ssize_t pread(int f, void *b, size_t n, off_t o) { REAL(pread); BY_FILE('r', f, -1); return real(f, b, n, o); }
ssize_t pread64(int f, void *b, size_t n, off64_t o) { REAL(pread64); BY_FILE('r', f, -1); return real(f, b, n, o); }
ssize_t write(int f, const void *b, size_t n) { REAL(write); BY_FILE('w', f, -1); return real(f, b, n); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { REAL(pwrite); BY_FILE('w', f, -1); return real(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { REAL(pwrite64); BY_FILE('w', f, -1); return real(f, b, n, o); }
int ftruncate(int f, off_t n) { REAL(ftruncate); BY_FILE('w', f, -1); return real(f, n); }
int ftruncate64(int f, off64_t n) { REAL(ftruncate64); BY_FILE('w', f, -1); return real(f, n); }
int posix_fallocate(int f, off_t o, off_t n) { REAL(posix_fallocate); BY_FILE('w', f, code); return real(f, o, n); }
int fsync(int f) { REAL(fsync); BY_FILE('s', f, -1); return real(f); }
int fdatasync(int f) { REAL(fdatasync); BY_FILE('s', f, -1); return real(f); }
int msync(void *b, size_t n, int flags) { REAL(msync); if (fails('s')) return -1; return real(b, n, flags); }
int rename(const char *a, const char *b) { REAL(rename); BY_PATH('n', b, -1); return real(a, b); }
int link(const char *a, const char *b) { REAL(link); BY_PATH('n', b, -1); return real(a, b); }
int linkat(int d, const char *a, int e, const char *b, int f) { REAL(linkat); BY_PATH('n', b, -1); return real(d, a, e, b, f); }
int unlink(const char *a) { REAL(unlink); BY_PATH('n', a, -1); return real(a); }
int unlinkat(int d, const char *a, int f) { REAL(unlinkat); if (file_counts(d) && fails('n')) return -1; return real(d, a, f); }
int rmdir(const char *a) { REAL(rmdir); BY_PATH('n', a, -1); return real(a); }
int mkdir(const char *a, mode_t m) { REAL(mkdir); BY_PATH('n', a, -1); return real(a, m); }
void *mmap(void *b, size_t n, int p, int flags, int f, off_t o) { REAL(mmap); BY_FILE('m', f, MAP_FAILED); return real(b, n, p, flags, f, o); }
void *mmap64(void *b, size_t n, int p, int flags, int f, off64_t o) { REAL(mmap64); BY_FILE('m', f, MAP_FAILED); return real(b, n, p, flags, f, o); }

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*work)(void *), void *with) {
    REAL(pthread_create);
    if (fails('t')) return code;
    return real(t, a, work, with);
}

pid_t fork(void) { REAL(fork); if (fails('f')) return -1; return real(); }
pid_t vfork(void) { return fork(); }

int clock_gettime(clockid_t which, struct timespec *now) {
    REAL(clock_gettime);
    int result = real(which, now);
    if (clock_is_wrong && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec = -86400;
    return result;
}
