# Bare Debian roots by debootstrap, and commands in them. Sourced by package.sh and debian.sh.

# make_debian_root ROOT RELEASE: a bare Debian, in which apt installs packages (VOXSHARD_DEBIAN_MIRROR: from where). Says why it
# cannot be made.
make_debian_root() {
  local mirror=${VOXSHARD_DEBIAN_MIRROR:-http://deb.debian.org/debian} log
  [ "$(id -u)" -eq 0 ] || { echo "skipped: a bare Debian: no right to chroot"; return 1; }
  command -v debootstrap >/dev/null || { echo "skipped: no debootstrap"; return 1; }
  log=$(mktemp)
  debootstrap --variant=minbase "$2" "$1" "$mirror" >"$log" 2>&1 ||
    { echo "skipped: debootstrap of $2 from $mirror: $(tail -n 1 "$log")"; rm -rf "$log" "$1"; return 1; }
  rm "$log"
  cp /etc/resolv.conf "$1/etc/"
}

# in_debian_root ROOT COMMAND ...: with /proc, /dev and a shared memory of its own where they can be mounted.
in_debian_root() {
  local root=$1
  shift
  if unshare --mount true 2>/dev/null; then
    HOME=/root unshare --mount bash -c 'mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" &&
      mount -t tmpfs none "$0/dev/shm" && exec chroot "$0" "$@"' "$root" "$@"
  else
    HOME=/root chroot "$root" "$@"
  fi
}
