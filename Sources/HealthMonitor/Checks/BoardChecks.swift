internal import ControlAPI
internal import ErrorCatalog

/// Supply, heat, watchdog, card: each a function of what was read.
enum BoardChecks {
    static func power(_ reading: PowerReading) -> Finding {
        // get_throttled: bit 0 now, bit 16 since boot.
        let word = reading.throttled ?? 0
        if reading.alarm == true || word & 1 != 0 {
            return Finding(.power, nil, .fail, "the 5 V supply is too low at this moment", code: .underVoltage)
        }
        if word & 1 << 16 != 0 {
            return Finding(
                .power, nil, .warn, "the 5 V supply was too low since boot, now it is not", code: .underVoltage)
        }
        if reading.throttled != nil { return Finding(.power, nil, .ok, "no under-voltage since boot (firmware)") }
        if reading.alarm == false { return Finding(.power, nil, .ok, "no under-voltage (rpi_volt)") }
        return Finding(.power, nil, .unknown, "this kernel has neither the rpi_volt sensor nor the firmware's word")
    }

    /// - Parameter throttled: the firmware's word; its bits 1 to 3 say that it has slowed the processor.
    static func heat(
        _ reading: HeatReading, throttled: UInt32?, limits: HealthThresholds.Pair, was: HealthState?
    ) -> Finding {
        let isSlowed = (throttled ?? 0) & 0b1110 != 0
        guard let celsius = reading.celsius else {
            return isSlowed
                ? Finding(.heat, nil, .warn, "the firmware has slowed the processor", code: .hot)
                : Finding(.heat, nil, .unknown, "this machine shows no thermal zone")
        }
        let state = limits.state(celsius, was: was, slack: 3)
        var evidence = "\(celsius.tenths) °C in \(reading.zone ?? "the hottest zone")"
        if isSlowed { evidence += ", and the firmware has slowed the processor" }
        return Finding(.heat, nil, isSlowed && state == .ok ? .warn : state, evidence, code: .hot)
    }

    static func watchdog(_ reading: WatchdogReading) -> Finding {
        guard reading.isPresent else {
            if let board = reading.board {
                return Finding(
                    .watchdog, nil, .fail, "\(board) has a hardware watchdog, but the kernel shows none",
                    code: .watchdogInactive)
            }
            return Finding(
                .watchdog, nil, .unknown,
                "this machine shows no watchdog device, and it is no board that is known to have one"
            )
        }
        switch reading.state {
        case "active":
            let timeout = reading.timeoutSeconds.map { ", resets after \($0) s" } ?? ""
            if let seconds = reading.timeoutSeconds, let wanted = reading.wantedSeconds, seconds > wanted {
                return Finding(
                    .watchdog, nil, .warn,
                    "watchdog0 is active\(timeout), and this box wants \(wanted) s: another setting wins",
                    code: .watchdogSlow)
            }
            return Finding(.watchdog, nil, .ok, "watchdog0 is active\(timeout)")
        case let state?:
            return Finding(.watchdog, nil, .fail, "watchdog0 is \(state)", code: .watchdogInactive)
        case nil:
            return Finding(.watchdog, nil, .unknown, "watchdog0 does not say whether it is active")
        }
    }

    static func card(_ reading: CardReading) -> [Finding] {
        guard !reading.cards.isEmpty else {
            return [Finding(.card, nil, .unknown, "this machine has no eMMC or SD card")]
        }
        return reading.cards.map { card in
            guard card.lifeTime != nil || card.preEndOfLife != nil else {
                return Finding(
                    .card, card.name, .unknown,
                    card.type == "SD" ? "SD cards do not tell their wear" : "it does not tell its wear")
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
