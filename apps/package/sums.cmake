# Writes SHA256SUMS beside the files of a release: packages, archives and the software bill of materials, by name. Who receives them
# checks with `sha256sum -c SHA256SUMS`.
#
#   cmake -DFOLDER=build/release -P apps/package/sums.cmake
#
# As one of CPACK_POST_BUILD_SCRIPTS it does the same in the folder of the packages, after each generator.
cmake_minimum_required(VERSION 3.25)
if(NOT FOLDER)
  set(FOLDER "${CPACK_PACKAGE_DIRECTORY}")
endif()
if(NOT IS_DIRECTORY "${FOLDER}")
  message(FATAL_ERROR "FOLDER is no folder: \"${FOLDER}\"")
endif()
file(GLOB files RELATIVE "${FOLDER}" "${FOLDER}/voxshard*.deb" "${FOLDER}/voxshard*.tar.gz" "${FOLDER}/voxshard*.tar.xz"
     "${FOLDER}/voxshard*.spdx.json")
if(NOT files)
  message(FATAL_ERROR "no file of a release is in ${FOLDER}")
endif()
list(SORT files)
set(sums "")
foreach(file IN LISTS files)
  file(SHA256 "${FOLDER}/${file}" sum)
  string(APPEND sums "${sum}  ${file}\n")
endforeach()
file(WRITE "${FOLDER}/.SHA256SUMS.new" "${sums}")
file(RENAME "${FOLDER}/.SHA256SUMS.new" "${FOLDER}/SHA256SUMS")
