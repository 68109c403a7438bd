#!/usr/bin/env bash
# Installs the Debian packages that voxshard builds and tests with, and only those that are missing.
# Called by apps/quickstart.sh, tests/run.sh and tests/fuzz/fuzz.sh; needs root or sudo when something is missing, else nothing.
# Arguments are further packages that are needed. VOXSHARD_MPI=OFF leaves out MPI. What is optional is installed where that is possible; where it is not, the build and the
# tests do without it and a line says so.
set -euo pipefail

packages=(
  g++ cmake ninja-build        # the build
  libinsighttoolkit5-dev       # ITK: headers of NIfTI, NRRD and MetaImage out, resampling
  libdcmtk-dev libopenjp2-7-dev  # DICOM: DCMTK parses and decodes, OpenJPEG decodes JPEG 2000
  libgdcm-dev libgdcm-tools    # ITK's CMake package names them
  libarchive-dev               # zip and tar files of studies
  liblzma-dev                  # .tar.xz with a bound of the decoder's memory
  libdeflate-dev               # packs .nii.gz, the same bytes on every processor
  libdnnl-dev                  # oneDNN: convolution and matrix products
  libhwy-dev                   # Highway: vectorised loops for several instruction sets
  libopencv-dev zlib1g-dev     # PNG; gzipped IDX and TFRecord files
  libtiff-dev libexif-dev      # headers of pictures
  libpugixml-dev               # Pascal VOC
  libxxhash-dev                # hashes of files and of checkpoints
  nettle-dev                   # ids of cases: HMAC-SHA256
  pkg-config libavformat-dev libavcodec-dev libavutil-dev libswscale-dev  # video
  ffmpeg                       # the tests hold ffprobe and ffmpeg beside the video reader
  python3                      # the tests hold a reader of TFRecord files in plain Python beside ours
  libcli11-dev                 # the command line
  nlohmann-json3-dev libtomlplusplus-dev libyaml-cpp-dev  # settings
  libprotobuf-dev protobuf-compiler libisal-dev  # TFRecord files: tf.Example, CRC-32C; ISA-L unpacks .nii.gz too
  libgtest-dev libgmock-dev libvalijson-dev
  "$@"
)
optional=(mandoc)  # the tests hold manual pages to its rules
if [ "${VOXSHARD_MPI:-ON}" != OFF ]; then
  optional+=(
    libopenmpi-dev openmpi-bin  # ranks over several processes and hosts; without them all cores are in one process
    iproute2                    # the tests make hosts of network namespaces
  )
fi

# Those of the arguments that are not installed, a line each.
missing_of() {
  local package status
  for package in "$@"; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || echo "$package"
  done
}
# Installs the arguments.
apt_install() {
  echo "Installing Debian packages: $*" >&2
  "${as_root[@]}" apt-get update >&2 &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >&2
}

mapfile -t missing < <(missing_of "${packages[@]}")
mapfile -t missing_optional < <(missing_of "${optional[@]}")
if [ $((${#missing[@]} + ${#missing_optional[@]})) -eq 0 ]; then
  exit 0
fi
go_on_without="Going on without these Debian packages, so that what needs them is left out: ${missing_optional[*]}"

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    if [ ${#missing[@]} -eq 0 ]; then
      echo "$go_on_without" >&2
      exit 0
    fi
    echo "These Debian packages are missing; run as root, or install sudo: ${missing[*]} ${missing_optional[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
  # Who may not use sudo without being asked is not asked for what is optional alone.
  if [ ${#missing[@]} -eq 0 ]; then
    as_root=(sudo -n)
  fi
fi
if [ ${#missing[@]} -gt 0 ]; then
  apt_install "${missing[@]}"
fi
if [ ${#missing_optional[@]} -gt 0 ] && ! apt_install "${missing_optional[@]}"; then
  echo "$go_on_without" >&2
fi
