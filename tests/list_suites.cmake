# Writes the ctest list of a GoogleTest program: one test per suite, so that a suite's scenes are made once, and one named
# verify.PROGRAM with all tests of the program that have Verify in their names.
#
#   cmake -DPROGRAM=build/release/bin/test_io -DLABEL=io -DLIST=build/release/tests/test_io_suites.cmake -P tests/list_suites.cmake
get_filename_component(name ${PROGRAM} NAME)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} does not list its tests: ${result}")
endif()
string(REGEX MATCHALL "[^\n]+" lines "${listed}")
set(list "")
function(add_suite test filter label)
  set(list "${list}add_test([==[${test}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${filter}]==])
set_tests_properties([==[${test}]==] PROPERTIES TIMEOUT 3000 LABELS ${label})\n" PARENT_SCOPE)
endfunction()
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.( |$)")
    add_suite("${name}.${CMAKE_MATCH_1}" "${CMAKE_MATCH_1}.*" ${LABEL})
  endif()
endforeach()
if(listed MATCHES "Verify" AND NOT LABEL MATCHES "^(kernels|parity|models|check)$")
  add_suite("verify.${name}" "*Verify*" verify)
endif()
file(WRITE ${LIST} "${list}")
