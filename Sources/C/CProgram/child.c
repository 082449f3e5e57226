#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// In the child: only what is async-signal-safe, since other threads of the parent may have held any lock.
static void become(const char *path, char *const arguments[], pid_t parent, int report) {
    sigset_t none;
    // posix_spawn(3) has no word for this one.
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent) _exit(127);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) goto failed;
    // Libraries open descriptors that stay open on exec; a kernel without this (5.11) closes none of them.
    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(path, arguments);
failed:;
    const int number = errno;
    const ssize_t written = write(report, &number, sizeof number);
    _exit(written == sizeof number ? 127 : 126);
}

int wb_program_start_bound(const char *path, char *const arguments[], int32_t *process) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    const pid_t parent = getpid();
    sigset_t all, before;
    // No handler of the parent's runs in the child.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = fork();
    if (child == 0) become(path, arguments, parent, ends[1]);
    int failure = child < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (failure == 0) {
        int number = 0;
        ssize_t count;
        do count = read(ends[0], &number, sizeof number); while (count < 0 && errno == EINTR);
        if (count == sizeof number) {
            failure = number;
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        }
    }
    close(ends[0]);
    *process = child;
    return failure;
}
