#!/bin/sh
# A link of certain conditions to the SUT node, as root: the hook of "longhaul sweep --link-hook". It shapes an interface by
# the kernel's netem, or the link to a network namespace of this machine in which the SUT node runs.
set -eu

usage() {
  cat <<'USAGE'
Usage: LINK_DEVICE=eth1 link.sh     as --link-hook: shapes what leaves that interface, by netem
       link.sh make | remove        makes the namespace, with a link without limits, and removes it
       link.sh                      as --link-hook: shapes the link to the namespace

Set by "longhaul sweep": LONGHAUL_LINK (set or clear), LONGHAUL_LINK_DELAY_US (one way), LONGHAUL_LINK_RATE_BITS (empty:
unlimited) and LONGHAUL_LINK_LOSS_PERCENT. Set by you:
  LINK_DEVICE   interface that leads to the node. Elsewhere than on lo it has the delay of the whole round trip, and rate and loss hold for
                queries alone. Never that of your ssh session.
  LINK_SPACE    name of the namespace (longhaul-sut)
  LINK_NET      first three bytes of its addresses (198.18.0): .1 is this end, .2 that of the node
  LINK_BY       netem, or tap: TAP devices and tap-link.py between them (default: netem where the kernel has it)
  LINK_SEED     seed of the losses of tap (0)
USAGE
}

fail() { printf 'link.sh: %s\n' "$1" >&2; exit "${2:-1}"; }

here="$(cd "$(dirname "$0")" && pwd)"
space="${LINK_SPACE:-longhaul-sut}" net="${LINK_NET:-198.18.0}"
near_device="lh-$(printf %.11s "$space")"
state="/run/longhaul-link-$space"

# queue DELAY_US: packets that an end has to hold, those on the way included; without a rate those of 25 Gbit/s.
queue() { echo $((1000 + (${rate:-25000000000} * $1 + 11999999999) / 12000000000)); }

# netem_words DELAY_US: what follows "tc qdisc add dev DEVICE root".
netem_words() {
  words="netem limit $(queue "$1")"
  [ "$1" = 0 ] || words="$words delay ${1}us"
  [ "$loss" = 0 ] || words="$words loss $loss%"
  [ -z "$rate" ] || words="$words rate ${rate}bit"
  echo "$words"
}

no_limits() { delay=0 rate='' loss=0; }

asked() {
  delay="${LONGHAUL_LINK_DELAY_US%%.*}" rate="$LONGHAUL_LINK_RATE_BITS" loss="$LONGHAUL_LINK_LOSS_PERCENT"
}

device_kind() { tc qdisc show dev "$1" root | sed -n 's/^qdisc \([^ ]*\) .*/\1/p' | head -n 1; }

set_device() {
  kind="$(device_kind "$LINK_DEVICE")"
  # Those that a kernel puts there, and puts back, by itself.
  case $kind in
    '' | noqueue | mq | pfifo_fast | fq_codel | fq) ;;
    *) fail "$LINK_DEVICE has a queueing discipline already ($kind), which would be lost" ;;
  esac
  [ "$LINK_DEVICE" = lo ] || delay=$((2 * delay))
  # shellcheck disable=SC2046 # Words.
  tc qdisc add dev "$LINK_DEVICE" root $(netem_words "$delay")
}

clear_device() {
  [ "$(device_kind "$LINK_DEVICE")" != netem ] || tc qdisc del dev "$LINK_DEVICE" root
}

has_netem() {
  unshare --net sh -c 'ip link set lo up && tc qdisc add dev lo root netem delay 1ms' 2>/dev/null
}

unlink_space() {
  [ ! -e "/sys/class/net/$near_device" ] || ip link del "$near_device"
  [ -f "$state.pid" ] || return 0
  pid="$(cat "$state.pid")"
  rm -f "$state.pid"
  # Its last line is written when it ends.
  kill -TERM "$pid" 2>/dev/null || return 0
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

link_space() {
  by="${LINK_BY:-}"
  if [ -z "$by" ]; then if has_netem; then by=netem; else by=tap; fi; fi
  unlink_space
  case $by in
    netem) link_by_netem ;;
    tap) link_by_tap ;;
    *) fail "LINK_BY \"$by\" must be netem or tap" 2 ;;
  esac
}

link_by_netem() {
  words="$(netem_words "$delay")"
  ip link add "$near_device" type veth peer name lan0 netns "$space"
  # shellcheck disable=SC2086
  tc qdisc add dev "$near_device" root $words
  ip addr add "$net.1/30" dev "$near_device"
  ip link set "$near_device" up
  ip -n "$space" addr add "$net.2/30" dev lan0
  # shellcheck disable=SC2086
  ip netns exec "$space" tc qdisc add dev lan0 root $words
  ip -n "$space" link set lan0 up
}

link_by_tap() {
  command -v python3 >/dev/null || fail 'a link in user space needs python3'
  [ -e /dev/net/tun ] || fail 'a link in user space needs /dev/net/tun (kernel module tun)'
  rate_mbit="$(echo "${rate:-inf}" | awk '{ print $1 == "inf" ? $1 : $1 / 1e6 }')"
  delay_ms="$(echo "$delay" | awk '{ print $1 / 1e3 }')"
  share="$(echo "$loss" | awk '{ print $1 / 100 }')"
  : >"$state.log"
  python3 "$here/tap-link.py" --stay /proc/self/ns/net "$net.1/30" "$space" "$net.2/30" "$delay_ms" "$rate_mbit" \
    "$share" "${LINK_SEED:-0}" "$(queue "$delay")" >"$state.log" 2>&1 &
  pid=$!
  for _ in $(seq 200); do
    if grep -q ready "$state.log"; then echo "$pid" >"$state.pid"; return; fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  kill "$pid" 2>/dev/null || true
  fail "the link in user space did not get ready: $(tail -n 1 "$state.log")"
}

need_space() {
  [ -e "/run/netns/$space" ] || fail "there is no namespace $space: \"link.sh make\" makes it, LINK_DEVICE shapes an interface"
}

case "${1:-${LONGHAUL_LINK:-}}" in
  make)
    ip netns add "$space"
    trap 'ip netns del "$space"' EXIT
    ip -n "$space" link set lo up
    no_limits
    link_space
    trap - EXIT
    echo "namespace $space: start the node there, for example: ip netns exec $space longhaul sut --listen $net.2:50051 ..." ;;
  remove)
    unlink_space
    rm -f "$state.log"
    ip netns del "$space" ;;
  set)
    asked
    if [ -n "${LINK_DEVICE:-}" ]; then set_device; else need_space; link_space; fi ;;
  clear)
    if [ -n "${LINK_DEVICE:-}" ]; then
      clear_device
      exit
    fi
    need_space
    said='by netem'
    # Node, link and LoadGen share the cores of one machine: how late the link was belongs to the figures.
    if [ -f "$state.pid" ]; then
      unlink_space
      said="in user space, $(tail -n 1 "$state.log")"
    fi
    no_limits
    link_space
    echo "to a network namespace of LoadGen's machine, $said" ;;
  -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
