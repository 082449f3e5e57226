import CameraModel
import ControlAPI
import Glibc
import Systemd
import Testing

@testable import HealthMonitor

struct CameraSocketTests {
    @Test func `an answer of a camera that is too long is refused, one of the usual length read`() async throws {
        let tree = try FixtureTree()
        let document = String(decoding: JSONDocument.bytes(status(frames: 7)), as: UTF8.self)
        let camera = try AnsweringSocket("\(tree.root)/front.sock")
        let sockets = CameraSockets(directory: tree.root)
        camera.answer = document
        #expect(try await sockets.status(of: "front").statistics.video.delivered == 7)
        // As a program in place of the camera's would answer: valid, with a field that was not asked for.
        camera.answer = #"{"more":[0\#(String(repeating: ",0", count: 1 << 20))],\#(document.dropFirst())"#
        await #expect(throws: (any Error).self) { _ = try await sockets.status(of: "front") }
        camera.answer = #"{"more":[0,0],\#(document.dropFirst())"#
        #expect(try await sockets.status(of: "front").statistics.video.delivered == 7)
    }
}
