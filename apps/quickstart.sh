#!/usr/bin/env bash
# From a bare Debian 12 to a segmentation with its Dice: builds voxshard, generates CT phantoms, prepares them, trains a
# 3D U-Net cut over 8 emulated cores, predicts held-out phantoms and compares with the best HU threshold.
#
#   bash apps/quickstart.sh [FOLDER] [STEPS]     FOLDER: where to write (run/quickstart), safe to run twice
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-run/quickstart}
steps=${2:-200}
voxshard=build/release/bin/voxshard

say() { printf '\n== %s\n' "$*"; }

say "packages and build"
bash apps/install_packages.sh
cmake --preset release
cmake --build --preset release --target voxshard

say "12 phantoms to train, 4 held out -> $folder/data"
mkdir -p "$folder"
"$voxshard" demo "$folder/data" --task segmentation --cases 12 --test 4 --seed 0
"$voxshard" info "$folder/data"

say "prepare: checked, one orientation, normalised -> $folder/work"
"$voxshard" prepare "$folder/data" -o "$folder/work" --resume

say "train on whole volumes over 8 cores, each holds one eighth -> $folder/model"
"$voxshard" train "$folder/work" -o "$folder/model" --partition 1x2x2x2x1 --base-filters 8 --steps "$steps" \
  --crop whole --fold all --restart

say "predict the held-out phantoms -> $folder/predictions"
"$voxshard" predict "$folder/model" "$folder/data/imagesTs" -o "$folder/predictions"

say "Dice beside the best HU threshold of each class"
"$voxshard" evaluate "$folder/predictions" "$folder/data/labelsTs" --dataset "$folder/data" \
  --baseline threshold --png "$folder/overlay.png" -o "$folder/summary.json"
echo
echo "slices with overlay: $folder/overlay.png     all numbers: $folder/summary.json"
