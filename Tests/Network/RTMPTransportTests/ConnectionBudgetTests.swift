import Testing

@testable import RTMPTransport

struct ConnectionBudgetTests {
    private static func make(
        _ connections: Int = 8, perNetwork: Int = 8, reserved: Int = 2, reservedPerNetwork: Int = 1,
        unauthenticatedPerNetwork: Int = 3
    ) -> ConnectionBudget {
        ConnectionBudget(
            limits: ConnectionBudget.Limits(
                connections: connections, connectionsPerNetwork: perNetwork, reserved: reserved,
                reservedPerNetwork: reservedPerNetwork, unauthenticatedPerNetwork: unauthenticatedPerNetwork))
    }

    private static func nobody(_ network: String?) -> UInt64? { nil }

    @Test func `players never get the places of publishers`() {
        var budget = Self.make()
        for id in UInt64(1)...6 {
            #expect(budget.admit(id, from: "n\(id)", idle: Self.nobody) == .admitted)
            #expect(budget.hasRoomForPlayer(from: "n\(id)"))
            budget.becamePlayer(id)
        }
        #expect(!budget.hasRoomForPlayer(from: "another"))
        #expect(budget.admit(7, from: "camera", idle: Self.nobody) == .admitted)
        budget.becamePublisher(7)
        #expect(budget.admit(8, from: "camera", idle: Self.nobody) == .admitted)
        budget.becamePublisher(8)
        // Full of those who are never dropped.
        #expect(budget.admit(9, from: "camera", idle: Self.nobody) == .refused)
        budget.remove(1)
        #expect(budget.hasRoomForPlayer(from: "another"))
        #expect(budget.admit(9, from: "camera", idle: Self.nobody) == .admitted)
        #expect(budget.count == 8)
    }

    @Test func `when all is taken the youngest idle player makes room, before any unauthenticated client`() {
        var budget = Self.make()
        for id in UInt64(1)...8 { _ = budget.admit(id, from: "n\(id)", idle: Self.nobody) }
        budget.becamePlayer(5)
        #expect(budget.admit(9, from: "camera") { $0 == nil ? 5 : nil } == .admittedInstead(of: 5))
        // No one is idle any more: the oldest unauthenticated client.
        budget.becamePlayer(1)
        #expect(budget.admit(10, from: "camera", idle: Self.nobody) == .admittedInstead(of: 2))
        #expect(budget.count == 8)
    }

    @Test func `a network with many unauthenticated clients makes room among its own`() {
        var budget = Self.make()
        _ = budget.admit(1, from: "camera", idle: Self.nobody)
        for id in UInt64(2)...8 { _ = budget.admit(id, from: "attacker", idle: Self.nobody) }
        for id in UInt64(9)...100 {
            #expect(budget.admit(id, from: "attacker", idle: { _ in 1 }) == .admittedInstead(of: id - 7))
        }
        budget.becamePublisher(1)
        #expect(budget.admit(101, from: "box", idle: Self.nobody) == .admittedInstead(of: 94))
    }

    @Test func `a network at its limit keeps places for its publishers and drops its own unauthenticated clients`() {
        var budget = Self.make(100, perNetwork: 4)
        for id in UInt64(1)...4 {
            #expect(budget.admit(id, from: "home", idle: Self.nobody) == .admitted)
            if budget.hasRoomForPlayer(from: "home") { budget.becamePlayer(id) }
        }
        #expect(!budget.hasRoomForPlayer(from: "home") && budget.hasRoomForPlayer(from: "elsewhere"))
        #expect(budget.admit(5, from: "home", idle: Self.nobody) == .admittedInstead(of: 4))
        budget.becamePublisher(5)
        #expect(budget.admit(6, from: "home") { $0 == "home" ? 2 : nil } == .admittedInstead(of: 2))
        budget.becamePublisher(6)
        #expect(budget.admit(7, from: "home", idle: Self.nobody) == .refused)
        #expect(budget.admit(8, from: "elsewhere", idle: Self.nobody) == .admitted)
    }

    @Test func `who ended a stream is unauthenticated again, and who is gone leaves nothing`() {
        var budget = Self.make(2, reserved: 0, reservedPerNetwork: 0)
        for round in UInt64(0)..<1000 {
            let id = round * 2 + 1
            #expect(budget.admit(id, from: "a", idle: Self.nobody) == .admitted)
            budget.becamePlayer(id)
            budget.becameUnauthenticated(id)
            #expect(budget.admit(id + 1, from: "b", idle: Self.nobody) == .admitted)
            budget.becamePublisher(id + 1)
            #expect(budget.admit(0, from: "c", idle: Self.nobody) == .admittedInstead(of: id))
            budget.remove(0)
            budget.remove(id + 1)
            budget.remove(id)
            #expect(budget.count == 0)
        }
    }
}
