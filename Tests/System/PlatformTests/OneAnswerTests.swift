import Platform
import Testing

@Suite(.timeLimit(.minutes(15)))
struct OneAnswerTests {
    @Test func `the first value counts, before the wait and during it`() async {
        let early = OneAnswer<Int>()
        #expect(!early.isGiven)
        #expect(early.give(1))
        #expect(early.isGiven)
        #expect(!early.give(2))
        #expect(
            await early.value {
            } onCancel: {
            } == 1)
        let late = OneAnswer<Int>()
        let value = await late.value {
            #expect(late.give(3))
            #expect(!late.give(4))
        } onCancel: {
        }
        #expect(value == 3)
        #expect(late.isGiven)
    }

    @Test func `another thread may give it`() async {
        let answer = OneAnswer<Int>()
        let value = await answer.value {
            if !OwnThread.start({ answer.give(5) }) { answer.give(0) }
        } onCancel: {
        }
        #expect(value == 5)
    }

    @Test func `a cancelled task gets what its cancellation gives`() async {
        let answer = OneAnswer<Bool>()
        let task = Task {
            await answer.value {
            } onCancel: {
                answer.give(false)
            }
        }
        task.cancel()
        #expect(await task.value == false)
        #expect(!answer.give(true))
    }
}
