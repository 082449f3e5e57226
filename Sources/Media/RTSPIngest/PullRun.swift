internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import Media
internal import ONVIF
internal import ONVIFClient
internal import Platform
internal import RTP
internal import RTSP
internal import Synchronization
internal import VideoCodec

/// One run of a `NetworkSource`, on one thread: attempt after attempt, and the waiting between.
final class PullRun {
    private let network: CameraConfiguration.Network
    private let camera: String
    private let state: SharedState
    private let logger: Logger
    private let url: CameraURL
    private var finder: CameraFinder?
    /// Of a camera without ONVIF; a finder has its own.
    private var moves: CameraMoves
    private let output: PullOutput

    private var supervision: PullSupervision
    private var memory: CameraCache
    /// As it is in the file.
    private var stored: CameraCache
    private var transport: RTSPSession.Transport
    /// UDP brought packets once: then it is not given up.
    private var hasTransportWorked = false
    private var keepsAliveWithOptions = false
    /// The longest distance of key frames of the last session that had two of them, nanoseconds.
    private var knownGroup: UInt64 = 0
    /// Frames per second of the last session over HTTP.
    private var knownRate: Double?
    private var closed = PullCounters()
    private var reported: PullFault?
    private var password: String?
    private var passwordLookedAt: UInt64 = 0
    private var syncedAt: UInt64 = 0
    /// Until the next one comes.
    private var isKeyFrameRequested = false
    private var hasReportedBuffer = false
    private var isLongGroupReported = false
    private var selection: MediaSelection?
    private var profile: String?
    /// Of the ones that were looked at.
    private var announcements: UInt64 = 0
    /// When moves were kept that a person may accept.
    private var proposedAt: UInt64?

    private static let passwordInterval: UInt64 = 10_000_000_000
    private static let syncInterval: UInt64 = 2_000_000_000
    private static let proposedInterval: UInt64 = 60_000_000_000

    init(
        _ network: CameraConfiguration.Network, camera: String, durationLimit: Double?, state: SharedState,
        program: DecoderProgram, bootLoginPause: UInt64, logger: Logger,
        deliver: @escaping @Sendable (MediaEvent) -> Void
    ) throws(PullFault) {
        self.network = network
        self.camera = camera
        supervision = PullSupervision(bootLoginPause: bootLoginPause)
        self.state = state
        self.logger = logger
        url = try CameraURL(network.url)
        memory = CameraCache.load(network.memoryFile, url: network.url)
        stored = memory
        moves = CameraMoves(network, state: state)
        // Of a camera that is away, too: control compares keys.
        let (pin, servicePin) = (memory.pin, memory.servicePin)
        state.change { _, network in (network.pin, network.servicePin) = (pin, servicePin) }
        switch network.transport {
        case .tcp: transport = .tcp
        case .udp: transport = .udp
        case .multicast: transport = .multicast
        }
        output = PullOutput(
            transcoding: network.transcoding, durationLimit: durationLimit, state: state, program: program,
            logger: logger, deliver: deliver)
        if case .device(let host, let port, let path) = url {
            finder = CameraFinder(network, host: host, port: port, path: path, state: state, logger: logger) {
                [unowned self] in self.progressed()
            }
        }
    }

    /// A watchdog sees that the attempt gets on.
    private func progressed() {
        supervision.progressed()
        let steps = supervision.steps
        state.change { statistics, _ in statistics.attempts = steps }
    }

    func run() throws(MediaSourceError) {
        defer {
            output.end()
            keep(state.proposedMoves(), isLast: true)
        }
        while !state.wakeup.isStopped, !output.isOver {
            wake()
            let action = supervision.next(at: Clocks.monotonic)
            publish()
            switch action {
            case .wait(let pause): state.wakeup.wait(pause)
            case .connect, .watch:
                do throws(PullFault) {
                    try attempt()
                    supervision.ended(.broken, at: Clocks.monotonic)
                } catch {
                    ended(error)
                }
                remember()
                if let failure = output.failure { throw failure }
            }
        }
    }

    /// Whether someone asks for the next attempt now.
    private func wake() {
        let now = Clocks.monotonic
        let count = state.requests.withLock { $0.announcements }
        if count != announcements {
            // Each one shortens one wait.
            announcements = count
            if supervision.woken(by: .announcement, at: now) {
                finder?.mistrust()
            } else if case .refused = supervision.state, reported?.code == .certificateChanged,
                reported?.mayHaveMoved == true,
                (finder?.moves ?? moves).hasPlaces(memory, at: now)
            {
                // Another device is at the address that the camera had, and now it may be known where the camera is.
                supervision.woken(by: .person, at: now)
            } else if let reported {
                // What is not tried for a while is reported at once.
                report(reported)
            }
        }
        if case .refused = supervision.state, now >= passwordLookedAt &+ Self.passwordInterval {
            passwordLookedAt = now
            if let path = network.passwordFile, let new = try? CameraPassword.read(path), new != password {
                supervision.woken(by: .person, at: now)
            }
        }
    }

