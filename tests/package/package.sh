#!/usr/bin/env bash
# The Debian package: made by cpack, looked at by lintian, installed in a root of its own, used there and purged. Called by
# tests/run.sh --package, which builds the program first. Ends with 1 if something is wrong; what is left out is named.
#
# The root is the first of these that can be made, and a line says which:
#   debootstrap  a bare Debian of this machine's release, in which apt fetches what the package depends on
#                (VOXSHARD_DEBIAN_MIRROR: from where); the only one that shows that two commands on a bare Debian do
#   copied       the packages that this one depends on, copied from this machine, and no others: dpkg refuses the package if one
#                is missing, and the program runs in it by chroot
#   folder       without the right to chroot: the package alone; its program runs with the libraries of this machine
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/package/root.sh
helpers=(dpkg-dev file fakeroot lintian mandoc man-db debootstrap)
if ! bash apps/install_packages.sh "${helpers[@]}"; then
  for helper in "${helpers[@]}"; do bash apps/install_packages.sh "$helper" || echo "skipped: $helper cannot be installed"; done
fi
has() { command -v "$1" >/dev/null || { echo "skipped: no $1" && false; }; }

status=0
# expect WHAT COMMAND ...: runs a check and says how it ended.
expect() {
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else echo "FAILED: $what" && status=1; fi
}

rm -f build/release/voxshard_*.deb
(cd build/release && cpack -G DEB)
deb=$(echo "$PWD"/build/release/voxshard_*.deb)
dpkg-deb -I "$deb"
expect "SHA256SUMS beside the package is that of the package" bash -c 'cd build/release && sha256sum --strict -c SHA256SUMS'
if has lintian; then expect "lintian finds no error" lintian --fail-on error "$deb"; fi

scratch=$(mktemp -d)
root=$scratch/root
trap 'rm -rf --one-file-system "$scratch"' EXIT

# An empty root with the tables of dpkg and the links of a merged /usr.
make_bare_root() {
  mkdir -p "$root"/{etc,proc,dev,tmp,usr/{bin,sbin,lib,lib64,share}} "$root"/var/{lib/dpkg/{info,updates,triggers},log,cache}
  touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
}

make_copied_root() {
  local names package
  [ "$(id -u)" -eq 0 ] && chroot / true 2>/dev/null || { echo "skipped: a root of copied packages: no right to chroot"; return 1; }
  make_bare_root
  mapfile -t names < <(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed -E 's/^ *([^ (|:]+).*/\1/')
  mapfile -t names < <(apt-cache depends --recurse --installed --no-{recommends,suggests,conflicts,breaks,replaces,enhances} \
    "${names[@]}" | grep '^[a-z0-9]' | sort -u)
  for package in "${names[@]}"; do
    dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -qx 'install ok installed' || continue
    { dpkg-query -s "$package" && echo; } >>"$root/var/lib/dpkg/status"
    cp "/var/lib/dpkg/info/$package.list" "$root/var/lib/dpkg/info/" 2>/dev/null ||
      cp "/var/lib/dpkg/info/$package:"*.list "$root/var/lib/dpkg/info/"
    dpkg -L "$package"
  done | sed -E 's,^/,,' | grep -vE '^\.?$|^usr/share/(doc|man|locale|info)/|^diverted by|^package diverts|^locally diverted' |
    sort -u >"$scratch/files"
  (cd / && find usr/lib usr/bin -type l -lname '/etc/alternatives/*') >>"$scratch/files"
  tar -C / --no-recursion --ignore-failed-read -cf - -T "$scratch/files" 2>/dev/null |
    tar -C "$root" --keep-directory-symlink -xf -
  cp -a /etc/alternatives /etc/ld.so.conf* "$root/etc/"
  ldconfig -r "$root"
}

kind=folder
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
if make_debian_root "$root" "$release"; then
  kind=debootstrap
elif make_copied_root; then
  kind=copied
else
  make_bare_root
fi
echo "root: $kind of $release"
[ "$kind" = debootstrap ] || echo "skipped: a bare Debian, in which apt installs the package"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(fakeroot)

# Runs a command in the root.
in_root() {
  if [ "$kind" = folder ]; then
    (cd "$root" && "$root/usr/bin/$1" "${@:2}")
  else
    in_debian_root "$root" "$@"
  fi
}
install_it() {
  case "$kind" in
    debootstrap)
      cp "$deb" "$root/voxshard.deb"
      in_root apt-get update -q && in_root apt-get install -q -y --no-install-recommends /voxshard.deb ;;
    copied) dpkg --root="$root" -i "$deb" ;;
    folder) "${as_root[@]}" dpkg --root="$root" --force-depends --log=/dev/null -i "$deb" ;;
  esac
}
purge_it() {
  case "$kind" in
    debootstrap) in_root apt-get purge -q -y voxshard ;;
    *) "${as_root[@]}" dpkg --root="$root" --log=/dev/null -P voxshard ;;
  esac
}
same_version() { [ "$(in_root voxshard --version)" = "$(build/release/bin/voxshard --version)" ]; }
makes_data() {
  in_root voxshard demo tmp/data --cases 2 --test 1 --quiet && in_root voxshard info tmp/data --quiet >/dev/null &&
    [ "$(find "$root/tmp/data/imagesTr" -name '*.nii.gz' | wc -l)" -eq 2 ]
}
makes_pictures() {  # by a library that the program loads itself, which only the package's Depends bring
  in_root voxshard demo tmp/pictures --task detection --cases 2 --test 1 --quiet
}
shows_page() { "$@" 2>/dev/null | col -b | grep -e '--learning-rate' >/dev/null; }
completes() {
  bash -c 'source "$1" && COMP_WORDS=(voxshard convert --to fo) COMP_CWORD=3 && _voxshard && [ "${COMPREPLY[*]}" = folder ]' - \
    "$root/usr/share/bash-completion/completions/voxshard"
}
nothing_left() {
  local path left=0
  while read -r path; do
    case "$path" in */) [[ $path == *voxshard* ]] || continue ;; esac
    if [ -e "$root/$path" ] || [ -L "$root/$path" ]; then echo "left: $path" && left=1; fi
  done < <(dpkg-deb --fsys-tarfile "$deb" | tar -t)
  [ "$left" -eq 0 ]
}

expect "it is installed" install_it
expect "--version is that of the build" same_version
expect "demo writes a data set that info reads" makes_data
expect "demo writes pictures" makes_pictures
if has man; then expect "man shows a page" shows_page man -M "$root/usr/share/man" -P cat voxshard-train; fi
if has mandoc; then expect "mandoc shows it" shows_page mandoc "$root/usr/share/man/man1/voxshard-train.1.gz"; fi
expect "bash completes" completes
expect "it is purged" purge_it
expect "nothing is left" nothing_left
exit "$status"
