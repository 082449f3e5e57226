internal import ErrorCatalog
internal import Glibc
internal import HTTPClient
internal import Platform
internal import RTP
internal import RTSP

/// One attempt: a connection to a camera, an RTSP session over it, and the media that come, until it ends. Used by one
/// thread, which it blocks.
final class StreamPull: CameraPull {
    let options: Options
    private let wakeup: Wakeup
    private let handle: (Event, UInt64) -> Void
    private let isOver: () -> Bool

    private var connection: RawConnection?
    private var session: RTSPSession
    private var isSessionOver = false
    private var hasLinger = false
    private var selection: MediaSelection?
    private var tracks: [MediaTrack] = []
    private var bound: [Int: DatagramPair] = [:]
    private var output = Output()
    /// No slice of it may be left when the next read begins: all of it would be copied.
    private(set) var buffer = [UInt8](repeating: 0, count: bufferSize)
    private var watch: FreezeWatch?
    private var playedAt: UInt64?
    private var needsKeyFrame = false
    private var skippedFrames: UInt64 = 0
    private var hasMore = false
    private var pace = ReadPace()
    /// The socket's low-water mark, as it was set.
    private var mark: Int32 = 0
    private var tickedAt: UInt64 = 0
    private var trackedAt: UInt64 = 0
    private let name: String

    /// - Parameters:
    ///   - handle: is called on the running thread.
    ///   - isOver: whether enough has come.
    init(
        _ options: Options, wakeup: Wakeup, isOver: @escaping () -> Bool = { false },
        handle: @escaping (Event, UInt64) -> Void
    ) {
        self.options = options
        self.wakeup = wakeup
        self.handle = handle
        self.isOver = isOver
        name = Self.randomText(16)
        session = Self.session(options, isEncrypted: options.url.isSecure)
    }

    // MARK: - Facts

    var facts: RTSPSession.Facts { session.facts }
    var audio: MediaTrack? { tracks.first { !$0.choice.kind.isVideo } }
    var video: MediaTrack? { tracks.first { $0.choice.kind.isVideo } }

    var counters: PullCounters {
        var counters = PullCounters()
        for track in tracks { counters.add(track) }
        counters.discarded &+= session.facts.unknownChannelPackets
        return counters
    }

    /// The longest distance of key frames that was seen, nanoseconds; 0: none.
    var knownGroup: UInt64 { watch?.knownGroup ?? 0 }
    var descriptor: Int32? { connection?.descriptor }
    /// Bytes that the system lets wait for this process, where packets come as datagrams.
    var receiveBuffer: Int? { tracks.compactMap { $0.datagrams?.receiveBuffer }.min() }

    // MARK: - Running

    /// Until it is stopped or enough has come.
    func run() throws(PullFault) {
        let connection = try connect()
        self.connection = connection
        handle(.connected(address: connection.peerAddress, pin: connection.pin), Clocks.monotonic)
        do throws(PullFault) {
            try perform(session.connected(at: Clocks.monotonic), at: Clocks.monotonic)
            while !wakeup.isStopped, !isOver() {
                try workTimers(at: Clocks.monotonic)
                try wait()
                try read()
            }
        } catch {
            end()
            throw error
        }
        end()
    }

    private func connect() throws(PullFault) -> RawConnection {
        try RawConnection.toCamera(options.url, options, wakeup: wakeup) {
            handle(.certificateSeen(pin: $0), Clocks.monotonic)
        }
    }

    private func perform(_ actions: [RTSPSession.Action], at now: UInt64) throws(PullFault) {
        for action in actions {
            switch action {
            case .media(let index, let isControl, let bytes):
                received(bytes, media: index, isControl: isControl, at: now)
            case .write(let bytes):
                output.append(bytes)
                // Why a session ended counts, not that its TEARDOWN cannot be sent.
                if session.isOver { try? flush() } else { try flush() }
            case .described(let description):
                let selection = MediaSelection(description, audio: options.audio)
                self.selection = selection
                handle(.described(selection), now)
            case .needsPorts(let media):
                guard let connection else { continue }
                let pair = try DatagramPair(besides: connection.descriptor)
                bound[media] = pair
                try perform(
                    session.portsBound(media: media, rtp: pair.mediaPort, rtcp: pair.controlPort, at: now), at: now)
            case .setUp(let media, let transport): try setUp(media, transport, at: now)
            case .playing: try began(at: now)
            case .redirected(let url):
                isSessionOver = true
                throw PullFault(.streamRedirected, "the camera sends its viewers on", redirect: url)
            case .failed(let failure):
                isSessionOver = true
                throw PullFault(failure)
            case .ended: isSessionOver = true
            }
        }
    }