    // MARK: - One attempt

    private func attempt() throws(PullFault) {
        state.change { statistics, network in
            if statistics.state != .waiting { statistics.state = .starting }
            network.state = .connecting
        }
        passwordLookedAt = Clocks.monotonic
        password = try network.passwordFile.map { (path) throws(PullFault) in try CameraPassword.read(path) }
        do throws(PullFault) {
            try pull(from: try target())
        } catch {
            guard error.mayHaveMoved, case .stream(let text) = url, let configured = try? RTSPURL(stream: text) else {
                throw error
            }
            try follow(configured, error)
        }
    }

    /// Goes where the camera shows the key that is known: of its stream, where nothing else is known of it.
    private func follow(_ configured: RTSPURL, _ fault: PullFault) throws(PullFault) {
        for place in moves.streams(configured, memory, at: Clocks.monotonic) where !state.wakeup.isStopped {
            do throws(PullFault) {
                try pull(from: place)
                return
            } catch {
                // It was there, and its stream broke off.
                guard memory.movedURL != "\(place)" else { throw error }
                let isSilent = error.code != .certificateChanged
                moves.refused.refused(place.host, at: Clocks.monotonic, isSilent: isSilent)
                guard !isSilent else { continue }
                logger.warning(
                    "a device at \(place.host) claims to be this camera and does not prove it: \(error.what)",
                    metadata: ["code": "\(ErrorCode.identityNotProven)"])
            }
        }
        // Where it was found once, it may not be for ever.
        guard memory.movedURL != nil else { throw fault }
        do throws(PullFault) {
            try pull(from: configured)
        } catch {
            // Who is at an address that the camera has left is nothing to decide on.
            throw memory.movedURL == nil ? error : fault
        }
    }

    private func pull(from place: RTSPURL) throws(PullFault) {
        var place = place
        var followsRedirect = true
        // One redirect and one change of transport, in whatever order.
        while true {
            do throws(PullFault) {
                try pull(place, followsRedirect: followsRedirect)
                return
            } catch {
                if followsRedirect, let redirect = error.redirect {
                    try options(for: redirect).checkLogin(at: redirect, from: place)
                    place = redirect
                    followsRedirect = false
                } else if error.isTransport, transport != .tcp, !hasTransportWorked {
                    useTCP(because: error)
                } else {
                    throw error
                }
            }
        }
    }

    private func useTCP(because fault: PullFault) {
        logger.notice("\(fault.what): using TCP instead", metadata: ["code": "\(fault.code)"])
        transport = .tcp
        state.change { statistics, network in
            statistics.limit = "\(fault.what): TCP is used instead"
            network.transport = CameraConfiguration.Network.Transport.tcp.rawValue
        }
    }

    private func target() throws(PullFault) -> RTSPURL {
        var text: String
        switch url {
        case .stream(let stream): text = moves.key(memory) == nil ? stream : memory.movedURL ?? stream
        case .device:
            finder?.showsOneLogin = supervision.showsOneLogin
            guard let found = try finder?.stream(password: password, memory: &memory) else {
                throw PullFault(.noSuchStream, "the camera reports no address for its stream", mayHaveMoved: true)
            }
            text = found.url
            profile = found.profile
        }
        do throws(RTSPURLFault) {
            let url = try RTSPURL(stream: text)
            text = "\(url)"
            state.change { statistics, network in network.url = text }
            return url
        } catch {
            if finder != nil {
                throw PullFault(.cameraProtocol, "the camera reports an invalid address for its stream: \(error)")
            }
            throw PullFault(
                .cameraProtocol, "\(error)", hint: "Set it again: watchboxctl camera edit ID --source URL",
                ending: .person)
        }
    }

    private func options(for url: RTSPURL) -> StreamPull.Options {
        var options = StreamPull.Options(url: url)
        if let user = network.user { options.credentials = password.map { RTSPCredentials(user: user, password: $0) } }
        options.pin = network.pin ?? memory.pin
        return options
    }

