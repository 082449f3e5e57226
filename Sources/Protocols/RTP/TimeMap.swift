/// A camera's time on our clock's scale, in pieces: each goes on where the one before ended, at a rate of its own.
///
/// What lies behind the end never moves again: a frame that comes out of order finds its place between those that
/// were placed before it, whatever became of the rate since.
struct TimeMap: Sendable {
    private struct Piece: Sendable {
        /// Camera's time and ours where it begins, nanoseconds.
        var camera: Int64
        var time: Int64
        var rate: Double

        func time(of camera: Int64) -> Int64 {
            let passed = camera - self.camera
            if rate == 1 { return time + passed }
            return time + Int64(max(-1e17, min(1e17, Double(passed) * rate)))
        }
    }

    /// More than the frames that one can come behind: see `PictureOrder`.
    private static let maxPieces = 24

    private var pieces = [Piece(camera: 0, time: 0, rate: 1)]
    /// The latest of the camera's times that were placed.
    private(set) var end: Int64 = 0

    init() {}

    /// Our seconds in one of the camera's, from the end on.
    var rate: Double { pieces[pieces.count - 1].rate }

    func time(of camera: Int64) -> Int64 {
        (pieces.last { $0.camera <= camera } ?? pieces[0]).time(of: camera)
    }

    /// A unit was placed.
    mutating func advance(to camera: Int64) {
        end = max(end, camera)
    }

    /// - Parameter rate: of what comes behind the end; above 0.
    mutating func go(on rate: Double) {
        guard rate != self.rate else { return }
        let piece = Piece(camera: end, time: time(of: end), rate: rate)
        if pieces[pieces.count - 1].camera == end { pieces.removeLast() }
        pieces.append(piece)
        if pieces.count > Self.maxPieces { pieces.removeFirst() }
    }

    /// The end stands elsewhere, where nothing was placed by this map for a while.
    mutating func jump(to time: Int64) {
        pieces = [Piece(camera: end, time: time, rate: 1)]
    }
}
