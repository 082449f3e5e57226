// A wall clock of its own for one process, preloaded: the true time plus an offset that may change while it runs.
//
// Linux has one wall clock for all namespaces, so a box cannot set its own. libfaketime does this and more, but changes the
// environment while the process starts, and a Swift program then does not find its arguments.
//
// WATCHBOX_CLOCK names a file that begins with the offset: nanoseconds, 64 bits, signed, in this machine's byte order. It is
// mapped, so write it in place. Monotonic time stays true. Waits until a wall clock time are translated where programs use
// them; times of files are not.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;
static const volatile int64_t *shared_offset;

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("WATCHBOX_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) shared_offset = page;
    close(file);
}

static int64_t offset(void) {
    return shared_offset ? *shared_offset : 0;
}

static struct timespec shifted(struct timespec time, int64_t by) {
    int64_t nanoseconds = time.tv_nsec + by % second;
    time.tv_sec += by / second;
    if (nanoseconds < 0) {
        nanoseconds += second;
        time.tv_sec -= 1;
    }
    time.tv_sec += nanoseconds / second;
    time.tv_nsec = nanoseconds % second;
    return time;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (syscall(SYS_clock_gettime, clock, time) != 0) return -1;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) *time = shifted(*time, offset());
    return 0;
}

int gettimeofday(struct timeval *restrict value, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    value->tv_sec = now.tv_sec;
    value->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

// Waits. What a caller computed from the clock above goes back to the true clock. glibc's own functions with an explicit
// clock do the waiting, so that this file needs no look-up of the functions that it replaces.

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
    int monotonic = (condition->__data.__wrefs & 2) != 0;  // glibc: made with pthread_condattr_setclock
    struct timespec real = monotonic ? *until : shifted(*until, -offset());
    return pthread_cond_clockwait(condition, mutex, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, &real);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    struct timespec real = shifted(*until, -offset());
    return sem_clockwait(semaphore, CLOCK_REALTIME, &real);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
    struct timespec real = shifted(*until, -offset());
    return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, &real);
}
