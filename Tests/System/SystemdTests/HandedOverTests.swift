import Glibc
import Testing

@testable import Systemd

/// One after the other: descriptors are numbers that the whole process shares.
@Suite(.serialized)
struct HandedOverTests {
    /// Two descriptors side by side with a closed one behind them, far above the numbers that other tests get.
    private func withDescriptors(_ body: (CInt) -> Void) throws {
        let zero = open("/dev/null", O_RDONLY)
        try #require(zero >= 0)
        defer { close(zero) }
        var least: CInt = 700
        while true {
            let first = fcntl(zero, F_DUPFD, least)
            try #require(first >= 0, "no free descriptor")
            let second = fcntl(zero, F_DUPFD, first + 1)
            try #require(second >= 0, "no free descriptor")
            defer {
                close(first)
                close(second)
            }
            if second == first + 1, fcntl(first + 2, F_GETFD) < 0 { return body(first) }
            least = second + 1
        }
    }

    private func take(_ environment: [String: String], _ first: CInt) -> [(name: String, descriptor: CInt)] {
        HandedOver.take(environment: environment, processIdentifier: 42, first: first)
    }

    @Test func `descriptors come with their names, close-on-exec`() throws {
        try withDescriptors { first in
            #expect(fcntl(first, F_GETFD) == 0)
            let taken = take(["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "api:relay"], first)
            #expect(taken.map(\.name) == ["api", "relay"])
            #expect(taken.map(\.descriptor) == [first, first + 1])
            #expect(fcntl(first, F_GETFD) == FD_CLOEXEC)
            #expect(fcntl(first + 1, F_GETFD) == FD_CLOEXEC)
        }
    }

    @Test(arguments: ["", "api", "api:", ":"])
    func `a missing name is unknown`(names: String) throws {
        try withDescriptors { first in
            let taken = take(["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": names], first)
            #expect(taken.last?.name == "unknown")
            #expect(taken.count == 2)
        }
    }

    @Test func `a descriptor that is not open is left out`() throws {
        try withDescriptors { first in
            let taken = take(["LISTEN_PID": "42", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "a:b:c"], first)
            #expect(taken.map(\.name) == ["a", "b"])
        }
    }

    @Test(arguments: [
        [:], ["LISTEN_FDS": "2"], ["LISTEN_PID": "42"], ["LISTEN_PID": "43", "LISTEN_FDS": "2"],
        ["LISTEN_PID": "42", "LISTEN_FDS": "0"], ["LISTEN_PID": "42", "LISTEN_FDS": "-1"],
        ["LISTEN_PID": "42", "LISTEN_FDS": "257"], ["LISTEN_PID": "42", "LISTEN_FDS": "many"],
        ["LISTEN_PID": "42", "LISTEN_FDS": "2147483648"],
    ])
    func `nothing is taken that was not meant for this process`(environment: [String: String]) throws {
        try withDescriptors { first in
            #expect(take(environment, first).isEmpty)
            #expect(fcntl(first, F_GETFD) == 0)
        }
    }
}
