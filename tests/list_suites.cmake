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
# Seconds on two cores of what takes longest. ctest starts first what costs most, so that no long suite is left for one
# core at the end; then the suites that start programs. The others stand as they are listed, in a later run in the same
# build folder by what they took. That of test_structure was set by its length under the address sanitizer.
set(seconds test_cli.MemoryCli 110 test_cli.StopCli 90 test_cli.TrainedCli 65 test_cli.Pages 60 test_cli.SpecialFiles 50
            test_check.PlantedKernels 45 verify.test_cli 40 test_structure.Structure 40)
function(add_suite test filter label)
  list(FIND seconds "${test}" at)
  if(at GREATER -1)
    math(EXPR at "${at} + 1")
    list(GET seconds ${at} cost)
  elseif(label MATCHES "^(cli|mpi|fuzz|verify)$")
    set(cost 10)
  else()
    set(cost 0)
  endif()
  set(list "${list}add_test([==[${test}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${filter}]==])
set_tests_properties([==[${test}]==] PROPERTIES TIMEOUT 3000 LABELS ${label} COST ${cost})\n" PARENT_SCOPE)
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
