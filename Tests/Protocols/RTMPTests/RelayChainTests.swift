import AMF0
import Testing

@testable import RTMP

struct RelayChainTests {
    private static let names = ["0123456789abcdef", "fedcba9876543210", "00000000ffffffff"]

    @Test func `three relays are the end`() {
        var chain = RelayChain()
        for name in Self.names {
            #expect(chain.mayGoOn)
            chain = chain.adding(name)
        }
        #expect(!chain.mayGoOn)
        #expect(RelayChain(.string(chain.text)) == chain)
    }

    @Test func `no property is a stream that begins here`() {
        #expect(RelayChain(nil) == RelayChain() && RelayChain().mayGoOn)
    }

    @Test(
        arguments: [
            .string(""), .string("x"), .string("0123456789ABCDEF"), .string("0123456789abcdef,"), .number(1), .null,
            .string(String(repeating: "0123456789abcdef,", count: 9999)),
            .string((names + ["0123456789abcdef"]).joined(separator: ",")),
        ] as [AMF0Value])
    func `what no relay of ours says is not forwarded`(value: AMF0Value) {
        let chain = RelayChain(value)
        #expect(!chain.mayGoOn && chain.relays.isEmpty)
    }
}
