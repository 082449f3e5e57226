// What Thread Sanitizer cannot see on Linux: the slow way of Swift's Mutex, where the kernel hands the lock on (futex, priority
// inheritance), and libdispatch's semaphores. Neither library is built with it. Preloaded, this reports to it who waited for whom; the
// fast ways are compiled into our own code, where it sees them itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void acquire(void *address) {
    if (__tsan_acquire) __tsan_acquire(address);
}

static void release(void *address) {
    if (__tsan_release) __tsan_release(address);
}

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
    typedef SWIFT void (*Lock)(uint32_t, __attribute__((swift_context)) void *);
    static Lock original;
    if (!original) original = (Lock)dlsym(RTLD_NEXT, LOCK);
    original(thread, self);
    acquire(self);
}

SWIFT void unlock_slow(SELF) {
    typedef SWIFT void (*Unlock)(__attribute__((swift_context)) void *);
    static Unlock original;
    if (!original) original = (Unlock)dlsym(RTLD_NEXT, UNLOCK);
    release(self);
    original(self);
}

long dispatch_semaphore_wait(void *semaphore, uint64_t timeout) {
    static long (*original)(void *, uint64_t);
    if (!original) original = (long (*)(void *, uint64_t))dlsym(RTLD_NEXT, "dispatch_semaphore_wait");
    long result = original(semaphore, timeout);
    if (result == 0) acquire(semaphore);
    return result;
}

long dispatch_semaphore_signal(void *semaphore) {
    static long (*original)(void *);
    if (!original) original = (long (*)(void *))dlsym(RTLD_NEXT, "dispatch_semaphore_signal");
    release(semaphore);
    return original(semaphore);
}
