// What a process can say about its own memory; docs/design/0004.

#ifndef WATCHBOX_CPROGRAM_H
#define WATCHBOX_CPROGRAM_H

/// Takes code and constants of the program and its libraries out of this process, and gives freed heap back. What is used again
/// comes back from the page cache, a page fault for each 64 KiB. From any thread, at any time.
void wb_program_release_pages(void);

/// One heap for all threads instead of one for each: to be called before there is a second thread.
void wb_program_use_one_heap(void);

#endif
