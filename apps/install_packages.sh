#!/usr/bin/env bash
# Installs the Debian packages that voxshard builds and tests with, and only those that are missing.
# Called by apps/quickstart.sh and tests/run.sh; needs root or sudo when something is missing, else nothing.
# VOXSHARD_MPI=OFF leaves out MPI.
set -euo pipefail

packages=(
  g++ cmake ninja-build        # the build
  libinsighttoolkit5-dev       # ITK: NIfTI in and out
  libgdcm-tools                # ITK's CMake package names GDCM's tools
  libdnnl-dev                  # oneDNN: convolution and matrix products
  libhwy-dev                   # Highway: vectorised loops for several instruction sets
  libopencv-dev zlib1g-dev     # PNG; the check of .nii.gz
  libtiff-dev libexif-dev      # headers of pictures
  libpugixml-dev               # Pascal VOC
  libxxhash-dev                # hashes of files and of checkpoints
  pkg-config libavformat-dev libavcodec-dev libavutil-dev libswscale-dev  # video
  ffmpeg                       # the tests hold ffprobe and ffmpeg beside the video reader
  python3                      # the tests hold a reader of TFRecord files in plain Python beside ours
  libcli11-dev                 # the command line
  nlohmann-json3-dev libtomlplusplus-dev libyaml-cpp-dev  # settings
  libprotobuf-dev protobuf-compiler libisal-dev  # TFRecord files: tf.Example, CRC-32C
  libgtest-dev libgmock-dev
)
if [ "${VOXSHARD_MPI:-ON}" != OFF ]; then
  packages+=(
    libopenmpi-dev openmpi-bin  # ranks over several processes and hosts; without them all cores are in one process
    iproute2                    # the tests make hosts of network namespaces
  )
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These Debian packages are missing; run as root, or install sudo: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing Debian packages: ${missing[*]}" >&2
"${as_root[@]}" apt-get update >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >&2
