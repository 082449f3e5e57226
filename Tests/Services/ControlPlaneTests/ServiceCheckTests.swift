import BoxConfiguration
import ControlAPI
import ErrorCatalog
import Foundation
import Settings
import Testing

@testable import ControlPlane

/// What is valid by the rules of the configuration, and cannot work on this machine.
struct ServiceCheckTests {
    private static let shipped = """
        [Unit]
        Description=SocketBindAllow=tcp:1
        [Service]
        SocketBindDeny=any
        SocketBindAllow=tcp:1935
        # SocketBindAllow=tcp:2000
        SocketBindAllow = tcp:1936

        """

    @Test func `ports are read as systemd reads units and drop-ins`() {
        let ports = UnitPorts(files: [Self.shipped])
        #expect(ports.allows(1935) == .allowed)
        #expect(ports.allows(1936) == .allowed)
        for port in [1, 443, 1934, 1940, 2000, 65_535] { #expect(ports.allows(port) == .filtered, "\(port)") }
        func with(_ lines: String) -> UnitPorts { UnitPorts(files: [Self.shipped, "[Service]\n\(lines)\n"]) }
        #expect(with("SocketBindAllow=tcp:1940-1950").allows(1945) == .allowed)
        #expect(with("SocketBindAllow=ipv4:tcp:1940").allows(1940) == .allowed)
        #expect(with("SocketBindAllow=1940").allows(1940) == .allowed)
        #expect(with("SocketBindAllow=udp:1940").allows(1940) == .filtered)
        #expect(with("SocketBindAllow=udp").allows(1940) == .filtered)
        #expect(with("SocketBindAllow=tcp").allows(1940) == .allowed)
        #expect(with("SocketBindAllow=any").allows(1940) == .allowed)
        #expect(with("SocketBindAllow=").allows(1935) == .filtered)
        #expect(with("SocketBindDeny=").allows(1940) == .allowed)
        #expect(with("SocketBindAllow=tcp:443").allows(443) == .privileged)
        #expect(
            with("SocketBindAllow=tcp:443\nAmbientCapabilities=CAP_NET_BIND_SERVICE").allows(443) == .allowed)
        #expect(with("SocketBindAllow=tcp:x\nSocketBindAllow=tcp:9-1\nSocketBindAllow=:::").allowed?.isEmpty == false)
    }

    private func box() throws -> ControlStage {
        let stage = try ControlStage()
        let units = stage.paths.unitDirectories[1]
        try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
        for (unit, lines) in [
            ("relay", Self.shipped),
            ("kas", "[Service]\nDynamicUser=yes\nSocketBindDeny=any\nSocketBindAllow=tcp:9443\n"),
        ] {
            try lines.write(toFile: "\(units)/watchbox-\(unit).service", atomically: true, encoding: .utf8)
        }
        let libraries = stage.paths.systemdLibraries[0]
        try FileManager.default.createDirectory(atPath: libraries, withIntermediateDirectories: true)
        try "".write(toFile: "\(libraries)/libsystemd-core-257.9-1.so", atomically: true, encoding: .utf8)
        return stage
    }

    @Test func `where systemd has no filter a port is a warning, and one below 1024 is refused`() async throws {
        let stage = try box()
        let libraries = stage.paths.systemdLibraries[0]
        try FileManager.default.moveItem(
            atPath: "\(libraries)/libsystemd-core-257.9-1.so", toPath: "\(libraries)/libsystemd-shared-252.so")
        let control = try await stage.start()
        try stage.write("relay_server = { enabled = true, listen = \"127.0.0.1:1940\" }\n")
        let validation = try await control.send(.post, "config/validate").document(ValidationDocument.self)
        #expect(validation.isValid && validation.issues.map(\.key) == ["relay_server.listen"])
        #expect(await control.send(.post, "config/apply").status == 200)
        try stage.write("relay_server = { enabled = true, listen = \"127.0.0.1:443\" }\n")
        #expect(await control.send(.post, "config/apply").status >= 400)
    }

    @Test func `a file that the unit's own groups or state directory may open is a warning`() {
        let shipped = "[Service]\nDynamicUser=yes\nUser=wb-kas\nStateDirectory=watchbox-kas\n"
        func rights(_ lines: String) -> UnitRights { UnitRights(files: [shipped, "[Service]\n\(lines)\n"]) }
        #expect(!rights("").mayRead("/etc/ssl/private/key.pem"))
        #expect(!rights("").mayRead("/var/lib/watchbox-kas-other/key.pem"))
        #expect(rights("").mayRead("/var/lib/watchbox-kas/key.pem"))
        #expect(rights("").mayRead("/var/lib/private/watchbox-kas/key.pem"))
        for line in ["SupplementaryGroups=ssl-cert", "Group=ssl-cert", "DynamicUser=no\nUser=tls"] {
            #expect(rights(line).mayRead("/etc/ssl/private/key.pem"), "\(line)")
        }
        #expect(!rights("SupplementaryGroups=").mayRead("/etc/ssl/private/key.pem"))
    }

