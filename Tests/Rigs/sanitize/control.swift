// What the sanitizers have to find, and what they must not: `control race|mutex|freed`. A run that reports nothing is believed only after this.
import Glibc
import Synchronization

final class Shared: Sendable {
    nonisolated(unsafe) var bare = 0
    let guarded = Mutex(0)
}

let shared = Shared()
let what = CommandLine.arguments.dropFirst().first ?? ""

func work() {
    for _ in 0..<100_000 {
        if what == "race" { shared.bare += 1 } else { shared.guarded.withLock { $0 += 1 } }
    }
}

if what == "freed" {
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
    memory.initialize(repeating: 1, count: 4)
    memory.deallocate()
    print(memory[2])
} else {
    var threads: [pthread_t] = []
    for _ in 0..<4 {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { _ in
                work(); return nil
            }, nil)
        threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
}
