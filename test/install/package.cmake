# Installs the build BUILD into an empty prefix, builds examples/own_program against it from outside of the tree and runs it.
set(scratch ${SCRATCH}/package)
set(prefix ${scratch}/prefix)
file(REMOVE_RECURSE ${scratch})
file(MAKE_DIRECTORY ${scratch})
set(ENV{TILEWRIGHT_LLVM})

# run(COMMAND...): a command that must succeed.
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${scratch} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${out}")
  endif()
endfunction()

# expect(STATUS OUT ERR COMMAND...): the exit status and all that was printed, ERR as a regular expression.
function(expect status out err)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE got_out ERROR_VARIABLE got_err RESULT_VARIABLE got_status)
  if(NOT got_status STREQUAL status OR NOT got_out STREQUAL out OR NOT got_err MATCHES "${err}")
    message(FATAL_ERROR "${ARGN}\nwanted status ${status}, output:\n${out}and errors like:\n${err}\n"
                        "got status ${got_status}, output:\n${got_out}and errors:\n${got_err}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
file(COPY ${SOURCE}/examples/own_program DESTINATION ${scratch})
run(${CMAKE_COMMAND} -S ${scratch}/own_program -B ${scratch}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${scratch}/build)

set(program ${scratch}/build/own_program)
set(sums "10.5\n21\n31.5\n42\n52.5\n")
foreach(machine cpu interp)
  expect(0 "${sums}" "^$" ${program} ${machine})
endforeach()
expect(1 "" "^[^\n]*main.cpp:[0-9]+: error: .*nowhere" ${program} nowhere)

# The installed programs, through PATH.
set(ENV{PATH} "${prefix}/bin:$ENV{PATH}")
run(tilewright run --quick --family vector_add --target cpu)
if(NOT EXISTS ${scratch}/run.json)
  message(FATAL_ERROR "the installed tilewright run did not write run.json in the current folder")
endif()
run(tw-opt --help)

# The module that holds LLVM was the installed one: without it the program says what it looked for.
file(GLOB_RECURSE module ${prefix}/libtilewright_llvm.so)
file(REMOVE ${module})
expect(1 "" "^device error: .*cannot load libtilewright_llvm.so .set TILEWRIGHT_LLVM to its path" ${program} cpu)
expect(0 "${sums}" "^$" ${CMAKE_COMMAND} -E env TILEWRIGHT_LLVM=${BUILD}/bin/libtilewright_llvm.so ${program} cpu)
file(REMOVE_RECURSE ${scratch})
