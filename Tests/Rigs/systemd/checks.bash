# For scripts that check one thing per line, inside the box and outside: source it, then call `finish` at the end.
checks_failed=0
checks_skipped=0
checks_output=$(mktemp)
trap 'rm -f "$checks_output"' EXIT

_report() {  # _report MARK WHAT
    printf '%s %s\n' "$1" "$2"
    [ "$1" = "✗" ] || return 0
    checks_failed=$((checks_failed + 1))
    tail -n 6 "$checks_output" | sed 's/^/      /'
}

# expect WHAT COMMAND…: it succeeds
expect() {
    local what=$1
    shift
    if "$@" >"$checks_output" 2>&1; then _report "✓" "$what"; else _report "✗" "$what"; fi
}

# refuse WHAT COMMAND…: it fails, and with a message of refusal, so that a mistyped command does not pass
refuse() {
    local what=$1
    shift
    if "$@" >"$checks_output" 2>&1; then
        _report "✗" "refused: $what (it was allowed)"
    elif grep -qiE 'denied|not permitted|authentication|refused|not authorized|read-only|already exists|has a fragment' "$checks_output"; then
        _report "✓" "refused: $what"
    else
        _report "✗" "refused: $what (it failed for another reason)"
    fi
}

# same WHAT VALUE EXPECTED
same() {
    printf 'is “%s”, expected “%s”\n' "$2" "$3" >"$checks_output"
    if [ "$2" = "$3" ]; then _report "✓" "$1"; else _report "✗" "$1"; fi
}

# skip WHAT: it cannot be tried here, and the last line says so
skip() {
    printf 'skipped: %s\n' "$1"
    checks_skipped=$((checks_skipped + 1))
}

# await SECONDS COMMAND…: until it succeeds; generous limits, because the machine may be busy
await() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || { echo "gave up on: $*"; return 1; }
        sleep 0.1
    done
}

finish() {
    if [ "$checks_failed" -gt 0 ]; then echo "$checks_failed failed"; exit 1; fi
    if [ "$checks_skipped" -gt 0 ]; then echo "all passed but $checks_skipped, skipped"; else echo "all passed"; fi
    exit 0
}
