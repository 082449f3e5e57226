internal import Glibc

/// What a promise with a number is held at: five times of it, because this machine may be busy. A sanitizer makes everything many times
/// slower, and what it runs is judged by other rules.
package func limit(of promised: Duration) -> Duration {
    let isSanitized = unsafe getenv("WATCHBOX_SANITIZER") != nil
    return promised * (isSanitized ? 300 : 5)
}
