// What a process can say about its own memory (docs/design/0004), and a child that does not survive it.

#ifndef WATCHBOX_CPROGRAM_H
#define WATCHBOX_CPROGRAM_H

#include <stdint.h>

/// Takes code and constants of the program and its libraries out of this process, and gives freed heap back. What is used again
/// comes back from the page cache, a page fault for each 64 KiB. From any thread, at any time.
void wb_program_release_pages(void);

/// One heap for all threads instead of one for each: to be called before there is a second thread.
void wb_program_use_one_heap(void);

/// Starts a program with this process's environment, which gets SIGTERM when the calling *thread* ends, however that happens. Its
/// standard input is empty, its standard output is this one's standard error, and it does not hear SIGINT.
/// Returns 0, and who is to be waited for; else an errno, and there is no child.
int wb_program_start_bound(const char *path, char *const arguments[], int32_t *process);

#endif
