internal import Logging
internal import Media
internal import Platform
internal import Synchronization
internal import VideoCodec

/// Opus and G.726 of a camera made into AAC on a thread of their own: decoded in a child that has nothing to lose,
/// encoded here. Who hands packets in never waits. To be stopped, or its thread goes on.
final class ChildAudio: Sendable {
    private struct Packet {
        var bytes: [UInt8]
        var time: MediaTime
        var arrival: UInt64
    }

    private struct State {
        var waiting: [Packet] = []
        var isRunning = false
        var reason: String?
        var supervision: DecoderSupervision
    }

    /// Of 20 ms each, usually: a second. More wait only where no decoder works.
    private static let maxWaiting = 50
    private static let longestWait: UInt64 = 1_000_000_000

    let coding: AudioEncoding
    private let state: Mutex<State>
    private let wakeup = Wakeup()
    private let program: DecoderProgram
    private let logger: Logger
    private let deliver: @Sendable (MediaEvent) -> Void

    init(
        _ coding: AudioEncoding, program: DecoderProgram, supervision: DecoderSupervision = .init(), logger: Logger,
        deliver: @escaping @Sendable (MediaEvent) -> Void
    ) {
        self.coding = coding
        state = Mutex(State(supervision: supervision))
        self.program = program
        self.logger = logger
        self.deliver = deliver
    }

    /// How its decoders fared.
    var supervision: DecoderSupervision { state.withLock { $0.supervision } }
    /// Why there is none; nil: there is.
    var reason: String? { state.withLock { $0.reason } }

    /// Takes one packet; returns at once.
    ///
    /// - Parameter time: of its first sample.
    func add(_ bytes: [UInt8], at time: MediaTime, arrival: UInt64) {
        guard !wakeup.isStopped else { return }
        let isFirst = state.withLock { state in
            if state.waiting.count >= Self.maxWaiting { state.waiting.removeFirst() }
            state.waiting.append(Packet(bytes: bytes, time: time, arrival: arrival))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst, !OwnThread.start(stackBytes: OwnThread.codingStackBytes, { self.run() }) {
            state.withLock { $0.reason = "no thread can be made for it" }
        }
        wakeup.signal()
    }

    func stop() { wakeup.stop() }

    /// The thread's.
    private func run() {
        var decoder: AudioDecoder?
        var transcoder: AudioTranscoder?
        var supervision = supervision
        // Of the AAC encoder: one that fails is opened again as seldom as a decoder.
        var encoding = DecoderSupervision()
        var damaged = 0
        while !wakeup.isStopped {
            let packets = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            if packets.isEmpty {
                wakeup.wait(Self.longestWait)
                continue
            }
            for packet in packets where !wakeup.isStopped {
                guard encoding.mayStart(at: Clocks.monotonic) else { continue }
                guard decoder != nil || supervision.mayStart(at: Clocks.monotonic) else { continue }
                do throws(DecoderFault) {
                    if decoder == nil {
                        decoder = try AudioDecoder(coding, program: program) { self.wakeup.isStopped }
                        supervision.started(at: Clocks.monotonic)
                        if let lack = SandboxShortfall.take() { logger.warning("\(lack)") }
                    }
                    guard let decoder else { continue }
                    let samples = try decoder.decode(packet.bytes)
                    damaged = 0
                    if let failure = encode(samples, packet, &transcoder) {
                        transcoder = nil
                        if encoding.failures == 0 {
                            logger.warning("the camera's audio cannot be made into AAC: \(failure)")
                        }
                        encoding.ended(failure, at: Clocks.monotonic)
                        state.withLock { $0.reason = "it cannot be made into AAC: \(failure)" }
                        continue
                    }
                    state.withLock { $0.reason = nil }
                } catch .lost(let reason) {
                    decoder = nil
                    guard !wakeup.isStopped else { return }
                    supervision.ended(reason, at: Clocks.monotonic)
                    let supervision = supervision
                    logger.warning(
                        "a packet of the camera's audio was lost with its decoder, which is started again: \(reason)")
                    state.withLock { state in
                        state.supervision = supervision
                        state.reason = supervision.text
                    }
                } catch {
                    // A packet that cannot be read is a hole in what is heard; many in a row are no audio.
                    damaged += 1
                    guard damaged.isMultiple(of: Self.maxWaiting) else { continue }
                    if damaged == Self.maxWaiting {
                        logger.warning("none of the last \(damaged) packets of the camera's audio can be decoded")
                    }
                    state.withLock { $0.reason = "its packets cannot be decoded" }
                }
            }
        }
    }

    /// - Returns: why it could not be encoded.
    private func encode(_ samples: [Float], _ packet: Packet, _ transcoder: inout AudioTranscoder?) -> String? {
        do throws(VideoCodecError) {
            if transcoder == nil {
                transcoder = try AudioTranscoder(inputRate: coding.sampleRate, channels: coding.channels)
            }
            guard let transcoder else { return nil }
            let units = try transcoder.encode(samples, at: packet.time, captureInstant: packet.arrival)
            if !units.isEmpty { deliver(.audioFormat(transcoder.format)) }
            for unit in units { deliver(.accessUnit(unit)) }
            return nil
        } catch {
            return "\(error)"
        }
    }
}
