# Writes OUTPUT, a header with the commit of SOURCE, when it has changed; TILEWRIGHT_COMMIT names it where SOURCE is no git
# repository. Run at every build.
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(NOT status EQUAL 0 AND DEFINED ENV{TILEWRIGHT_COMMIT})
  set(commit "$ENV{TILEWRIGHT_COMMIT}")
elseif(NOT status EQUAL 0)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once
namespace tilewright::tool {
inline constexpr const char* kCommit = \"${commit}\";
}
")
