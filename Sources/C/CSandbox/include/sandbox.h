#ifndef WATCHBOX_CSANDBOX_H
#define WATCHBOX_CSANDBOX_H

// No header of the system but stddef.h: its types would become this module's.
//
// System calls that have no wrapper in every glibc, or are variadic, or are made of macros: landlock, seccomp, sealed shared memory,
// messages with descriptors.

#include <stddef.h>

/// The version of landlock that this kernel has (1 and above), or a negative errno.
int wb_landlock_version(void);

/// Takes every right that landlock can take from the calling thread and what it starts: all files, and from the
/// versions that know them TCP, abstract sockets and signals. For good.
///
/// Returns the version, or a negative errno; then nothing has changed.
int wb_landlock_enter(void);

/// The same, but for files: those beneath `readable` may be read and started, those beneath `writable` read and written. Both end with NULL; what
/// is not there is left out.
int wb_landlock_enter_but(const char *const *readable, const char *const *writable);

/// Whether this kernel filters system calls at all: 1, or 0.
int wb_seccomp_is_available(void);

/// From now on all threads of this process may compute, use memory, wait, and read and write what is open; any other
/// system call ends the process with SIGSYS. For good. PR_SET_NO_NEW_PRIVS must be set before.
///
/// Returns 0 or a negative errno.
int wb_seccomp_enter(void);

/// What a process must be before it enters: it and its children gain nothing by exec, other processes of its user read
/// nothing of its memory, and it ends with the thread that made it. Returns 0 or a negative errno.
int wb_process_harden(void);

/// Closes all descriptors from `first` on, or fails. Returns 0 or a negative errno.
int wb_close_from(int first);

/// The same in a child, behind the other `actions` (posix_spawn_file_actions_t) and before its program. Returns 0 or an
/// error number.
int wb_spawn_close_from(void *actions, int first);

/// Memory of `size` bytes without a name, whose size cannot be changed any more; a descriptor of 10 or above that is
/// closed on exec, or a negative errno.
int wb_sealed_memory(size_t size);

/// Bytes of memory that another process made and can take none of away any more: a DMA-BUF, or sealed memory of ordinary
/// pages. Else a negative errno; EPERM: it could, and reading what is gone would end this process.
long wb_lasting_memory(int descriptor);

/// Takes the next message off a socket that keeps messages apart, without waiting, and the one descriptor that came with it, which is closed
/// on exec; -1 in `descriptor`: none came.
///
/// Returns the bytes of the message, 0 at the end of the socket, or a negative errno; EBADMSG: it is longer than `size`, came with more
/// than one descriptor, or has no bytes and one, and is gone.
long wb_receive(int socket, void *bytes, size_t size, int *descriptor);

/// For the check of the sandbox alone: calls that it has to refuse. Each returns 0 when it was let through, or a negative
/// errno.
int wb_try_open(const char *path);
int wb_try_socket(void);
int wb_try_execve(const char *path);
int wb_try_kill(void);
int wb_try_ptrace(void);
int wb_try_clone(void);
int wb_try_executable_memory(void);
int wb_try_shared_memory(void);
int wb_try_growing_memory(void);
/// Up to `size` bytes that were written, and then made read-only: no data any more for RLIMIT_DATA.
int wb_try_readonly_memory(size_t size);

#endif
