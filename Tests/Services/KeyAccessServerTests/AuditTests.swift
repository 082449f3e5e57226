import Foundation
import KeyAccess
import Testing

@testable import KeyAccessServer

@Suite struct AuditTests {
    private struct Line: Decodable {
        var time: Int64
        var event: String
        var address: String
        var decision: String
        var reason: String?
        var leftOut: Int?
        var repeats: Int?
    }

    private func lines(_ rig: Rig) throws -> [Line] {
        try rig.auditLines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    private func refused(_ rig: Rig, from address: String) -> Int {
        rig.endpoints.answer(ServiceRequest(method: .post, path: Route.rewrap, address: address)).status
    }

    @Test func `a flood of refusals has one line a second, and is counted`() throws {
        let rig = try Rig()
        for _ in 0..<1000 { #expect(refused(rig, from: "192.0.2.7") == 401) }
        #expect(try lines(rig).count == 1)
        #expect(try lines(rig)[0].leftOut == nil)
        rig.time.seconds += 1
        #expect(refused(rig, from: "192.0.2.7") == 401)
        #expect(try lines(rig).map(\.leftOut) == [nil, 999])
        // What no later line would report is reported without one.
        for _ in 0..<4 { #expect(refused(rig, from: "192.0.2.7") == 401) }
        rig.endpoints.maintain()
        #expect(try lines(rig).count == 2)
        rig.time.seconds += 1
        rig.endpoints.maintain()
        #expect(try lines(rig).map(\.leftOut) == [nil, 999, 4])
        rig.time.seconds += 1
        rig.endpoints.maintain()
        #expect(try lines(rig).count == 3)
    }

    @Test func `a flood from everywhere is bounded as well`() throws {
        let rig = try Rig()
        for number in 0..<5000 { #expect(refused(rig, from: "2001:db8:\(number)::1") == 401) }
        #expect(try lines(rig).count == RefusalThrottle.linesPerSecond)
        rig.time.seconds += 1
        rig.endpoints.maintain()
        let all = try lines(rig)
        #expect(all.count <= 2 * RefusalThrottle.linesPerSecond)
        #expect(all.count { $0.leftOut == nil } + all.reduce(0) { $0 + ($1.leftOut ?? 0) } == 5000)
    }

    @Test func `hosts of one network share a line`() throws {
        let rig = try Rig()
        for host in 1...50 { #expect(refused(rig, from: "2001:db8::\(host)") == 401) }
        #expect(try lines(rig).count == 1)
    }

    /// Every key that is given has its line, whatever else happens.
    @Test func `permissions are never left out`() throws {
        let rig = try Rig()
        let client = TestClient()
        let token = try rig.accessToken()
        for _ in 0..<20 {
            let header = try rig.sealedHeader()
            try rig.register(header: header, stream: "front")
            _ = rig.post(Route.rewrap, try client.request(client.body([header]), now: rig.time.seconds), token: token)
        }
        #expect(try lines(rig).count { $0.event == "rewrap" && $0.decision == "permit" } == 20)
    }

    @Test func `without its line no key is given`() throws {
        let rig = try Rig()
        let client = TestClient()
        let header = try rig.sealedHeader()
        try rig.register(header: header, stream: "front")
        let token = try rig.accessToken()
        func ask() throws -> ServiceAnswer {
            rig.post(Route.rewrap, try client.request(client.body([header]), now: rig.time.seconds), token: token)
        }
        #expect(try ask().status == 200)
        rig.time.seconds += PermitMemory.window
        // A directory of that name: not even root can write there.
        try FileManager.default.removeItem(atPath: rig.path + "/audit.jsonl")
        try FileManager.default.createDirectory(atPath: rig.path + "/audit.jsonl", withIntermediateDirectories: false)
        let answer = try ask()
        #expect(answer.status == 503)
        #expect(!answer.text.contains("kasWrappedKey"))
        try FileManager.default.removeItem(atPath: rig.path + "/audit.jsonl")
        #expect(try ask().rewrap.responses[0].results[0].isPermitted)
        #expect(try lines(rig).count == 1)
    }

    @Test func `a line that a full disk cut off does not spoil the next`() throws {
        let rig = try Rig()
        let client = TestClient()
        let header = try rig.sealedHeader()
        try rig.register(header: header, stream: "front")
        let token = try rig.accessToken()
        func ask() throws -> Int {
            rig.post(Route.rewrap, try client.request(client.body([header]), now: rig.time.seconds), token: token)
                .status
        }
        #expect(try ask() == 200)
        rig.time.seconds += PermitMemory.window
        // /dev/full takes nothing; a link to it stands for a disk without space.
        let path = rig.path + "/audit.jsonl"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        #expect(try ask() == 503)
        try FileManager.default.removeItem(atPath: path)
        #expect(try ask() == 200)
        #expect(try lines(rig).count == 1)
    }

    /// Who may view a stream asks for its key a thousand times: the disk does not fill, and nothing is hidden.
    @Test func `the same key given again has no line of its own, and is counted`() throws {
        let rig = try Rig()
        let client = TestClient()
        let (header, other) = (try rig.sealedHeader(), try rig.sealedHeader())
        for header in [header, other] { try rig.register(header: header, stream: "front") }
        func ask(_ header: [UInt8], subject: String = "viewer") throws -> Bool {
            try rig.post(
                Route.rewrap, client.request(client.body([header]), now: rig.time.seconds),
                token: rig.accessToken(subject: subject)
            ).rewrap.responses[0].results[0].isPermitted
        }
        func given() throws -> [Line] { try lines(rig).filter { $0.event == "rewrap" } }
        for _ in 0..<100 { #expect(try ask(header)) }
        #expect(try given().map(\.repeats) == [nil])
        // Another key, and somebody else, each have their own.
        #expect(try ask(other) && ask(header, subject: "guest"))
        #expect(try given().count == 3)
        rig.time.seconds += PermitMemory.window
        #expect(try ask(header))
        #expect(try given().map(\.repeats) == [nil, nil, nil, 99])
        #expect(try ask(header))
        rig.time.seconds += PermitMemory.window
        rig.endpoints.maintain()
        #expect(try given().map(\.repeats) == [nil, nil, nil, 99, 1])
        rig.endpoints.maintain()
        #expect(try given().count == 5)
    }

    @Test func `what the memory of given keys has no room for is logged each time`() {
        var memory = PermitMemory()
        func entry(_ number: Int) -> AuditEntry {
            AuditEntry(time: 0, event: .rewrap, address: "a", headerSha256: "\(number)", decision: "permit")
        }
        for number in 0..<(PermitMemory.capacity + 10) {
            #expect(memory.asked("\(number)", now: 0) == 0)
            memory.reported("\(number)", entry(number), now: 0)
        }
        #expect(memory.asked("0", now: 1) == nil)
        #expect(memory.asked("\(PermitMemory.capacity)", now: 1) == 0)
        // A clock that was ahead, and is put right, hides nothing.
        #expect(memory.asked("0", now: -5) == 1)
        #expect(memory.settle(now: PermitMemory.window).map(\.repeats) == [1])
        #expect(memory.settle(now: PermitMemory.window).isEmpty)
    }
}
