# The package that find_package(tilewright) reads: the target tilewright::tilewright.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/tilewright-targets.cmake)