    @Test(arguments: [(443, "below 1024"), (1940, "may not bind")])
    func `a port that the unit may not bind is refused with the drop-in that would allow it`(
        port: Int, words: String
    ) async throws {
        let stage = try box()
        try stage.write("relay_server = { enabled = true, listen = \"127.0.0.1:1935\" }\n")
        let control = try await stage.start()
        #expect(try await control.send(.post, "config/validate").document(ValidationDocument.self).isValid)
        try stage.write("relay_server = { enabled = true, listen = \"127.0.0.1:\(port)\" }\n")
        let validation = try await control.send(.post, "config/validate").document(ValidationDocument.self)
        #expect(!validation.isValid)
        let issue = try #require(validation.issues.first)
        #expect(issue.key == "relay_server.listen")
        #expect(issue.reason.contains("port \(port)") && issue.reason.contains(words), "\(issue)")
        #expect(issue.hint.contains("systemctl edit watchbox-relay.service"), "\(issue.hint)")
        #expect(issue.hint.contains("SocketBindAllow=tcp:\(port)"))
        #expect(issue.hint.contains("CAP_NET_BIND_SERVICE") == (port < 1024))
        for (method, path) in [(APIRequest.Method.get, "config/diff"), (.post, "config/apply")] {
            let answer = await control.send(method, path)
            #expect(answer.status >= 400)
            #expect(answer.text.contains("systemctl edit"), "\(answer.text)")
        }
        #expect(stage.file("run/service/relay.json")?.contains("1935") == true)

        // The drop-in that it names.
        let directory = "\(stage.paths.unitDirectories[0])/watchbox-relay.service.d"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try "[Service]\nSocketBindAllow=tcp:\(port)\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n"
            .write(toFile: "\(directory)/override.conf", atomically: true, encoding: .utf8)
        #expect(try await control.send(.post, "config/validate").document(ValidationDocument.self).isValid)
        #expect(await control.send(.post, "config/apply").status == 200)
        #expect(stage.file("run/service/relay.json")?.contains("\(port)") == true)
    }

    @Test func `files that a process with a user of its own cannot read are refused, what runs is not a reason`()
        async throws
    {
        // A path that is open for everybody, as /etc is.
        let place = "/tmp/wb-open-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: place) }
        for (name, mode) in [("chain.pem", 0o644), ("key.pem", 0o600)] {
            _ = FileManager.default.createFile(
                atPath: "\(place)/\(name)", contents: Data("x".utf8), attributes: [.posixPermissions: mode])
        }
        #expect(OpenFile.obstacle("\(place)/chain.pem") == nil)
        #expect(OpenFile.obstacle("\(place)/key.pem")?.contains("cannot be read") == true)
        #expect(OpenFile.obstacle("\(place)/gone.pem") == "is not there")
        #expect(OpenFile.obstacle(place) == "is not a file")
        #expect(OpenFile.obstacle("/run/credentials/watchbox-kas.service/kas-tls-key") == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place)
        #expect(OpenFile.obstacle("\(place)/chain.pem")?.contains("closed to its process") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place)

        let stage = try box()
        let control = try await stage.start()
        func kas(_ key: String) -> String {
            "kas_server = { enabled = true, listen = \"127.0.0.1:9443\", tls_certificate = \"\(place)/chain.pem\", tls_key = \"\(key)\" }\n"
        }
        try stage.write(kas("\(place)/key.pem"))
        let validation = try await control.send(.post, "config/validate").document(ValidationDocument.self)
        #expect(validation.issues.map(\.key) == ["kas_server.tls_key"])
        #expect(validation.issues[0].hint.contains("systemd-creds encrypt --name=kas-tls-key"))
        #expect(await control.send(.post, "config/apply").status >= 400)
        try stage.write(kas("/run/credentials/watchbox-kas.service/kas-tls-key"))
        #expect(await control.send(.post, "config/apply").status == 200)

        try stage.write(
            "relay_server = { enabled = true, listen = \"127.0.0.1:1935\", forward_ca_file = \"\(place)/gone.pem\" }\n"
                + kas("/run/credentials/watchbox-kas.service/kas-tls-key"))
        let forwards = try await control.send(.post, "config/validate").document(ValidationDocument.self)
        #expect(!forwards.isValid && forwards.issues.map(\.key) == ["relay_server.forward_ca_file"])
        #expect(forwards.issues.first?.reason == "\(place)/gone.pem is not there")
        #expect(await control.send(.post, "config/apply").status >= 400)

        // The certificate goes while it runs: another change is not refused for that.
        try FileManager.default.removeItem(atPath: "\(place)/chain.pem")
        try stage.write("box = { name = \"other\" }\n" + kas("/run/credentials/watchbox-kas.service/kas-tls-key"))
        let later = try await control.send(.post, "config/validate").document(ValidationDocument.self)
        #expect(later.isValid && later.issues.map(\.key) == ["kas_server.tls_certificate"])
        #expect(await control.send(.post, "config/apply").status == 200)
    }
}
