import Glibc
import Logging
import Testing

@testable import Systemd

@Suite(.timeLimit(.minutes(15)))
struct JournalLogHandlerTests {
    private func logger(_ path: String) -> Logger {
        let socket = JournalSocket(path: path)
        return Logger(label: "test") {
            JournalLogHandler(label: $0, identifier: "watchboxd", messageID: { _ in nil }, socket: socket)
        }
    }

    @Test func `an entry arrives with all of its metadata`() throws {
        let journal = try ReceivingSocket()
        var log = logger(journal.path)
        log[metadataKey: "camera"] = "front"
        log.warning("no frame for 5 s", metadata: ["code": "WB-1001"])
        let text = try journal.receiveText()
        #expect(text.hasPrefix("MESSAGE=no frame for 5 s\nPRIORITY=4\nSYSLOG_IDENTIFIER=watchboxd\n"))
        #expect(text.hasSuffix("\nWATCHBOX_CAMERA=front\nWATCHBOX_CODE=WB-1001\n"))
        #expect(text.contains("JournalLogHandlerTests.swift\n"))
    }

    @Test func `what is said once replaces what is always said`() throws {
        let journal = try ReceivingSocket()
        var log = logger(journal.path)
        log[metadataKey: "camera"] = "front"
        log.info("x", metadata: ["camera": "back"])
        #expect(try journal.receiveText().hasSuffix("\nWATCHBOX_CAMERA=back\n"))
        #expect(log[metadataKey: "camera"] == "front")
    }

    @Test func `below the level nothing is sent`() throws {
        let journal = try ReceivingSocket()
        let log = logger(journal.path)
        log.debug("hidden")
        log.info("shown")
        #expect(try journal.receiveText().hasPrefix("MESSAGE=shown\n"))
    }

    @Test func `a journal that does not read holds up no one, and learns how much it missed`() throws {
        let journal = try ReceivingSocket()
        let log = logger(journal.path)
        // More than the kernel queues; would never end if an entry could wait.
        let count = 5000
        for index in 0..<count { log.info("entry \(index)") }
        var received = 0
        try #require(fcntl(journal.descriptor, F_SETFL, O_NONBLOCK) == 0)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while recv(journal.descriptor, &buffer, buffer.count, 0) > 0 { received += 1 }
        try #require(received < count)
        try #require(fcntl(journal.descriptor, F_SETFL, 0) == 0)
        log.info("back again")
        #expect(try journal.receiveText().hasSuffix("\nWATCHBOX_DROPPED=\(count - received)\n"))
        log.info("and again")
        #expect(try !journal.receiveText().contains("WATCHBOX_DROPPED"))
    }

    @Test(arguments: ["/tmp/watchbox-no-journal", "", "relative"])
    func `a journal that is gone is not an error`(path: String) {
        logger(path).critical("nobody hears this")
    }

    @Test func `the journal is there when standard error leads to it`() throws {
        let journal = try ReceivingSocket()
        var standardError = stat()
        try #require(fstat(journal.descriptor, &standardError) == 0)
        func isAvailable(_ stream: String?, _ path: String = journal.path) -> Bool {
            JournalLogHandler.isAvailable(stream: stream, standardError: standardError, socketPath: path)
        }
        #expect(isAvailable("\(standardError.st_dev):\(standardError.st_ino)"))
        #expect(!isAvailable("\(standardError.st_dev):\(standardError.st_ino + 1)"))
        #expect(!isAvailable("\(standardError.st_dev + 1):\(standardError.st_ino)"))
        #expect(!isAvailable("\(standardError.st_dev):\(standardError.st_ino)", "/tmp/watchbox-no-journal"))
        for stream in [nil, "", ":", "1", "1:2:3", "x:y"] { #expect(!isAvailable(stream)) }
    }
}
