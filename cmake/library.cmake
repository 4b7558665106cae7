# The library that users link, and what `cmake --install` copies. Inside a build and from an installed package it has the same
# name, tilewright::tilewright.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# tw_library(): one archive of all parts that tw_module has named, with the public headers alone.
function(tw_library)
  get_property(parts GLOBAL PROPERTY TW_PARTS)
  list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(tw_library STATIC ${objects})
  add_library(tilewright::tilewright ALIAS tw_library)
  set_target_properties(tw_library PROPERTIES OUTPUT_NAME tilewright EXPORT_NAME tilewright LINKER_LANGUAGE CXX)
  target_compile_features(tw_library PUBLIC cxx_std_20)
  target_include_directories(tw_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(tw_library PRIVATE fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
  if(TW_WITH_LLVM)
    # The program loads the module that holds LLVM by name: its run path leads there.
    add_dependencies(tw_library tilewright_llvm)
    target_link_options(tw_library INTERFACE "$<BUILD_INTERFACE:LINKER:-rpath,${CMAKE_RUNTIME_OUTPUT_DIRECTORY}>"
                        "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>")
  endif()
  if(TW_INSTALL)
    tw_install_library()
  endif()
endfunction()

function(tw_install_library)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tilewright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
  install(TARGETS tw_library EXPORT tilewright ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(TW_WITH_LLVM)
    install(TARGETS tilewright_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  install(EXPORT tilewright FILE tilewright-targets.cmake NAMESPACE tilewright:: DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilewright-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/tilewright-config.cmake ${PROJECT_BINARY_DIR}/tilewright-config-version.cmake
          DESTINATION ${package})
endfunction()

# tw_install_programs(TARGET...)
function(tw_install_programs)
  if(TW_INSTALL)
    file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(${ARGN} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
    install(TARGETS ${ARGN} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()
