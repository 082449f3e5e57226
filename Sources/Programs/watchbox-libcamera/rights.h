#pragma once

/// Takes from this process what it has no use for: the files of its user (credentials among them), the memory of other processes, the network over
/// TCP, new rights. Says so where the kernel has no landlock. It ends with the thread that started it.
void giveUpRights();
