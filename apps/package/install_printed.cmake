# Runs at install time: lets the program print its manual pages and its completion, and installs them (DESTDIR and the list of
# installed files are file(INSTALL)'s). Set before: voxshard_built, the program; voxshard_printed, a folder for what it prints;
# voxshard_pages and voxshard_completions, folders below the prefix.
file(REMOVE_RECURSE ${voxshard_printed})
file(MAKE_DIRECTORY ${voxshard_printed})
execute_process(COMMAND ${voxshard_built} help options --json OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
set(names "")  # "" is the program's own page
foreach(i RANGE ${last})
  string(JSON name MEMBER "${commands}" ${i})
  if(NOT name MATCHES " ")  # "every command" is none
    list(APPEND names -${name})
  endif()
endforeach()
set(files "")
foreach(name IN ITEMS "" LISTS names)
  string(REGEX REPLACE "^-" "" command "${name}")
  set(file ${voxshard_printed}/voxshard${name}.1)
  execute_process(COMMAND ${voxshard_built} help man ${command} OUTPUT_FILE ${file} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)  # -n: no time in it, so that equal pages are equal files
  list(APPEND files ${file}.gz)
endforeach()
execute_process(COMMAND ${voxshard_built} help completion bash OUTPUT_FILE ${voxshard_printed}/voxshard COMMAND_ERROR_IS_FATAL ANY)
cmake_path(ABSOLUTE_PATH voxshard_pages BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
cmake_path(ABSOLUTE_PATH voxshard_completions BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
file(INSTALL DESTINATION ${voxshard_pages} TYPE FILE FILES ${files})
file(INSTALL DESTINATION ${voxshard_completions} TYPE FILE FILES ${voxshard_printed}/voxshard)
