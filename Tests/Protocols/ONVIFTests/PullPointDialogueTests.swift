import Testing

@testable import ONVIF

struct PullPointDialogueTests {
    static let second: UInt64 = 1_000_000_000
    static let reference = EndpointReference(address: "http://192.0.2.9/onvif/sub1")

    private func subscription(seconds: Int = 60) throws -> EventMessages.Subscription {
        let end = 45 * 60 + seconds
        return try #require(
            EventMessages.Subscription(
                try response(
                    """
                    <tev:CreatePullPointSubscriptionResponse><tev:SubscriptionReference>
                    <wsa5:Address>\(Self.reference.address)</wsa5:Address></tev:SubscriptionReference>
                    <wsnt:CurrentTime>2026-11-22T03:45:00Z</wsnt:CurrentTime>
                    <wsnt:TerminationTime>2026-11-22T03:\(end / 60):\(end % 60 < 10 ? "0" : "")\(end % 60)Z</wsnt:TerminationTime>
                    </tev:CreatePullPointSubscriptionResponse>
                    """)))
    }

    @Test func `created, pulled, renewed at four fifths`() throws {
        var dialogue = PullPointDialogue()
        #expect(dialogue.next(at: 5) == PullPointDialogue.Step(action: .create(.relative), time: 5))
        let created = try subscription()
        #expect(created.lifetime == 60_000)
        dialogue.created(created, at: 0)
        var now: UInt64 = 0
        var pulls: [Int] = []
        while case .pull(Self.reference, let seconds) = dialogue.next(at: now).action {
            pulls.append(seconds)
            let begin = now
            now += UInt64(seconds) * Self.second
            dialogue.pulled(messages: 0, lifetime: 60_000 - Int64(now / 1_000_000), from: begin, at: now)
        }
        #expect(pulls == [15, 15, 15, 3])
        #expect(dialogue.next(at: now).action == .renew(Self.reference, .relative))
        dialogue.renewed(lifetime: nil, at: now)
        guard case .pull = dialogue.next(at: now).action else {
            Issue.record("not pulled")
            return
        }
    }

    @Test func `a device that prolongs with each pull is never asked to renew`() throws {
        var dialogue = PullPointDialogue()
        dialogue.created(try subscription(), at: 0)
        for number: UInt64 in 1...100 {
            guard case .pull = dialogue.next(at: number * 10 * Self.second).action else {
                Issue.record("\(number)")
                return
            }
            dialogue.pulled(messages: 1, lifetime: 60_000, from: 0, at: number * 10 * Self.second)
        }
    }

    @Test func `an end that is given in whole seconds comes nearer all the same`() throws {
        var dialogue = PullPointDialogue()
        dialogue.created(try subscription(seconds: 4), at: 0)
        var now: UInt64 = 0
        while case .pull = dialogue.next(at: now).action, now < 100 * Self.second {
            now += Self.second / 5
            dialogue.pulled(messages: 1, lifetime: Int64(4 - now / Self.second) * 1000, from: now, at: now)
        }
        #expect(now <= 4 * Self.second)
    }

    @Test func `lost connections are pulled again, the fourth in a row begins again`() throws {
        var dialogue = PullPointDialogue()
        dialogue.created(try subscription(), at: 0)
        let begin = 10 * Self.second
        var times: [UInt64] = []
        for _ in 0..<3 {
            dialogue.pullFailed(.connection, from: 0, at: begin)
            let step = dialogue.next(at: begin)
            guard case .pull = step.action else {
                Issue.record("\(step)")
                return
            }
            times.append((step.time - begin) / Self.second)
        }
        #expect(times == [0, 2, 4])
        dialogue.pullFailed(.connection, from: 0, at: begin)
        // The old one is ended first: the device may not have noticed.
        #expect(
            dialogue.next(at: begin)
                == PullPointDialogue.Step(action: .unsubscribe(Self.reference), time: begin + Self.second))
        #expect(dialogue.reference == Self.reference)
        dialogue.unsubscribed()
        #expect(
            dialogue.next(at: begin) == PullPointDialogue.Step(action: .create(.relative), time: begin + Self.second))
        #expect(dialogue.reference == nil)
    }

    @Test func `a subscription that is forgotten at once is made ever more seldom`() throws {
        var dialogue = PullPointDialogue()
        var now: UInt64 = 0
        var waits: [UInt64] = []
        for _ in 0..<9 {
            dialogue.created(try subscription(), at: now)
            dialogue.pullFailed(.forgotten, from: now, at: now)
            let step = dialogue.next(at: now)
            #expect(step.action == .create(.relative))
            waits.append((step.time - now) / Self.second)
            now = step.time
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        // Half a minute without trouble begins that again.
        dialogue.created(try subscription(), at: now)
        dialogue.pulled(messages: 1, lifetime: nil, from: now, at: now + 31 * Self.second)
        dialogue.pullFailed(.forgotten, from: now, at: now + 31 * Self.second)
        #expect(dialogue.next(at: now + 31 * Self.second).time == now + 32 * Self.second)
    }

    @Test func `a device that refuses a lifetime in seconds is given the end, and neither in a storm`() {
        var dialogue = PullPointDialogue()
        dialogue.createFailed(.refused, at: 0)
        #expect(dialogue.next(at: 0) == PullPointDialogue.Step(action: .create(.absolute), time: 0))
        dialogue.createFailed(.refused, at: 0)
        #expect(dialogue.next(at: 0) == PullPointDialogue.Step(action: .create(.relative), time: Self.second))
        dialogue.createFailed(.connection, at: Self.second)
        #expect(dialogue.next(at: Self.second).time == 3 * Self.second)
    }

    @Test func `a refused renewal is a new subscription, a lost one is sent again while there is time`() throws {
        var dialogue = PullPointDialogue()
        dialogue.created(try subscription(), at: 0)
        let renewal = 48 * Self.second
        dialogue.renewFailed(.connection, at: renewal)
        guard case .pull = dialogue.next(at: renewal).action else {
            Issue.record("not pulled")
            return
        }
        #expect(dialogue.next(at: renewal + Self.second).action == .renew(Self.reference, .relative))
        dialogue.renewFailed(.refused, at: renewal)
        #expect(dialogue.next(at: renewal).action == .unsubscribe(Self.reference))
        dialogue.unsubscribed()
        #expect(dialogue.next(at: renewal) == PullPointDialogue.Step(action: .create(.relative), time: renewal))
    }

    @Test func `only who says at the very first that there are no events is left alone`() throws {
        var never = PullPointDialogue()
        never.createFailed(.notSupported, at: 0)
        #expect(never.next(at: 0).action == .finish)
        var away = PullPointDialogue()
        away.createFailed(.connection, at: 0)
        away.createFailed(.notSupported, at: 0)
        #expect(away.next(at: 0) == PullPointDialogue.Step(action: .create(.relative), time: 60 * Self.second))
    }

    @Test(arguments: [PullPointDialogue.Failure.notSupported, .login])
    func `what is refused later is asked for again, ever more seldom`(_ failure: PullPointDialogue.Failure) throws {
        var dialogue = PullPointDialogue()
        dialogue.created(try subscription(), at: 0)
        dialogue.pullFailed(failure, from: 0, at: 0)
        #expect(
            dialogue.next(at: 0)
                == PullPointDialogue.Step(action: .unsubscribe(Self.reference), time: 60 * Self.second))
        dialogue.unsubscribed()
        var now = dialogue.next(at: 0).time
        var minutes: [UInt64] = []
        for _ in 0..<6 {
            dialogue.createFailed(failure, at: now)
            let step = dialogue.next(at: now)
            #expect(step.action == .create(.relative))
            minutes.append((step.time - now) / Self.second / 60)
            now = step.time
        }
        #expect(minutes == [2, 4, 8, 15, 15, 15])
        dialogue.created(try subscription(), at: now)
        dialogue.pulled(messages: 0, lifetime: nil, from: now, at: now + 31 * Self.second)
        dialogue.pullFailed(failure, from: now, at: now)
        #expect(dialogue.next(at: now).time == now + 60 * Self.second)
    }

    @Test func `who answers without waiting is not asked without waiting`() throws {
        var dialogue = PullPointDialogue()
        dialogue.created(try subscription(), at: 0)
        dialogue.pulled(messages: 0, lifetime: nil, from: 0, at: 1)
        #expect(dialogue.next(at: 1).time == Self.second)
        dialogue.pulled(messages: 5, lifetime: nil, from: Self.second, at: Self.second)
        #expect(dialogue.next(at: Self.second).time == Self.second * 11 / 10)
    }

    @Test func `ten in a second, and the rest is counted`() {
        var budget = EventBudget(perSecond: 10)
        var passed = 0
        let event = EventNotification(topic: "tns1:X", kind: "Visitor")
        for number: UInt64 in 0..<300 where budget.take(event, at: number * Self.second / 100) { passed += 1 }
        #expect(passed == 30)
        #expect(budget.dropped == 270)
    }

    @Test(arguments: ["motion", "tamper", "digitalInput"])
    func `what others act for is not pushed out by what a camera says otherwise`(kind: String) {
        var budget = EventBudget(perSecond: 10)
        for number: UInt64 in 0..<1000 {
            _ = budget.take(EventNotification(topic: "tns1:X", kind: "LineCounter"), at: number)
        }
        let event = EventNotification(topic: "tns1:X", kind: kind)
        #expect((0..<11).map { budget.take(event, at: 1000 + $0) } == Array(repeating: true, count: 10) + [false])
        #expect(budget.dropped == 991)
        var end = event
        end.isActive = false
        let isHeard = budget.take(end, at: 1020)
        #expect(isHeard, "what goes on may be repeated as often as it likes: its end is heard")
    }
}
