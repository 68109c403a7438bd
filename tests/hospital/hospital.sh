#!/usr/bin/env bash
# Holds what voxshard reads against other programs of the field, which are judges only: nothing of voxshard needs them. Called by
# tests/run.sh --hospital, which builds first. Ends with 1 if a judge sees a difference; what is left out is named.
set -euo pipefail
cd "$(dirname "$0")/../.."
judges=(python3-pydicom python3-nibabel dcm2niix plastimatch python3-scipy python3-skimage dcmtk dicom3tools python3-jsonschema orthanc)
if ! bash apps/install_packages.sh "${judges[@]}"; then
  for judge in "${judges[@]}"; do bash apps/install_packages.sh "$judge" || echo "skipped: $judge cannot be installed"; done
fi
status=0
# Runs a comparison; its exit code 77 says that a judge is missing, which it has printed.
compare() {
  local code=0
  /usr/bin/python3 "$@" || code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || status=1
}
compare tests/hospital/sbom_against_schema.py build/release/bin/voxshard
data=${VOXSHARD_TEST_DATA:-../shared/data}
real=()  # a few series, whose headers have errors of several kinds
if [ -d "$data/dicom_tricky" ]; then
  real=("$data"/dicom_tricky/{dcm_qa_ct_philips,totalseg_ct_series_j2k,dcmqi/ct-3slice,dcmqi/23x38x3/image,highdicom,rt-utils/mock_data})
fi
compare tests/hospital/objects_against_others.py build/release/bin/voxshard "${real[@]}"
if command -v Orthanc /usr/sbin/Orthanc >/dev/null; then
  compare tests/hospital/pacs_loop.py build/release/bin/voxshard --kills 20
  compare tests/hospital/pacs_loop.py build/release/bin/voxshard --studies 200
else
  echo "skipped: orthanc is missing, against which the loop with a PACS is tried"
fi
if [ -d "$data/ct" ]; then
  compare tests/hospital/nnunet_against_scipy.py build/release/bin/voxshard "$data/ct"
else
  echo "skipped: no CT test data at $data/ct (VOXSHARD_TEST_DATA names them)"
fi
if [ ! -d "$data/dicom_tricky" ]; then
  echo "skipped: no DICOM test data at $data/dicom_tricky (VOXSHARD_TEST_DATA names them)"
  exit "$status"
fi
compare tests/hospital/series_against_others.py build/release/bin/voxshard "$data"/dicom_tricky/* "$data"/dicom_tricky/dcmqi/*/
shopt -s nullglob
compare tests/hospital/segmentations_against_pydicom.py build/release/bin/voxshard "$data"/dicom_tricky/dcmqi/*.dcm \
  "$data"/dicom_tricky/dcmqi/*/seg/label.seg "$data"/dicom_tricky/highdicom/seg*.dcm
compare tests/hospital/contours_against_others.py build/release/bin/voxshard "$data"/dicom_tricky/rt-utils/mock_data/{rt.dcm,}
exit "$status"
