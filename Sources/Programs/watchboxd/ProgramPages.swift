import CProgram
import ServiceLifecycle

/// The program's own memory (docs/design/0004).
enum ProgramPages {
    /// Takes the pages of code and constants that were touched so far out of this process, and gives freed heap back. What
    /// runs again comes back from the page cache, a page fault for 64 KiB; what only the start needed, which is most of it,
    /// does not.
    static func release() { wb_program_release_pages() }

    /// One heap for all threads: each further one keeps what it once held, and grows by a system call for each page. For
    /// roles that allocate little; before there are threads.
    static func useOneHeap() { wb_program_use_one_heap() }
}

/// Releases what the start of a daemon needed, once it has settled.
struct StartPages: Service {
    func run() async throws {
        await cancelWhenGracefulShutdown {
            for seconds in [2, 8] {
                guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                ProgramPages.release()
            }
        }
        // A service that returns ends its group.
        try? await gracefulShutdown()
    }
}
