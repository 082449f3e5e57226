// `swift build --static-swift-stdlib` builds this target too, without tests, and has no Testing.
#if canImport(Testing)
    import Glibc
    package import Testing

    /// Runs each test on a thread of its own: what blocks or computes at length there does not keep the tests of other
    /// targets waiting for one of the pool's few threads.
    package struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
        package var isRecursive: Bool { true }

        @concurrent package func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
        ) async throws {
            try await withTaskExecutorPreference(ThreadExecutor()) { try await function() }
        }

        private final class ThreadExecutor: TaskExecutor {
            func enqueue(_ job: consuming ExecutorJob) {
                let work = Unmanaged.passRetained(Work(job: UnownedJob(job), executor: self))
                var thread = pthread_t()
                let result = pthread_create(
                    &thread, nil,
                    { argument in
                        guard let argument else { return nil }
                        let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                        work.job.runSynchronously(on: work.executor.asUnownedTaskExecutor())
                        return nil
                    }, work.toOpaque())
                precondition(result == 0)
                pthread_detach(thread)
            }
        }

        private final class Work: Sendable {
            let job: UnownedJob
            let executor: ThreadExecutor

            init(job: UnownedJob, executor: ThreadExecutor) {
                self.job = job
                self.executor = executor
            }
        }
    }

    extension Trait where Self == OwnThreadTrait {
        package static var ownThread: Self { OwnThreadTrait() }
    }
#endif
