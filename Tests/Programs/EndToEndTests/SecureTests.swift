import Console
import Demonstration
import Foundation
import Testing

extension EndToEndTests {
    /// RTMPS and HTTPS, with an authority of the test's own.
    @Suite(.enabled(if: installed("openssl") != nil, "needs the openssl command to make certificates"))
    struct Secure {
        @Test(arguments: ["localhost", "127.0.0.1"])
        func `over RTMPS and HTTPS every access unit arrives bit-exact`(host: String) async throws {
            try await TestStage.run { stage in
                let authority = try await Authority(stage)
                let options = try await authority.certificate("here", for: "DNS:localhost,IP:127.0.0.1")
                let relay = try await stage.relay(options: options)
                let kas = try await stage.keyAccess(stream: "door", options: options)
                let url = "rtmps://\(host):\(relay.port)/live/door"
                let trust = ["--relay-ca", authority.file, "--kas-ca", authority.file]
                let viewer = try stage.start(
                    "viewer", "watchboxctl",
                    ["play", url, "--until-end", "--json", "--frame-log", stage.file("viewer.jsonl").path]
                        + Self.keys(kas, host, kas.viewToken) + trust)
                try await stage.wait(for: viewer, state: "waitingForStream")
                let camera = try stage.start(
                    "camera", "watchboxd",
                    [
                        "camera", "door", "--relay", url, "--duration", "3", "--rotate-seconds", "1", "--frame-log",
                        stage.file("camera.jsonl").path,
                    ] + Self.pattern + Self.keys(kas, host, kas.publishToken) + trust)
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await viewer.ended(within: .seconds(120)) == 0, "\(stage.words(of: "viewer"))")
                let sealed = try FrameRecord.read(stage.file("camera.jsonl"))
                let comparison = Comparison(camera: sealed, viewer: try FrameRecord.read(stage.file("viewer.jsonl")))
                #expect(comparison.isExact, "\(comparison)")
                #expect(comparison.rotations >= 1)
                #expect(Set(sealed.map(\.track)) == ["video", "audio"])
            }
        }

        /// What is wrong with the server that the camera meets.
        enum Fault: CaseIterable {
            case nobodyTrusted, otherHost

            var names: String {
                switch self {
                case .nobodyTrusted: "DNS:localhost,IP:127.0.0.1"
                case .otherHost: "DNS:elsewhere.example,IP:127.0.0.2"
                }
            }

            func trust(_ option: String, _ authority: Authority) -> [String] {
                switch self {
                case .nobodyTrusted: []
                case .otherHost: [option, authority.file]
                }
            }
        }

        @Test(arguments: Fault.allCases, ["localhost", "127.0.0.1"])
        func `a relay that cannot be trusted gets not one byte, and the camera says why and tries again`(
            fault: Fault, host: String
        ) async throws {
            try await TestStage.run { stage in
                let authority = try await Authority(stage)
                let relay = try await stage.relay(options: try await authority.certificate("relay", for: fault.names))
                let kas = try await stage.keyAccess(
                    stream: "door", options: try await authority.certificate("kas", for: Fault.nobodyTrusted.names))
                let camera = try stage.start(
                    "camera", "watchboxd",
                    ["camera", "door", "--relay", "rtmps://\(host):\(relay.port)/live/door"] + Self.pattern
                        + Self.keys(kas, host, kas.publishToken) + ["--kas-ca", authority.file]
                        + fault.trust("--relay-ca", authority))
                for _ in 1...2 {
                    let seen = camera.lines.count
                    let line = try await stage.wait(for: camera, state: "waitingToReconnect", skipping: seen)
                    let reason = line.reason ?? ""
                    #expect(reason.contains("could not be trusted"), "\(reason)")
                }
                try await Self.expectNothingPublished(stage, camera, relay.program)
            }
        }

        @Test(arguments: Fault.allCases, ["localhost", "127.0.0.1"])
        func `a KAS that cannot be trusted gives no key, and without one nothing is published`(
            fault: Fault, host: String
        ) async throws {
            try await TestStage.run { stage in
                let authority = try await Authority(stage)
                let relay = try await stage.relay(
                    options: try await authority.certificate("relay", for: Fault.nobodyTrusted.names))
                let kas = try await stage.keyAccess(
                    stream: "door", options: try await authority.certificate("kas", for: fault.names))
                let camera = try stage.start(
                    "camera", "watchboxd",
                    ["camera", "door", "--relay", "rtmps://\(host):\(relay.port)/live/door"] + Self.pattern
                        + Self.keys(kas, host, kas.publishToken) + ["--relay-ca", authority.file]
                        + fault.trust("--kas-ca", authority))
                let reason = try await stage.wait(for: camera, state: "waitingForKey").reason ?? ""
                #expect(reason.contains("no trusted TLS connection to \(host)"), "\(reason)")
                try await Self.expectNothingPublished(stage, camera, relay.program)
            }
        }

