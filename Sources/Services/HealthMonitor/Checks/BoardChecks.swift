internal import BoxReadings
internal import ControlAPI
internal import ErrorCatalog

/// Supply, heat, watchdog, card: each a function of what was read.
enum BoardChecks {
    static func power(_ reading: PowerReading) -> Finding {
        let state = reading.verdict
        let evidence =
            switch state {
            case .fail: "the 5 V supply is too low at this moment"
            case .warn: "the 5 V supply was too low since boot, now it is not"
            case .ok:
                reading.throttled != nil ? "no under-voltage since boot (firmware)" : "no under-voltage (rpi_volt)"
            case .unknown: "this kernel has neither the rpi_volt sensor nor the firmware's flags"
            }
        return Finding(.power, nil, state, evidence, code: .underVoltage)
    }

    /// - Parameter throttled: the firmware's flags, which may say that it has slowed the processor.
    static func heat(
        _ reading: HeatReading, throttled: UInt32?, limits: HealthThresholds.Pair, was: HealthState?
    ) -> Finding {
        let isSlowed = PowerReading(throttled: throttled).isProcessorSlowed
        let state = reading.verdict(isSlowed: isSlowed, limits: limits, was: was)
        guard let celsius = reading.celsius else {
            return Finding(
                .heat, nil, state,
                isSlowed ? "the firmware has slowed the processor" : "this machine shows no thermal zone", code: .hot)
        }
        var evidence = "\(celsius.tenths) °C in \(reading.zone ?? "the hottest zone")"
        if isSlowed { evidence += ", and the firmware has slowed the processor" }
        return Finding(.heat, nil, state, evidence, code: .hot)
    }

    static func watchdog(_ reading: WatchdogReading) -> Finding {
        let state = reading.verdict
        guard reading.isPresent else {
            let evidence =
                reading.board.map { "\($0) has a hardware watchdog, but the kernel shows none" }
                ?? "this machine shows no watchdog device, and it is not a board that is known to have one"
            return Finding(.watchdog, nil, state, evidence, code: .watchdogInactive)
        }
        guard let word = reading.state else {
            return Finding(.watchdog, nil, state, "watchdog0 does not say whether it is active")
        }
        var evidence = "watchdog0 is \(word)"
        if state != .fail { evidence += reading.timeoutSeconds.map { ", resets after \($0) s" } ?? "" }
        if state == .warn, let expected = reading.configuredSeconds {
            evidence += ", and this box expects \(expected) s: another setting wins"
        }
        return Finding(.watchdog, nil, state, evidence, code: state == .warn ? .watchdogSlow : .watchdogInactive)
    }

    static func card(_ reading: CardReading) -> [Finding] {
        guard !reading.cards.isEmpty else {
            return [Finding(.card, nil, .unknown, "this machine has no eMMC or SD card")]
        }
        return reading.cards.map { card in
            guard card.lifeTime != nil || card.preEndOfLife != nil else {
                return Finding(
                    .card, card.name, .unknown,
                    card.type == "SD" ? "SD cards do not report their wear" : "it does not report its wear")
            }
            let life = card.lifeTime ?? 0
            let spare = card.preEndOfLife ?? 0
            let state: HealthState = life >= 11 || spare >= 3 ? .fail : life >= 9 || spare == 2 ? .warn : .ok
            var parts: [String] = []
            if life >= 11 { parts.append("its estimated life is used up") }
            if (1...10).contains(life) { parts.append("\((life - 1) * 10) to \(life * 10) % of its life used") }
            if spare > 0 { parts.append("spare blocks \(spare == 1 ? "normal" : spare == 2 ? "low" : "urgently low")") }
            if parts.isEmpty { return Finding(.card, card.name, .unknown, "it does not define its wear") }
            return Finding(.card, card.name, state, parts.joined(separator: ", "), code: .cardWorn)
        }
    }

    /// How the last boot came about.
    ///
    /// - Parameter uptime: seconds; after a day nobody needs to be told any more.
    static func boot(_ reading: WatchdogReading, lastEnd: LadderState.LastEnd, uptime: Double) -> Finding {
        let isNews = uptime < 86_400
        if reading.resetTheBoard {
            return Finding(
                .boot, nil, isNews ? .warn : .ok, "the hardware watchdog forced the last boot", code: .bootByWatchdog)
        }
        switch lastEnd {
        case .ladder(let reason):
            return Finding(
                .boot, nil, isNews ? .warn : .ok, "the box rebooted itself: \(reason)", code: .rebooted)
        case .orderly: return Finding(.boot, nil, .ok, "it was shut down or rebooted by command")
        case .sudden: return Finding(.boot, nil, .ok, "it was switched off, lost its power, or the kernel crashed")
        case .unknown: return Finding(.boot, nil, .unknown, "nothing is recorded of the boot before")
        }
    }
}