    private func pull(_ url: RTSPURL, followsRedirect: Bool) throws(PullFault) {
        if url.service == .rtsp, url.isSecure, transport != .tcp {
            useTCP(because: PullFault(.transportRefused, "datagrams with rtsps:// would carry frames unencrypted"))
        }
        var options = options(for: url)
        options.transport = transport
        options.timestamps = StreamClock.Policy(network.timestamps)
        options.audio = network.audio
        options.allowsBasic = network.allowsBasic && moves.isConfigured(url.host)
        options.followsRedirect = followsRedirect
        options.keepsAliveWithOptions = keepsAliveWithOptions
        options.knownGroup = knownGroup
        options.showsOneLogin = supervision.showsOneLogin
        options.snapshotRate = network.snapshotRate
        options.knownRate = knownRate
        output.began(at: Clocks.monotonic)
        var pull: (any CameraPull)?
        var events: Task<Void, Never>?
        let handle = { [unowned self] (event: StreamPull.Event, now: UInt64) in
            self.happened(event, pull, &events, at: now)
        }
        let isOver = { [output] in output.isOver }
        let running: any CameraPull =
            switch url.service {
            case .rtsp: StreamPull(options, wakeup: state.wakeup, isOver: isOver, handle: handle)
            case .http: HTTPPull(options, wakeup: state.wakeup, isOver: isOver, handle: handle)
            }
        pull = running
        defer {
            events?.cancel()
            closed.add(running.counters)
            count(nil)
            keepsAliveWithOptions = keepsAliveWithOptions || running.isGetParameterRefused
            if running.knownGroup > 0 { knownGroup = running.knownGroup }
            knownRate = running.knownRate ?? knownRate
            // The closure above holds it.
            pull = nil
        }
        try running.run()
    }

    private func happened(
        _ event: StreamPull.Event, _ pull: (any CameraPull)?, _ events: inout Task<Void, Never>?, at now: UInt64
    ) {
        switch event {
        case .certificateSeen(let pin):
            progressed()
            guard url.hasCertificate else { return }
            memory.pin = pin
            // Before any login: whoever comes after a power cut has to show the same one.
            remember()
            logger.notice("the camera's certificate is trusted from now on: \(pin)")
        case .connected(let address, let pin):
            progressed()
            memory.address = address
            if case .stream(let text) = url, let host = pull?.options.url.host,
                let configured = try? RTSPURL(stream: text)
            {
                // With another host, its key was checked before anything was said.
                let isThere = host == configured.host
                memory.movedURL = isThere ? nil : "\(configured.with(host: host, port: configured.port))"
                if !isThere {
                    moves.refused.proven(host)
                    logger.notice("the camera is at another address, and shows its key there: \(host)")
                }
            }
            let port = pull.map { Int($0.options.url.port) }
            let hasCertificate = url.hasCertificate
            state.change { _, network in
                network.address = address
                network.port = port
                network.pin = hasCertificate ? pin : nil
            }
        case .described(let selection):
            progressed()
            self.selection = selection
            output.described(selection)
        case .playing:
            progressed()
            output.playing(at: now)
            if let pull { playing(pull) }
        case .unit(let choice, let unit):
            if choice.kind.isVideo {
                if unit.encoded.isKeyFrame { isKeyFrameRequested = false }
                frameArrived(&events, at: now)
            }
            output.took(choice, unit, at: now)
        case .needsKeyFrame: isKeyFrameRequested = true
        case .lacksKeyFrame: reportLongGroup()
        case .ticked:
            if let pull { count(pull) }
            output.applyRequests { self.isKeyFrameRequested = true }
            publish()
        }
        if isKeyFrameRequested { synchronize(at: now) }
    }

    private func playing(_ pull: any CameraPull) {
        count(pull)
        if !pull.hasAudio, var selection, selection.audio != nil {
            selection.audio = nil
            selection.audioReason = "the camera offers audio and refused to set it up"
            output.described(selection)
        }
        report(ofBuffer: pull.receiveBuffer)
    }

    /// A wait with an end in sight: key frames of some cameras are a minute apart.
    private func reportLongGroup() {
        progressed()
        guard !isLongGroupReported else { return }
        isLongGroupReported = true
        let fault = PullFault.longGroup
        logger.notice("\(fault.message(for: camera))", metadata: ["code": "\(fault.code)"])
        state.change { statistics, _ in statistics.waits(because: fault, camera: camera) }
    }

