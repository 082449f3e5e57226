#define _GNU_SOURCE
#include "sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// ---- landlock (linux/landlock.h, written out: the headers of Debian 12 know its first versions alone) ---------------

// One number on all architectures.
#define LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_ADD_RULE 445
#define LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_RULE_PATH_BENEATH 1
#define RIGHT_EXECUTE (1ull << 0)
#define RIGHT_WRITE_FILE (1ull << 1)
#define RIGHT_READ_FILE (1ull << 2)
#define RIGHT_READ_DIRECTORY (1ull << 3)
// ioctl on a device, since version 5.
#define RIGHT_DEVICE (1ull << 15)
#define LANDLOCK_CREATE_RULESET_VERSION 1u

struct landlock_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

int wb_landlock_version(void) {
    long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version >= 1 ? (int)version : version == 0 ? -ENOSYS : -errno;
}

int wb_landlock_enter(void) {
    const char *const none[] = {NULL};
    return wb_landlock_enter_but(none, none);
}

static int allow(int ruleset, const char *const *paths, uint64_t rights) {
    for (; *paths != NULL; paths++) {
        struct __attribute__((packed)) {
            uint64_t allowed_access;
            int32_t parent;
        } rule = {rights, open(*paths, O_PATH | O_CLOEXEC)};
        if (rule.parent < 0) continue;
        long result = syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        int failure = errno;
        close(rule.parent);
        if (result != 0) return -failure;
    }
    return 0;
}

int wb_landlock_enter_but(const char *const *readable, const char *const *writable) {
    int version = wb_landlock_version();
    if (version < 0) return version;
    struct landlock_attributes attributes = {0};
    // Rights 0 to 12 came with version 1, then refer, truncate and ioctl_dev.
    int rights = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    attributes.handled_access_fs = (1ull << rights) - 1;
    size_t size = offsetof(struct landlock_attributes, handled_access_net);
    if (version >= 4) {
        attributes.handled_access_net = 3; // bind and connect
        size = offsetof(struct landlock_attributes, scoped);
    }
    if (version >= 6) {
        attributes.scoped = 3; // abstract sockets and signals
        size = sizeof attributes;
    }
    int ruleset = (int)syscall(LANDLOCK_CREATE_RULESET, &attributes, size, 0);
    if (ruleset < 0) return -errno;
    uint64_t all = attributes.handled_access_fs;
    long result = allow(ruleset, readable, all & (RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIRECTORY));
    if (result == 0) result = allow(ruleset, writable, all & (RIGHT_READ_FILE | RIGHT_READ_DIRECTORY | RIGHT_WRITE_FILE | RIGHT_DEVICE));
    int failure = (int)-result;
    if (result == 0) {
        result = syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0);
        failure = errno;
    }
    close(ruleset);
    return result == 0 ? version : -failure;
}

// ---- seccomp -------------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "no list of system calls for this architecture"
#endif

// Older headers do not have them.
#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif

#define FIELD(name) (uint32_t)offsetof(struct seccomp_data, name)
// The lower half of an argument: both architectures are little-endian, and what is looked at fits into 32 bits.
#define ARGUMENT(index) (uint32_t)offsetof(struct seccomp_data, args[index])
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)

// What malloc asks for. Without MAP_SHARED among them, a mapping is private or invalid.
#define OWN_MEMORY (uint32_t)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | MAP_STACK)

static const struct sock_filter filter[] = {
    LOAD(FIELD(arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    // The calls of x32 have a bit of their own, and so a number that is none of these.
    LOAD(FIELD(nr)),
    ALLOW(read),
    ALLOW(write),
    ALLOW(futex),
    ALLOW(brk),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(madvise),
    ALLOW(clock_gettime),
    ALLOW(gettimeofday),
    ALLOW(clock_nanosleep),
    ALLOW(nanosleep),
    ALLOW(sched_yield),
    ALLOW(getrandom),
    ALLOW(rt_sigreturn),
    ALLOW(restart_syscall),
    ALLOW(exit),
    ALLOW(exit_group),
    // Memory of its own alone, which counts against its limits, and none that can be executed. Not MAP_GROWSDOWN, which is
    // counted as stack.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 5),
    LOAD(ARGUMENT(2)),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 2, 0),
    LOAD(ARGUMENT(3)),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ~OWN_MEMORY, 0, 5),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 2),
    LOAD(ARGUMENT(2)),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    RETURN(SECCOMP_RET_ALLOW),
};

int wb_seccomp_is_available(void) {
    // No filter at that address: EFAULT where there are filters, EINVAL where this kernel has none. Whoever refuses the
    // question (a service manager) is not a reason to go on without: entering fails then.
    return !(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1 && errno == EINVAL);
}

