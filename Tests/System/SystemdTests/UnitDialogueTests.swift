import Testing

@testable import Systemd

struct UnitDialogueTests {
    private typealias Tag = UnitDialogue.Tag
    private let unit = "watchbox-relay.service"
    private let job = UnitDialogue.RemovedJob(path: "/job/7", sender: ":1.1", result: "done")

    private func started() -> UnitDialogue {
        var dialogue = UnitDialogue()
        begin(1, &dialogue)
        return dialogue
    }

    /// Its starts are forgotten, and the job is asked for.
    private func begin(_ id: UInt64, _ dialogue: inout UnitDialogue) {
        _ = dialogue.begin(id, .job(.start, unit))
        _ = dialogue.replied(Tag(call: id), .empty)
    }

    @Test func `a job subscribes first, and a start forgets the starts before it`() {
        var dialogue = UnitDialogue()
        #expect(
            dialogue.begin(1, .job(.restart, unit)) == [
                .send(.subscribe, Tag(call: 0)), .send(.call(.resetFailed(unit)), Tag(call: 1)),
            ])
        #expect(dialogue.replied(Tag(call: 0), .empty) == [])
        #expect(dialogue.replied(Tag(call: 1), .empty) == [.send(.call(.job(.restart, unit)), Tag(call: 1))])
        #expect(dialogue.replied(Tag(call: 1), .path("/job/7", sender: ":1.1")) == [])
        #expect(dialogue.jobRemoved(job) == [.finish(1, .success(.done))])
        #expect(dialogue.isIdle)
        #expect(dialogue.jobRemoved(job) == [])
    }

    @Test func `two callers of one job both learn of its end`() {
        var dialogue = started()
        begin(2, &dialogue)
        #expect(dialogue.replied(Tag(call: 1), .path("/job/7", sender: ":1.1")) == [])
        #expect(dialogue.replied(Tag(call: 2), .path("/job/7", sender: ":1.1")) == [])
        let actions = dialogue.jobRemoved(job)
        #expect(actions.count == 2)
        #expect(actions.contains(.finish(1, .success(.done))) && actions.contains(.finish(2, .success(.done))))
    }

    @Test func `a job that ended before its reply`() {
        var dialogue = started()
        #expect(dialogue.jobRemoved(job) == [])
        #expect(dialogue.replied(Tag(call: 1), .path("/job/7", sender: ":1.1")) == [.finish(1, .success(.done))])
    }

    @Test func `an end that was reported before anyone asked is not remembered`() {
        var dialogue = UnitDialogue()
        #expect(dialogue.jobRemoved(job) == [])
        begin(1, &dialogue)
        #expect(dialogue.replied(Tag(call: 1), .path("/job/7", sender: ":1.1")) == [])
        // Nor one that came for an earlier call.
        #expect(dialogue.jobRemoved(.init(path: "/job/8", sender: ":1.1", result: "done")) == [])
        _ = dialogue.expired(1)
        begin(2, &dialogue)
        #expect(dialogue.replied(Tag(call: 2), .path("/job/8", sender: ":1.1")) == [])
    }

    @Test func `a flood of signals pushes out the oldest, not the memory`() {
        var dialogue = started()
        for number in 0..<10_000 {
            #expect(dialogue.jobRemoved(.init(path: "/job/\(number)", sender: ":1.1", result: "done")) == [])
        }
        var other = dialogue
        #expect(dialogue.replied(Tag(call: 1), .path("/job/9999", sender: ":1.1")) == [.finish(1, .success(.done))])
        #expect(other.replied(Tag(call: 1), .path("/job/9487", sender: ":1.1")) == [])
    }

    @Test func `the deadline says which job goes on`() {
        var dialogue = started()
        var early = dialogue
        #expect(early.expired(1) == [.finish(1, .failure(.timedOut("start of \(unit)")))])
        _ = dialogue.replied(Tag(call: 1), .path("/org/freedesktop/systemd1/job/7", sender: ":1.1"))
        #expect(dialogue.expired(1) == [.finish(1, .failure(.timedOut("start of \(unit); job 7 goes on")))])
        #expect(dialogue.expired(1) == [])
        #expect(dialogue.replied(Tag(call: 1), .empty) == [])
    }

    @Test func `a lost connection ends everything`() {
        var dialogue = started()
        _ = dialogue.begin(2, .state("a.service"))
        #expect(
            dialogue.lost("gone") == [
                .finish(1, .failure(.unavailable("start of \(unit): gone"))),
                .finish(2, .failure(.unavailable("state of a.service: gone"))),
            ])
        #expect(dialogue.isIdle)
        #expect(dialogue.lost("gone") == [])
    }

    @Test func `no one hears of what was abandoned`() {
        var dialogue = started()
        dialogue.abandoned(1)
        #expect(dialogue.replied(Tag(call: 1), .path("/job/7", sender: ":1.1")) == [])
        #expect(dialogue.jobRemoved(job) == [])
        #expect(dialogue.lost("gone") == [])
    }

    @Test func `PID 1 may come back under another name before the job ends`() {
        var dialogue = started()
        _ = dialogue.replied(Tag(call: 1), .path("/job/7", sender: ":1.1"))
        let forged = UnitDialogue.RemovedJob(path: "/job/7", sender: ":1.66", result: "failed")
        let end = UnitDialogue.RemovedJob(path: "/job/7", sender: ":1.9", result: "timeout")
        #expect(dialogue.jobRemoved(.init(path: "/job/8", sender: ":1.66", result: "done")) == [])
        #expect(dialogue.jobRemoved(forged) == [.send(.owner, Tag(call: 1))])
        // Asked once, whoever else says something meanwhile.
        #expect(dialogue.jobRemoved(end) == [])
        #expect(
            dialogue.replied(Tag(call: 1), .owner(":1.9")) == [
                .finish(1, .failure(.jobFailed(unit: unit, result: "timeout")))
            ])
    }

    @Test func `who is not PID 1 ends no job, and is asked about again`() {
        var dialogue = started()
        _ = dialogue.replied(Tag(call: 1), .path("/job/7", sender: ":1.1"))
        let forged = UnitDialogue.RemovedJob(path: "/job/7", sender: ":1.66", result: "failed")
        for reply in [
            UnitDialogue.Reply.owner(":1.1"), .empty,
            .failure(BusFailure(name: "x.NameHasNoOwner", text: "", number: 6)),
        ] {
            #expect(dialogue.jobRemoved(forged) == [.send(.owner, Tag(call: 1))])
            for _ in 0..<100 { #expect(dialogue.jobRemoved(forged) == []) }
            #expect(dialogue.replied(Tag(call: 1), reply) == [])
        }
        #expect(dialogue.jobRemoved(job) == [.finish(1, .success(.done))])
    }

    @Test func `a list asks for each of its units, at most 256`() {
        var dialogue = UnitDialogue()
        #expect(dialogue.begin(1, .units("*")) == [.send(.call(.units("*")), Tag(call: 1))])
        let actions = dialogue.replied(Tag(call: 1), .list((0..<300).map { "/u/\($0)" }))
        #expect(actions.count == 256)
        #expect(actions.last == .send(.properties(path: "/u/255"), Tag(call: 1, item: 255)))
        for item in 0..<255 {
            let state = UnitState(name: "u\(999 - item)", load: "", active: "", sub: "")
            #expect(dialogue.replied(Tag(call: 1, item: item), .properties(state)) == [])
        }
        let gone = BusFailure(name: "org.freedesktop.systemd1.NoSuchUnit", text: "", number: 2)
        guard
            case .finish(1, .success(.states(let states)))? = dialogue.replied(Tag(call: 1, item: 255), .failure(gone))
                .first
        else {
            Issue.record("the list is not complete")
            return
        }
        #expect(states.count == 255)
        #expect(states.map(\.name) == states.map(\.name).sorted())
    }

    @Test func `a list that may not be read fails as a whole`() {
        var dialogue = UnitDialogue()
        _ = dialogue.begin(1, .units("*"))
        _ = dialogue.replied(Tag(call: 1), .list(["/a", "/b"]))
        let denied = BusFailure(name: "org.freedesktop.DBus.Error.AccessDenied", text: "", number: 13)
        #expect(
            dialogue.replied(Tag(call: 1, item: 0), .failure(denied)) == [
                .finish(1, .failure(.denied("list of units *")))
            ])
        #expect(dialogue.replied(Tag(call: 1, item: 1), .failure(denied)) == [])
    }

    @Test func `an empty list is complete`() {
        var dialogue = UnitDialogue()
        _ = dialogue.begin(1, .units("*"))
        #expect(dialogue.replied(Tag(call: 1), .list([])) == [.finish(1, .success(.states([])))])
    }

    @Test(arguments: [
        ("org.freedesktop.systemd1.NoSuchUnit", SystemdError.noSuchUnit("u.service")),
        ("org.freedesktop.systemd1.UnitMasked", .jobFailed(unit: "u.service", result: "masked")),
        ("org.freedesktop.systemd1.LoadFailed", .jobFailed(unit: "u.service", result: "load-failed")),
        ("org.freedesktop.systemd1.TransactionIsDestructive", .jobFailed(unit: "u.service", result: "conflict")),
        ("org.freedesktop.systemd1.ShuttingDown", .unavailable("ask: the machine is shutting down")),
        ("org.freedesktop.DBus.Error.AccessDenied", .denied("ask")),
        ("org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", .denied("ask")),
        ("org.freedesktop.PolicyKit1.Error.NotAuthorized", .denied("ask")),
        ("org.freedesktop.DBus.Error.NoReply", .unavailable("ask: be cause")),
        ("org.freedesktop.DBus.Error.ServiceUnknown", .unavailable("ask: be cause")),
        ("org.freedesktop.DBus.Error.Timeout", .timedOut("ask")),
        ("org.freedesktop.DBus.Error.InvalidArgs", .invalid("ask: be cause")),
        ("org.example.Other", .system(call: "ask (org.example.Other)", errno: 5)),
        ("", .system(call: "ask ()", errno: 5)),
    ])
    func `an error's name becomes ours`(name: String, error: SystemdError) {
        #expect(BusFailure(name: name, text: "be\ncause", number: 5).error("ask", unit: "u.service") == error)
    }

    @Test(arguments: [
        "watchbox-camera@front.service", "watchbox.target", "a.service", "dev-v4l-by\\x2dpath.device", "a:b_c.socket",
        String(repeating: "a", count: 247) + ".service",
    ])
    func `these are unit names`(name: String) {
        #expect(UnitName.isValid(name))
        #expect(UnitName.isValidPattern(name))
    }

    @Test(arguments: [
        "", ".service", "a", "a.exe", "a.service ", "a/b.service", "a\0.service", "@a.service", "ä.service",
        String(repeating: "a", count: 248) + ".service",
    ])
    func `these are not`(name: String) {
        #expect(!UnitName.isValid(name))
    }

    @Test func `patterns`() {
        #expect(UnitName.isValidPattern("watchbox-*") && UnitName.isValidPattern("a[0-9]?.service"))
        #expect(!UnitName.isValidPattern("") && !UnitName.isValidPattern("a b") && !UnitName.isValidPattern("{a,b}"))
    }
}
