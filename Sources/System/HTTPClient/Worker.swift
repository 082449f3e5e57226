internal import CCurl
internal import Glibc
internal import Platform
internal import Synchronization

/// The thread behind an `HTTPClient`: one libcurl multi handle, used by that thread alone.
final class Worker: Sendable {
    private struct State {
        /// Handed over, not yet seen by the thread.
        var arrived: [Exchange] = []
        /// Handed over and not finished.
        var count = 0
        /// Somebody cancelled: the thread looks through its transfers.
        var cancelled = false
        /// A reader has room again: the thread looks for its paused transfer.
        var resumed = false
        var stopping = false
        var isRunning = false
        /// Set while the thread lives; `curl_multi_wakeup` is the one call that others may make on it, under the lock.
        var multi: MultiHandle?
    }

    /// - Note: `@unchecked Sendable`: the pointer is used by the worker thread, and by others for `wakeup` only, which
    ///   libcurl allows, and only while the lock holds it in `State`.
    private struct MultiHandle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    private let configuration: HTTPClient.Configuration
    private let state = Mutex(State())

    init(_ configuration: HTTPClient.Configuration) {
        self.configuration = configuration
    }

    var isRunning: Bool { state.withLock { $0.isRunning } }

    func submit(_ exchange: Exchange) {
        if exchange.answer.isGiven { return }
        guard Libcurl.isAvailable else {
            exchange.finish(.failure(Libcurl.missing))
            return
        }
        let limit = configuration.maximumRequests
        let (refused, needsThread) = state.withLock { state -> (Bool, Bool) in
            guard state.count < limit else { return (true, false) }
            state.arrived.append(exchange)
            state.count += 1
            if let multi = state.multi { _ = watchbox_curl_multi_wakeup(multi.pointer) }
            let needsThread = !state.isRunning
            state.isRunning = true
            return (false, needsThread)
        }
        if refused { exchange.finish(.failure(.tooManyRequests(limit: limit))) }
        if needsThread, !OwnThread.start({ self.run() }) { failAll(.unavailable(reason: "no thread can be made")) }
    }

    func cancel(_ exchange: Exchange) {
        exchange.finish(.failure(.cancelled))
        wake { $0.cancelled = true }
    }

    func resume() {
        wake { $0.resumed = true }
    }

    func stop() {
        wake { $0.stopping = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            if let multi = state.multi { _ = watchbox_curl_multi_wakeup(multi.pointer) }
        }
    }

    private func failAll(_ error: HTTPClientError) {
        let exchanges = state.withLock { state -> [Exchange] in
            defer {
                state.arrived = []
                state.count = 0
                state.isRunning = false
            }
            return state.arrived
        }
        for exchange in exchanges { exchange.finish(.failure(error)) }
    }

    // MARK: on the thread

    private func run() {
        guard let multi = watchbox_curl_multi_init() else {
            failAll(.unavailable(reason: "out of memory"))
            return
        }
        state.withLock { $0.multi = MultiHandle(pointer: multi) }
        var transfers: [OpaquePointer: Transfer] = [:]
        let clock = ContinuousClock()
        var idleSince = clock.now
        while true {
            let (arrived, cancelled, resumed, stopping) = state.withLock { state in
                defer {
                    state.arrived = []
                    state.cancelled = false
                    state.resumed = false
                }
                return (state.arrived, state.cancelled, state.resumed, state.stopping)
            }
            for exchange in arrived { begin(exchange, on: multi, &transfers) }
            if cancelled || stopping { removeDecided(stopping, from: multi, &transfers) }
            if resumed { for transfer in transfers.values { transfer.resume() } }
            var running: CInt = 0
            _ = watchbox_curl_multi_perform(multi, &running)
            finishDone(on: multi, &transfers)
            if !transfers.isEmpty { idleSince = clock.now }
            let idle = configuration.idleTime - (clock.now - idleSince)
            if transfers.isEmpty, stopping || idle <= .zero, endIfNothingArrived() { break }
            // libcurl shortens the wait to its own next time-out.
            _ = watchbox_curl_multi_poll(multi, transfers.isEmpty ? Self.milliseconds(idle) : 60_000)
        }
        watchbox_curl_multi_cleanup(multi)
    }

    private func begin(
        _ exchange: Exchange, on multi: UnsafeMutableRawPointer, _ transfers: inout [OpaquePointer: Transfer]
    ) {
        guard !exchange.answer.isGiven else { return finish(exchange, .failure(.cancelled)) }
        do throws(HTTPClientError) {
            let transfer = try Transfer(exchange, configuration)
            guard watchbox_curl_multi_add(multi, UnsafeMutableRawPointer(transfer.handle)) == CURLM_OK else {
                throw .unavailable(reason: "libcurl refused a transfer")
            }
            transfers[transfer.handle] = transfer
        } catch {
            finish(exchange, .failure(error))
        }
    }

    private func removeDecided(
        _ all: Bool, from multi: UnsafeMutableRawPointer, _ transfers: inout [OpaquePointer: Transfer]
    ) {
        for (handle, transfer) in transfers where all || transfer.exchange.answer.isGiven {
            // First: who sees the connection end may count on the place.
            release()
            watchbox_curl_multi_remove(multi, UnsafeMutableRawPointer(handle))
            transfers[handle] = nil
            transfer.exchange.finish(.failure(.cancelled))
        }
    }

    private func finishDone(on multi: UnsafeMutableRawPointer, _ transfers: inout [OpaquePointer: Transfer]) {
        var code = CURLE_OK
        while let raw = watchbox_curl_multi_next_finished(multi, &code) {
            let handle = OpaquePointer(raw)
            watchbox_curl_multi_remove(multi, raw)
            guard let transfer = transfers.removeValue(forKey: handle) else { continue }
            finish(transfer.exchange, transfer.outcome(code))
        }
    }

    private func finish(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
        release()
        exchange.finish(outcome)
    }

    private func release() {
        state.withLock { $0.count -= 1 }
    }

    /// True when the thread may end: from here on, a new request makes a new one.
    private func endIfNothingArrived() -> Bool {
        state.withLock { state in
            guard state.arrived.isEmpty else { return false }
            state.multi = nil
            state.isRunning = false
            return true
        }
    }

    private static func milliseconds(_ duration: Duration) -> CInt {
        let (seconds, attoseconds) = duration.components
        let value = min(max(seconds, 0), 86_400) * 1000 + attoseconds / 1_000_000_000_000_000
        return CInt(clamping: max(value, 0) + 1)
    }
}