    /// Where less can wait than a camera sends at once, datagrams are lost.
    private func report(ofBuffer given: Int?) {
        guard let given, given < DatagramPair.requestedBuffer, !hasReportedBuffer else { return }
        hasReportedBuffer = true
        logger.notice(
            """
            the system keeps at most \(given >> 10) KiB of the camera's packets, a burst may need \
            \(DatagramPair.requestedBuffer >> 10) KiB: packets may be lost. Set net.core.rmem_max to \
            \(DatagramPair.requestedBuffer) with sysctl
            """)
    }

    private func frameArrived(_ events: inout Task<Void, Never>?, at now: UInt64) {
        let before = supervision.state
        supervision.frameArrived(at: now)
        guard before != .live || isLongGroupReported else { return }
        isLongGroupReported = false
        state.forgetMoves()
        // What brought frames is worth being kept over a power cut.
        remember()
        if transport != .tcp { hasTransportWorked = true }
        if reported != nil {
            reported = nil
            logger.notice("the camera's frames are there again")
        }
        state.change { statistics, network in
            statistics.state = .streaming
            statistics.reason = nil
            statistics.code = nil
            network.state = .live
        }
        publish()
        if events == nil, network.events { events = state.followEvents() }
    }

    private func ended(_ fault: PullFault) {
        guard !state.wakeup.isStopped else { return }
        let now = Clocks.monotonic
        let wasLive = supervision.state == .live
        isLongGroupReported = false
        if fault.ending == .stalled { supervision.stalled(at: now) }
        if fault.mayHaveMoved || fault.ending == .person || fault.ending == .unready { finder?.mistrust() }
        supervision.ended(fault.ending, at: now)
        if fault != reported {
            reported = fault
            logger.warning("\(fault.message(for: camera))", metadata: ["code": "\(fault.code)"])
        }
        state.change { statistics, _ in
            statistics.waits(because: fault, camera: camera)
            if wasLive { statistics.interruptions &+= 1 }
        }
        report(fault)
    }

    /// Why there are no frames, and before it where the camera seems to be: a long message is cut at its end.
    private func report(_ fault: PullFault) {
        (finder?.moves ?? moves).propose(memory)
        let proposed = state.proposedMoves()
        keep(proposed)
        let move = NetworkStatistics.Move.message(proposed, camera: camera)
        let reason = [move, fault.message(for: camera)].compactMap { $0 }.joined(separator: ". ")
        state.change { statistics, _ in statistics.reason = reason }
    }

    /// Under the source of a move that a person accepts, the keys that are known must be shown as well.
    private func keep(_ moves: [NetworkStatistics.Move], isLast: Bool = false) {
        let sources = moves.map(\.source)
        let now = Clocks.monotonic
        guard !sources.allSatisfy((memory.proposed ?? []).contains) else { return }
        // Whoever makes up addresses does not wear out the disk.
        if !isLast, let proposedAt, now < proposedAt &+ Self.proposedInterval { return }
        proposedAt = now
        memory.proposed = sources
        remember()
    }

    // MARK: - ONVIF while it runs

    /// Asks the camera for a key frame, now and then as long as one is needed.
    private func synchronize(at now: UInt64) {
        guard let device = state.device.withLock({ $0 }), let profile, now >= syncedAt &+ Self.syncInterval else {
            return
        }
        syncedAt = now
        // Some cameras have no such call, and nothing depends on it.
        Task { try? await device.device.setSynchronizationPoint(profile: profile) }
    }

    // MARK: - Statistics

    private func publish() {
        let supervision = supervision
        let pause = supervision.pause(at: Clocks.monotonic)
        state.change { statistics, network in
            statistics.attempts = supervision.steps
            network.attempts = supervision.attempts
            network.connections = supervision.connections
            network.stalls = supervision.stalls
            network.nextAttemptSeconds = pause.map { (Double($0) / 1e8).rounded() / 10 }
            network.state = .init(supervision.state)
        }
        output.publish()
    }

    private func count(_ pull: (any CameraPull)?) {
        var counters = closed
        if let pull { counters.add(pull.counters) }
        state.change { statistics, network in
            network.packets = counters.packets
            network.lost = counters.lost
            network.reordered = counters.reordered
            network.discarded = counters.discarded
            network.damaged = counters.damaged
            network.timelines = counters.timelines
            statistics.lost = counters.lost
            statistics.damaged = counters.damaged &+ output.damaged
            statistics.clockSteps = counters.timelines
            guard let pull else { return }
            network.authentication = pull.authentication
            network.server = pull.server
            pull.reportTiming(&network)
        }
    }

    private func remember() {
        guard memory != stored, let path = network.memoryFile else { return }
        stored = memory
        if let reason = memory.store(path) {
            logger.warning("what was learned of the camera cannot be kept: \(reason)")
        }
    }
}