int wb_seccomp_enter(void) {
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = (struct sock_filter *)filter};
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (result == 0) return 0;
    // A thread that could not be filtered: not a reason to go on without.
    return result > 0 ? -EBUSY : -errno;
}

// ---- processes and memory --------------------------------------------------------------------------------------------

int wb_process_harden(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -errno;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return -errno;
    return 0;
}

int wb_close_from(int first) {
#ifdef __NR_close_range
    if (syscall(__NR_close_range, (unsigned)first, ~0u, 0) == 0) return 0;
#endif
    // Before Linux 5.9, or filtered away. Not up to a limit: descriptors above one that was lowered stay open.
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL) return -errno;
    struct dirent *entry;
    while (errno = 0, (entry = readdir(directory)) != NULL) {
        int descriptor = atoi(entry->d_name);
        if (descriptor >= first && descriptor != dirfd(directory)) close(descriptor);
    }
    int failure = errno;
    closedir(directory);
    return -failure;
}

int wb_spawn_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// MFD_NOEXEC_SEAL, which older headers do not have.
#define NOT_EXECUTABLE 8u

int wb_sealed_memory(size_t size) {
    int memory = memfd_create("watchbox", MFD_CLOEXEC | MFD_ALLOW_SEALING | NOT_EXECUTABLE);
    // Linux before 6.3 does not know it.
    if (memory < 0 && errno == EINVAL) memory = memfd_create("watchbox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -errno;
    // Out of the way of the places that a child gets.
    int descriptor = fcntl(memory, F_DUPFD_CLOEXEC, 10);
    int failure = errno;
    close(memory);
    if (descriptor < 0) return -failure;
    if (ftruncate(descriptor, (off_t)size) != 0
        || fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        failure = errno;
        close(descriptor);
        return -failure;
    }
    return descriptor;
}

// Linux names the file system of DMA-BUFs since 5.3 (linux/magic.h).
#define DMA_BUF_FILE_SYSTEM 0x444d4142
#define MEMORY_FILE_SYSTEM 0x01021994

long wb_lasting_memory(int descriptor) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    if (seals < 0) {
        struct statfs system;
        if (fstatfs(descriptor, &system) != 0) return -errno;
        if (system.f_type != DMA_BUF_FILE_SYSTEM) return -EPERM;
    } else {
        // Not of huge pages: to map those takes more addresses than were asked for.
        struct statfs system;
        if (fstatfs(descriptor, &system) != 0) return -errno;
        if ((seals & F_SEAL_SHRINK) == 0 || system.f_type != MEMORY_FILE_SYSTEM) return -EPERM;
    }
    off_t size = lseek(descriptor, 0, SEEK_END);
    return size < 0 ? -errno : (long)size;
}

long wb_receive(int socket, void *bytes, size_t size, int *descriptor) {
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    *descriptor = -1;
    if (count < 0) return -errno;
    // A message without bytes looks like the end of the socket, and could bring descriptors.
    int excess = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || (count == 0 && message.msg_controllen > 0);
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t sent = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < sent; index++) {
            int received;
            memcpy(&received, CMSG_DATA(header) + index * sizeof received, sizeof received);
            if (*descriptor < 0) {
                *descriptor = received;
            } else {
                close(received);
                excess = 1;
            }
        }
    }
    if (!excess) return count;
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    return -EBADMSG;
}

// ---- what must be refused --------------------------------------------------------------------------------------------

static int outcome(long result) { return result >= 0 ? 0 : -errno; }

int wb_try_open(const char *path) { return outcome(open(path, O_RDONLY | O_CLOEXEC)); }
int wb_try_socket(void) { return outcome(socket(AF_INET, SOCK_STREAM, 0)); }
int wb_try_execve(const char *path) {
    char *const words[] = {(char *)path, NULL};
    return outcome(execve(path, words, words + 1));
}
int wb_try_kill(void) { return outcome(kill(getppid(), 0)); }
int wb_try_ptrace(void) { return outcome(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL)); }
int wb_try_clone(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return outcome(child);
}

static int try_map(int protection, int flags) {
    void *memory = mmap(NULL, 4096, protection, flags | MAP_ANONYMOUS, -1, 0);
    return outcome(memory == MAP_FAILED ? -1 : 0);
}
int wb_try_executable_memory(void) { return try_map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE); }
int wb_try_growing_memory(void) { return try_map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_GROWSDOWN); }

int wb_try_readonly_memory(size_t size) {
    for (size_t piece = 1 << 20, sum = 0; sum <= size; sum += piece) {
        char *memory = mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return -errno;
        for (size_t place = 0; place < piece; place += 4096) memory[place] = 1;
        if (mprotect(memory, piece, PROT_READ) != 0) return -errno;
    }
    return 0;
}
int wb_try_shared_memory(void) { return try_map(PROT_READ | PROT_WRITE, MAP_SHARED); }
