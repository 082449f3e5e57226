import Discovery
import Logging
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15)))
struct SearchTests {
    private let network = LoopbackNetwork()
    private let logger = Logger(label: "test")
    private let endpoint = "urn:uuid:2419d68a-2dd2-21b2-a205-ec71db1a2b3c"

    /// Of the test's own network only.
    private func options(ports: [UInt16], onvifPorts: [UInt16] = []) throws -> SearchOptions {
        var options = SearchOptions()
        options.multicast = false
        options.ranges = [try AddressRange(network.range)]
        options.ports = ports
        options.onvifPorts = onvifPorts
        // No one here is far away; but the machine may be busy.
        options.connectTimeout = .seconds(20)
        options.answerTimeout = .seconds(20)
        return options
    }

    @Test func `a scan distinguishes cameras from other servers by their first five bytes`() async throws {
        let open = try TCPPeer(network.host(1), .answers("RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: DESCRIBE\r\n\r\n"))
        let locked = try TCPPeer(network.host(2), .answers("RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\n\r\n"))
        let web = try TCPPeer(network.host(3), .answers("HTTP/1.1 400 Bad Request\r\n\r\n"))
        let shell = try TCPPeer(network.host(4), .greets("SSH-2.0-OpenSSH_9.2p1\r\n"))
        let peers = [open, locked, web, shell]
        defer { for peer in peers { peer.stop() } }
        let reports = Mutex<[SearchProgress]>([])
        let found = try await Search(try options(ports: peers.map(\.port)), logger: logger).run { report in
            reports.withLock { $0.append(report) }
        }
        #expect(
            found.map(\.source) == [
                "rtsp://\(network.host(1)):\(open.port)/", "rtsp://\(network.host(2)):\(locked.port)/",
            ])
        #expect(found.map(\.kind) == [.rtsp, .rtsp])
        #expect(found.map(\.needsLogin) == [nil, true])
        let last = try #require(reports.withLock { $0.last })
        #expect(last.found == found)
        #expect(last.probed == 24 && last.total == 24)
        #expect(last.problems.isEmpty)
        for peer in [open, locked] {
            #expect(peer.requests.count == 1)
            let request = try #require(peer.requests.first)
            #expect(request.hasPrefix("OPTIONS rtsp://") && request.split(separator: "OPTIONS").count == 1)
            #expect(!request.contains("Authorization"))
        }
    }

    @Test func `who is silent, or hangs up, is not a camera and holds up no one for good`() async throws {
        let silent = try TCPPeer(network.host(1), .silent)
        let camera = try TCPPeer(network.host(2), .answers("RTSP/1.0 200 OK\r\n\r\n"))
        defer {
            silent.stop()
            camera.stop()
        }
        var options = try options(ports: [silent.port, camera.port])
        options.answerTimeout = .milliseconds(300)
        options.concurrency = 1
        let found = try await Search(options, logger: logger).run { _ in }
        #expect(found.allSatisfy { $0.address == network.host(2) })
    }

    @Test func `a camera behind a router is found by its own answer to a probe, and asked who it is`() async throws {
        let body =
            "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\"><s:Body><GetDeviceInformationResponse>"
            + "<Manufacturer>ACME</Manufacturer><Model>WB-1</Model><FirmwareVersion>3</FirmwareVersion>"
            + "<SerialNumber>S1</SerialNumber></GetDeviceInformationResponse></s:Body></s:Envelope>"
        let service = try TCPPeer(
            network.host(5), .answers("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"))
        let stream = try TCPPeer(network.host(5), .answers("RTSP/1.0 200 OK\r\n\r\n"))
        let elsewhere = try TCPPeer(network.host(6), .answers("HTTP/1.1 200 OK\r\n\r\n"))
        let addresses =
            "http://0.0.0.0:\(service.port)/onvif/device_service http://\(network.host(6)):\(elsewhere.port)/onvif/x"
        let targets =
            "<d:ProbeMatches><d:ProbeMatch>\(TestSocket.target(endpoint, addresses: addresses))</d:ProbeMatch></d:ProbeMatches>"
        let device = try DiscoveryPeer(network.host(5), body: targets)
        defer {
            for peer in [service, stream, elsewhere] { peer.stop() }
            device.stop()
        }
        let found = try await Search(try options(ports: [stream.port]), logger: logger).run { _ in }
        let camera = try #require(found.first)
        #expect(found.count == 1)
        #expect(camera.kind == .onvif && camera.endpoint == endpoint && camera.address == network.host(5))
        #expect(camera.source == "onvif://\(network.host(5)):\(service.port)")
        #expect(camera.rtspPorts == [stream.port])
        #expect(camera.name == "Test" && camera.manufacturer == "ACME" && camera.hardware == "WB-1")
        #expect(camera.firmware == "3" && camera.serial == "S1" && camera.needsLogin == false)
        #expect(service.requests.count == 1)
        #expect(service.requests.allSatisfy { $0.contains("GetDeviceInformation") && !$0.contains("Authorization") })
        // It named somebody else's address: nothing is sent there.
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func `the ONVIF service of an RTSP camera is looked for`() async throws {
        let fault =
            "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\"><s:Body><s:Fault><s:Code><s:Value>s:Sender"
            + "</s:Value><s:Subcode><s:Value>ter:NotAuthorized</s:Value></s:Subcode></s:Code></s:Fault></s:Body></s:Envelope>"
        let stream = try TCPPeer(network.host(1), .answers("RTSP/1.0 200 OK\r\n\r\n"))
        let service = try TCPPeer(
            network.host(1), .answers("HTTP/1.1 400 X\r\nContent-Length: \(fault.utf8.count)\r\n\r\n\(fault)"))
        let web = try TCPPeer(network.host(1), .answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
        defer { for peer in [stream, service, web] { peer.stop() } }
        let options = try options(ports: [stream.port], onvifPorts: [web.port, service.port])
        let found = try await Search(options, logger: logger).run { _ in }
        #expect(found.map(\.source) == ["onvif://\(network.host(1)):\(service.port)"])
        #expect(found.first?.needsLogin == true)
        #expect(found.first?.rtspPorts == [stream.port])
        #expect(service.requests.count == 2)
        #expect(web.requests.count == 1)
    }

    @Test func `a camera that a long scan finds last is asked who it is`() async throws {
        let body =
            "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\"><s:Body><GetDeviceInformationResponse>"
            + "<SerialNumber>S1</SerialNumber></GetDeviceInformationResponse></s:Body></s:Envelope>"
        let silent = try TCPPeer(network.host(6), .silent)
        let camera = try TCPPeer(network.host(6), .answers("RTSP/1.0 200 OK\r\n\r\n"))
        let service = try TCPPeer(
            network.host(6), .answers("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"))
        defer { for peer in [silent, camera, service] { peer.stop() } }
        var options = try options(ports: [silent.port, camera.port], onvifPorts: [service.port])
        // The silent one holds the scan until long after the last Probe's answer was due.
        options.concurrency = 1
        options.answerTimeout = .seconds(8)
        let found = try await Search(options, logger: logger).run { _ in }
        #expect(found.map(\.source) == ["onvif://\(network.host(6)):\(service.port)"])
        #expect(found.map(\.serial) == ["S1"])
    }

    @Test(arguments: [true, false]) func `a search that is cancelled gives what it has`(byTask: Bool) async throws {
        let camera = try TCPPeer(network.host(1), .answers("RTSP/1.0 200 OK\r\n\r\n"))
        let silent = try TCPPeer(network.host(2), .silent)
        defer {
            camera.stop()
            silent.stop()
        }
        var options = try options(ports: [camera.port, silent.port])
        options.answerTimeout = .seconds(3600)
        let search = Search(options, logger: logger)
        let (finds, found) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            try await search.run { report in
                if !report.found.isEmpty { found.yield() }
            }
        }
        for await _ in finds { break }
        if byTask { running.cancel() } else { search.cancel() }
        #expect(try await running.value.map(\.address) == [network.host(1)])
    }

    @Test func `a search runs once, and not at all when it was cancelled before`() async throws {
        let search = Search(try options(ports: [1]), logger: logger)
        search.cancel()
        #expect(try await search.run { _ in }.isEmpty)
        await #expect(throws: DiscoveryError.ranAlready) { try await search.run { _ in } }
    }

    @Test func `more connections than the system gives are made one after the other`() async throws {
        let camera = try TCPPeer(network.host(6), .answers("RTSP/1.0 200 OK\r\n\r\n"))
        defer { camera.stop() }
        var options = try options(ports: [camera.port])
        options.concurrency = 1_000_000
        let found = try await Search(options, logger: logger).run { _ in }
        #expect(found.map(\.address) == [network.host(6)])
    }

    @Test func `this machine's interfaces are listed with their addresses`() throws {
        let interfaces = try NetworkInterfaces.list()
        let loopback = try #require(interfaces.first { $0.isLoopback })
        #expect(loopback.ipv4.contains(.init(address: "127.0.0.1", prefix: 8)))
        #expect(loopback.index > 0 && loopback.isUp)
        #expect(!loopback.isSearchable)
        #expect(Set(interfaces.map(\.name)).count == interfaces.count)
    }
}
