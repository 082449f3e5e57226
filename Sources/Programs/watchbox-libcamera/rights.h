#pragma once

/// Takes from this process what it has no use for: the files of its user (credentials among them), the memory of other processes, new rights; TCP
/// since Linux 6.7, signals to others since 6.12. Says so where the kernel has no landlock. It ends with the thread that started it.
///
/// Starts the program once more, with the same arguments: libraries have threads already, which landlock would not hold. The second call,
/// in the new program, returns.
void holdBack(char **arguments);
