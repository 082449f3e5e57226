# For scripts that `systemd-box --outside` runs: source it. The box is up, its units are installed, nothing of ours runs yet.
# checks.bash (expect, refuse, same, await, finish) comes with it.
. "$(dirname "${BASH_SOURCE[0]}")/checks.bash"

# inside COMMAND…: as root in the box
inside() { "$BOX" "$@"; }

# as USER COMMAND…: in the box, as one of its users, with all its groups
as() { "$BOX" sh -c 'exec setpriv --reuid="$0" --regid="$(id -g "$0")" --init-groups -- "$@"' "$@"; }

property() { "$BOX" systemctl show --property "$2" --value "$1"; }
active() { [ "$(property "$1" ActiveState)" = active ]; }
failed() { [ "$(property "$1" ActiveState)" = failed ]; }

# restarted UNIT INVOCATION: is it up again, as another one than INVOCATION?
restarted() { active "$1" && [ "$(property "$1" InvocationID)" != "$2" ]; }

# printed UNIT TEXT: does the journal have it?
printed() { "$BOX" journalctl --no-pager --output cat --unit "$1" | grep -qF -- "$2"; }

# drop_in UNIT NAME <FILE: settings for a unit, or for all instances of a template (NAME@.service), until the box ends
drop_in() {
    local directory=$BOX_ROOT/run/systemd/system/$1.d
    mkdir -p "$directory"
    cat >"$directory/$2.conf"
    "$BOX" systemctl daemon-reload
}

no_drop_in() {
    rm -f "$BOX_ROOT/run/systemd/system/$1.d/$2.conf"
    "$BOX" systemctl daemon-reload
}

# watchdog UNIT TIME: acts at the unit's next start
watchdog() { drop_in "$1" 50-watchdog <<<"[Service]"$'\n'"WatchdogSec=$2"; }

# kill_unit UNIT [SIGNAL]: its main process, as if it had died by itself
kill_unit() { "$BOX" systemctl kill --kill-whom=main --signal="${2:-KILL}" "$1"; }

# clock UNIT @TIME|OFFSET: what the unit takes for the time: `clock UNIT @1970-01-01 00:01:00`, `clock UNIT -1 hour`,
# `clock UNIT true`. Acts at the unit's next start the first time, afterwards at once: a running process sees its clock step.
# Under clock.c, because this machine has one wall clock for every box.
clock() {
    local unit=$1 file=/run/clock/$1 offset
    shift
    case $* in
        true) offset=0 ;;
        @*) offset=$(($(date -u -d "${*#@}" +%s) - $(date +%s))) ;;
        *) offset=$(($(date -u -d "1970-01-01 00:00 UTC $*" +%s))) ;;
    esac
    [ -e "$BOX_ROOT/usr/lib/watchbox-test/clock.so" ] || { echo "there is no clock.so: this machine has no C compiler"; return 1; }
    mkdir -p "$BOX_ROOT/run/clock"
    # In place and in one piece: processes have it mapped.
    perl -e 'open my $f, "+>>", $ARGV[0] or die; close $f; open $f, "+<", $ARGV[0] or die; syswrite $f, pack "q", $ARGV[1] * 1e9' \
        "$BOX_ROOT$file" "$offset"
    [ -e "$BOX_ROOT/run/systemd/system/$unit.d/50-clock.conf" ] || drop_in "$unit" 50-clock <<END
[Service]
Environment=LD_PRELOAD=/usr/lib/watchbox-test/clock.so WATCHBOX_CLOCK=$file
END
}

# fill PATH: leave no byte free on the file system under PATH (one that --tmpfs made); `unfill PATH` gives them back
fill() { "$BOX" sh -c 'cat /dev/zero >"$0/.full" 2>/dev/null; sync -f "$0"; test "$(stat -f -c %a "$0")" = 0' "$1"; }
unfill() { "$BOX" rm -f "$1/.full"; }
read_only() { "$BOX" mount -o remount,ro "$1"; }
writable() { "$BOX" mount -o remount,rw "$1"; }

# ended: how the box ended, when it did so by itself: reboot, poweroff
ended() { [ -s "$BOX_ENDED" ] && cat "$BOX_ENDED"; }