        static let pattern = [
            "--size", "160x90", "--rate", "15", "--bitrate", "60000", "--gop", "0.5", "--json",
        ]

        static func keys(_ kas: TestStage.KeyAccess, _ host: String, _ token: String) -> [String] {
            ["--kas", "https://\(host):\(kas.port)/kas", "--kas-token-file", token]
        }

        static func expectNothingPublished(
            _ stage: TestStage, _ camera: ChildProgram, _ relay: ChildProgram
        ) async throws {
            #expect(camera.exitStatus == nil, "the camera died: \(stage.words(of: "camera"))")
            await camera.stop()
            #expect(!camera.lines.compactMap(TestStage.StateLine.init).contains { $0.state == "publishing" })
            await relay.stop()
            let last = relay.lines.last ?? ""
            #expect(last.contains("\"bytesReceived\":0"), "\(last)")
            #expect(stage.words(of: "relay").contains("tls=true"), "\(stage.words(of: "relay"))")
            #expect(!stage.words(of: "relay").contains("publisher accepted"), "\(stage.words(of: "relay"))")
        }

        /// Signs certificates with the `openssl` command.
        struct Authority {
            /// PEM, for the options that name whom to trust.
            let file: String
            private let stage: TestStage

            init(_ stage: TestStage) async throws {
                self.stage = stage
                file = stage.file("ca.pem").path
                try await openssl(
                    ["req", "-x509", "-days", "2", "-subj", "/CN=WatchBox test authority", "-out", file]
                        + newKey(stage.file("ca-key.pem").path))
            }

            /// - Returns: the options of a server that has it.
            func certificate(_ name: String, for names: String) async throws -> [String] {
                let (key, request, certificate) = (
                    stage.file("\(name)-key.pem").path, stage.file("\(name)-request.pem").path,
                    stage.file("\(name).pem").path
                )
                try await openssl(
                    ["req", "-new", "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(names)", "-out", request]
                        + newKey(key))
                try await openssl([
                    "x509", "-req", "-days", "2", "-in", request, "-copy_extensions", "copy", "-CA", file, "-CAkey",
                    stage.file("ca-key.pem").path, "-CAcreateserial", "-out", certificate,
                ])
                return ["--tls-certificate", certificate, "--tls-key", key]
            }

            /// Another certificate for the key of the one that was made as `name`.
            /// - Returns: the options of a server that has it.
            func renewed(_ name: String, for names: String) async throws -> [String] {
                let (key, request, certificate) = (
                    stage.file("\(name)-key.pem").path, stage.file("\(name)-request.pem").path,
                    stage.file("\(name)-renewed.pem").path
                )
                try await openssl([
                    "req", "-new", "-key", key, "-subj", "/CN=\(name) renewed", "-addext", "subjectAltName=\(names)",
                    "-out", request,
                ])
                try await openssl([
                    "x509", "-req", "-days", "1", "-in", request, "-copy_extensions", "copy", "-CA", file, "-CAkey",
                    stage.file("ca-key.pem").path, "-CAcreateserial", "-out", certificate,
                ])
                return ["--tls-certificate", certificate, "--tls-key", key]
            }

            /// Of the key of a certificate, as a person makes it with `openssl`.
            func pin(_ name: String) async throws -> String {
                let (der, digest) = (stage.file("\(name).der"), stage.file("\(name).sha256"))
                try await openssl([
                    "pkey", "-in", stage.file("\(name)-key.pem").path, "-pubout", "-outform", "der", "-out", der.path,
                ])
                try await openssl(["dgst", "-sha256", "-binary", "-out", digest.path, der.path])
                return "sha256//" + (try Data(contentsOf: digest)).base64EncodedString()
            }

            private func newKey(_ path: String) -> [String] {
                ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path]
            }

            private func openssl(_ arguments: [String]) async throws {
                let program = try stage.startForeign("openssl", try #require(installed("openssl")), arguments)
                try #require(await program.ended(within: .seconds(120)) == 0, "\(stage.words(of: "openssl"))")
            }
        }
    }
}
