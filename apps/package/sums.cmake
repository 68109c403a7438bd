# Writes SHA256SUMS beside the files of a release: packages, archives and the software bill of materials, by name. Who receives them
# checks with `sha256sum -c SHA256SUMS`.
#
#   cmake -DFOLDER=build/release -P apps/package/sums.cmake
#
# As one of CPACK_POST_BUILD_SCRIPTS it lists the packages that cpack has made and is going to lay there.
cmake_minimum_required(VERSION 3.25)
if(CPACK_PACKAGE_FILES)
  set(FOLDER "${CPACK_PACKAGE_DIRECTORY}")
  set(files ${CPACK_PACKAGE_FILES})
elseif(IS_DIRECTORY "${FOLDER}")
  file(GLOB files "${FOLDER}/voxshard*.deb" "${FOLDER}/voxshard*.tar.gz" "${FOLDER}/voxshard*.tar.xz" "${FOLDER}/voxshard*.spdx.json")
else()
  message(FATAL_ERROR "FOLDER is no folder: \"${FOLDER}\"")
endif()
if(NOT files)
  message(FATAL_ERROR "no file of a release is in ${FOLDER}")
endif()
list(SORT files)
set(sums "")
foreach(file IN LISTS files)
  file(SHA256 "${file}" sum)
  cmake_path(GET file FILENAME name)
  string(APPEND sums "${sum}  ${name}\n")
endforeach()
file(WRITE "${FOLDER}/.SHA256SUMS.new" "${sums}")
file(RENAME "${FOLDER}/.SHA256SUMS.new" "${FOLDER}/SHA256SUMS")
