#!/usr/bin/env bash
# The fast tests and the Debian package in a bare root of a Debian release, which may be another than this machine's. Called by
# tests/run.sh --debian RELEASE. Takes the files of the checkout as they are, builds and tests in the root, and removes it at the
# end; VOXSHARD_DEBIAN_ROOT names a folder where it is kept, and taken up again by the next run. No test data.
set -euo pipefail
cd "$(dirname "$0")/../.."
release=$1
source tests/package/root.sh
bash apps/install_packages.sh debootstrap rsync

root=${VOXSHARD_DEBIAN_ROOT:-}
if [ -z "$root" ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf --one-file-system "$scratch"' EXIT
  root=$scratch/root
fi
[ -e "$root/etc/debian_version" ] || make_debian_root "$root" "$release"
# By content, and what differs gets the time of now: a kept root has objects that are newer than an edit of the checkout.
rsync -rlpc --delete --exclude /build --exclude /.git ./ "$root/voxshard/"
status=0
for mode in "" --package; do
  echo "== $release: bash tests/run.sh $mode"
  in_debian_root "$root" bash -c 'apt-get update -q >/dev/null && cd /voxshard && exec bash tests/run.sh ${0:+"$0"}' "$mode" || status=1
done
exit "$status"