    private func setUp(_ media: Int, _ transport: MediaTransport, at now: UInt64) throws(PullFault) {
        guard let selection, let connection,
            let choice = [selection.video, selection.audio].compactMap({ $0 }).first(where: { $0.index == media })
        else { return }
        var datagrams: DatagramPair?
        switch transport.delivery {
        case .interleaved: break
        case .udp(let udp):
            datagrams = bound[media]
            datagrams?.connect(udp)
            datagrams?.punchHole()
        case .multicast(let multicast):
            datagrams = try DatagramPair(multicast, besides: connection.descriptor)
        }
        if datagrams != nil { pace.readsBursts = false }
        tracks.append(
            MediaTrack(
                choice, source: transport.source, datagrams: datagrams, timestamps: options.timestamps, name: name,
                at: now))
    }

    private func began(at now: UInt64) throws(PullFault) {
        guard let video else {
            throw PullFault(.cameraProtocol, "the camera plays, but refused to set up its video")
        }
        playedAt = now
        hasLinger = true
        watch = FreezeWatch(rate: video.choice.frameRate, earlierGroup: options.knownGroup, at: now)
        for track in tracks { track.datagrams?.punchHole() }
        mark = 0
        gather()
        handle(.playing, now)
    }

    /// Fewer bytes do not make the socket readable (socket(7)): a small packet of audio waits for the frame behind
    /// it. Where that is refused, more is read in smaller pieces.
    private func gather() {
        if playedAt != nil, pace.readsBursts { setMark(pace.mark) }
    }

