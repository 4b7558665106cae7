#include "openblas.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tilewright/error.h"

#ifndef TW_OPENBLAS
#define TW_OPENBLAS ""
#endif

namespace tilewright::baseline {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111;  // of cblas.h

struct Library {
  std::string name;
  void (*set_threads)(int) = nullptr;
  void (*sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a, int lda,
                const float* b, int ldb, float beta, float* c, int ldc) = nullptr;
};

template <class F>
void find(void* library, const char* symbol, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, symbol));
  if (!function) throw DeviceError("dlsym", 0, dlerror());
}

Library load() {
  Library library;
  if (TW_OPENBLAS[0] == '\0') return library;
  // It reads these once, when it is loaded. Both make it choose code for another processor than this one.
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  void* handle = dlopen(TW_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw DeviceError("dlopen", 0, dlerror());
  find(handle, "cblas_sgemm", library.sgemm);
  find(handle, "openblas_set_num_threads", library.set_threads);
  const char* (*config)() = nullptr;
  const char* (*core)() = nullptr;
  find(handle, "openblas_get_config", config);
  find(handle, "openblas_get_corename", core);
  const std::string text = config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  library.name = text.substr(0, text.find(' ', text.find(' ') + 1)) + " " + core();
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace

const std::string& openblas_name() { return library().name; }

void openblas_sgemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, int threads) {
  library().set_threads(threads);
  library().sgemm(kRowMajor, kNoTranspose, kNoTranspose, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
                  1, a, static_cast<int>(k), b, static_cast<int>(n), 0, c, static_cast<int>(n));
}

}  // namespace tilewright::baseline