    private func setMark(_ bytes: Int32) {
        guard bytes != mark, let connection else { return }
        mark = bytes
        setsockopt(connection.descriptor, SOL_SOCKET, SO_RCVLOWAT, &mark, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: - Packets

    private func received(_ bytes: ArraySlice<UInt8>, media: Int, isControl: Bool, at now: UInt64) {
        guard let place = tracks.firstIndex(where: { $0.choice.index == media }) else { return }
        if isControl {
            tracks[place].rtp.receivedControl(bytes, at: now)
        } else {
            let units = tracks[place].received(bytes, at: now)
            if !units.isEmpty { deliver(units, of: place, at: now) }
        }
    }

    private func deliver(_ units: [MediaTrack.Unit], of place: Int, at now: UInt64) {
        let choice = tracks[place].choice
        for unit in units {
            if choice.kind.isVideo {
                watch?.frameArrived(at: now, isKeyFrame: unit.encoded.isKeyFrame)
                pace.frameEnded(at: now)
            }
            handle(.unit(choice, unit), now)
        }
    }

    private func read() throws(PullFault) {
        guard let connection else { return }
        let now = Clocks.monotonic
        pace.read(at: now)
        hasMore = false
        var isEnded = false
        // A camera that sends faster than it is read must not keep the timers from working.
        for round in 0..<16 {
            var count: Int?
            do throws(HTTPClientError) {
                count = try connection.receive(into: &buffer)
            } catch {
                if case .connectionLost = error { count = 0 } else { throw PullFault(error) }
            }
            guard let count else { break }
            guard count > 0 else {
                isEnded = true
                break
            }
            pace.took(count)
            try perform(session.received(buffer[0..<count], at: now), at: now)
            if !options.url.isSecure, count < buffer.count { break }
            hasMore = round == 15
        }
        readDatagrams(at: now)
        gather()
        if isEnded {
            isSessionOver = true
            try perform(session.connectionClosed(at: now), at: now)
            throw PullFault(.cameraUnreachable, "the camera closed the connection", ending: .away)
        }
    }

    private func readDatagrams(at now: UInt64) {
        for place in tracks.indices {
            guard let pair = tracks[place].datagrams else { continue }
            for isControl in [false, true] {
                var left = 2048
                while left > 0, let count = pair.receive(isControl: isControl, into: &buffer) {
                    left -= 1
                    if !isControl { session.mediaArrived(at: now) }
                    received(buffer[0..<count], media: tracks[place].choice.index, isControl: isControl, at: now)
                }
            }
        }
    }

    // MARK: - Time

    private func workTimers(at now: UInt64) throws(PullFault) {
        if let deadline = session.nextDeadline, deadline <= now { try perform(session.ticked(at: now), at: now) }
        if now >= trackedAt &+ Self.trackInterval {
            trackedAt = now
            for place in tracks.indices {
                let units = tracks[place].ticked(at: now)
                if !units.isEmpty { deliver(units, of: place, at: now) }
            }
        }
        try report(at: now)
        try check(at: now)
        if now >= tickedAt &+ Self.tickInterval {
            tickedAt = now
            // What was asked for may not have been heard.
            if needsKeyFrame { handle(.needsKeyFrame, now) }
            if watch?.isWaitingLong(at: now) == true { handle(.lacksKeyFrame, now) }
            handle(.ticked, now)
        }
    }

    /// Receiver reports: over TCP as well, because some cameras end a stream without receiver reports.
    private func report(at now: UInt64) throws(PullFault) {
        guard playedAt != nil else { return }
        for place in tracks.indices where tracks[place].nextReport <= now {
            tracks[place].nextReport = now &+ Self.reportInterval
            let bytes = tracks[place].rtp.receiverReport(at: now)
            if let pair = tracks[place].datagrams {
                pair.sendControl(bytes)
            } else if output.pending.count < Self.maxPending / 2,
                let media = session.frameToSend(
                    media: tracks[place].choice.index, isControl: true, bytes)
            {
                output.append(media)
                try flush()
            }
        }
    }

    /// Whether frames still come.
    private func check(at now: UInt64) throws(PullFault) {
        guard let playedAt, let video else { return }
        let last = video.rtp.statistics.lastPacket
        if let last {
            watch?.packetArrived(at: last)
            let skipped = video.rtp.statistics.skipped
            if skipped != skippedFrames { watch?.frameSkipped(at: last) }
            skippedFrames = skipped
        }
        if video.datagrams != nil, last == nil, now >= playedAt &+ Self.datagramTimeout,
            tracks.allSatisfy({ $0.rtp.statistics.lastPacket == nil })
        {
            throw PullFault(
                .transportRefused,
                options.transport == .multicast
                    ? "nothing arrives of the camera's multicast group"
                    : "the camera agreed to send over UDP, and nothing arrives: a firewall or a router is in between",
                isTransport: true)
        }
        if video.rtp.hasLeft, now >= (last ?? playedAt) &+ Self.byeTimeout {
            throw PullFault(.streamFrozen, "the camera ended its stream")
        }
        let needs = video.rtp.needsKeyFrame
        if needs, !needsKeyFrame { handle(.needsKeyFrame, now) }
        needsKeyFrame = needs
        guard let finding = watch?.finding(at: now) else { return }
        let hasAudio = tracks.contains { !$0.choice.kind.isVideo && $0.rtp.statistics.lastPacket != nil }
        throw PullFault(finding, hasAudio: hasAudio)
    }

    private func wait() throws(PullFault) {
        guard let connection else { return }
        guard !hasMore else {
            // A camera that sends without end must still be answered.
            try flush()
            return
        }
        var now = Clocks.monotonic
        if playedAt != nil, let pause = pace.pause(at: now) {
            // One look for all packets of the next few milliseconds.
            Self.sleep(pause)
            now = Clocks.monotonic
        }
        let writing = output.waits() ? POLLOUT : 0
        if playedAt != nil, pace.isGathering, writing == 0 { return }
        var longest = Self.tickInterval
        if playedAt != nil { longest = pace.readsBursts ? pace.wait(at: now) : Self.trackInterval }
        if let deadline = session.nextDeadline { longest = min(longest, deadline > now ? deadline - now : 0) }
        if let watch { longest = min(longest, watch.nextDeadline > now ? watch.nextDeadline - now : 0) }
        if output.isStuck { longest = min(longest, Self.trackInterval) }
        var waited = [
            pollfd(fd: connection.descriptor, events: Int16(POLLIN | writing), revents: 0),
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        for track in tracks {
            guard let pair = track.datagrams else { continue }
            waited.append(pollfd(fd: pair.media, events: Int16(POLLIN), revents: 0))
            waited.append(pollfd(fd: pair.control, events: Int16(POLLIN), revents: 0))
        }
        guard poll(&waited, nfds_t(waited.count), Wakeup.milliseconds(longest)) > 0 else { return }
        if waited[1].revents != 0 { wakeup.drain() }
        if waited[0].revents & Int16(POLLOUT) != 0 { try flush(isWritable: true) }
        // The burst has begun: the rest of it comes in the next few milliseconds.
        if playedAt != nil, pace.readsBursts, waited[0].revents & Int16(POLLIN) != 0 { Self.sleep(ReadPace.burst) }
    }

    // MARK: - Sending

    private func flush(isWritable: Bool = false) throws(PullFault) {
        guard let connection, !output.isEmpty else { return }
        do throws(HTTPClientError) {
            if isWritable { try output.flushWritable(to: connection) } else { try output.flush(to: connection) }
        } catch {
            // No TEARDOWN over a connection that is dead.
            isSessionOver = true
            throw PullFault(error)
        }
        guard output.pending.count <= Self.maxPending else {
            throw PullFault(.cameraTimeout, "the camera does not read what is sent to it")
        }
    }

    /// Ends the session in the camera as well: one that stays counts as a viewer there for a minute.
    private func end() {
        guard let connection else { return }
        if !isSessionOver {
            isSessionOver = true
            for case .write(let bytes) in session.tearDown(at: Clocks.monotonic) { output.append(bytes) }
        }
        try? flush()
        if hasLinger {
            // With unread bytes the kernel would reset the connection, and the camera might not see the TEARDOWN.
            setMark(1)
            let until = Clocks.monotonic &+ Self.drainTimeout
            var isOpen = true
            while isOpen, Clocks.monotonic < until {
                var waited = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&waited, 1, Wakeup.milliseconds(until &- min(Clocks.monotonic, until))) > 0 else { break }
                try? flush()
                do throws(HTTPClientError) {
                    isOpen = try connection.receive(into: &buffer) != 0
                } catch {
                    isOpen = false
                }
            }
        }
        self.connection = nil
        bound = [:]
    }
}
