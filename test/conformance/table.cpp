#include "conformance/table.h"

#include <algorithm>

namespace tilewright::test {
namespace {

const char* const kNames[] = {"vector_add", "reverse", "softmax", "rms_norm", "gemm", "attention"};

// Odd sizes first. The emulators compile each kernel with a host compiler and the interpreter walks element by element,
// so they are asked less.
const Limit kLimits[] = {
    {"interp",
     {Family::vector_add, Family::reverse, Family::softmax, Family::rms_norm, Family::gemm, Family::attention},
     1'300'000},
    {"cuda-emulator",
     {Family::vector_add, Family::reverse, Family::softmax, Family::rms_norm, Family::gemm, Family::attention},
     300'000},
    {"ascend-emulator",
     {Family::vector_add, Family::reverse, Family::softmax, Family::rms_norm, Family::gemm, Family::attention},
     100'000},
};

int64_t work(const Case& c) {
  int64_t n = 1;
  for (int64_t extent : c.shape) n *= extent;
  return c.family == Family::attention ? n / std::max<int64_t>(c.shape[2], 1) : n;
}

void add_vectors(std::vector<Case>& all) {
  for (DType type : {f32, bf16, f16, i32})
    for (int64_t n : {0, 1, 127, 128, 129}) {
      all.push_back({.family = Family::vector_add, .type = type, .shape = {n}, .tile = {128}});
      all.push_back({.family = Family::reverse, .type = type, .shape = {n}, .tile = {128}});
    }
  for (int64_t n : {3, 33, 577, 10'001}) {
    all.push_back({.family = Family::vector_add, .type = f32, .shape = {n}, .tile = {96}, .strided = true});
    all.push_back({.family = Family::reverse, .type = f32, .shape = {n}, .tile = {96}, .strided = true});
  }
}

void add_rows(std::vector<Case>& all) {
  for (Family family : {Family::softmax, Family::rms_norm}) {
    for (DType type : {f32, bf16, f16})
      for (std::vector<int64_t> shape :
           {std::vector<int64_t>{1, 1}, {3, 33}, {5, 229}, {33, 96}, {2, 257}, {7, 576}, {0, 5}, {4, 0}})
        all.push_back({.family = family, .type = type, .shape = shape, .tile = {256}});
    all.push_back({.family = family, .type = f32, .shape = {7, 229}, .tile = {100}, .strided = true});
    all.push_back({.family = family, .type = f32, .shape = {3, 9001}, .tile = {4096}});
    all.push_back({.family = family, .type = f32, .shape = {129, 4096}, .tile = {4096}, .strided = true});
  }
}

void add_gemms(std::vector<Case>& all) {
  using Shape = std::vector<int64_t>;
  for (bool transposed : {false, true}) {
    for (Shape shape : {Shape{1, 1, 1},
                        {3, 33, 1},
                        {33, 96, 3},
                        {96, 33, 33},
                        {65, 49, 229},
                        {33, 31, 96},
                        {0, 5, 7},
                        {5, 0, 7},
                        {5, 7, 0}}) {
      all.push_back({.family = Family::gemm, .type = f32, .shape = shape, .tile = {32, 48, 16}, .flag = transposed});
      all.push_back({.family = Family::gemm,
                     .type = bf16,
                     .shape = shape,
                     .tile = {32, 48, 16},
                     .flag = transposed,
                     .strided = true,
                     .out = bf16});
    }
    all.push_back(
        {.family = Family::gemm, .type = f16, .shape = {33, 65, 33}, .tile = {32, 32, 32}, .flag = transposed});
    all.push_back(
        {.family = Family::gemm, .type = f32, .shape = {129, 3, 33}, .tile = {128, 128, 32}, .flag = transposed});
    for (DType type : {f32, bf16, f16})
      for (Shape shape : {Shape{257, 229, 96}, {96, 576, 257}, {229, 257, 576}, {576, 576, 576}})
        all.push_back({.family = Family::gemm,
                       .type = type,
                       .shape = shape,
                       .tile = {128, 128, 32},
                       .flag = transposed,
                       .strided = true});
  }
}

void add_attention(std::vector<Case>& all) {
  using Shape = std::vector<int64_t>;
  for (bool causal : {false, true}) {
    for (DType type : {f32, bf16})
      for (Shape shape : {Shape{1, 1, 1, 1, 1, 64},
                          {1, 2, 1, 33, 33, 64},
                          {2, 1, 1, 3, 33, 64},
                          {1, 1, 1, 33, 3, 64},
                          {1, 1, 1, 17, 19, 128},
                          {1, 1, 1, 0, 3, 64},
                          {1, 1, 1, 3, 0, 64}})
        all.push_back({.family = Family::attention, .type = type, .shape = shape, .tile = {32, 16}, .flag = causal});
    all.push_back({.family = Family::attention,
                   .type = f16,
                   .shape = {1, 4, 2, 17, 21, 64},
                   .tile = {16, 24},
                   .flag = causal,
                   .strided = true});
    for (int64_t d : {64, 128})
      all.push_back({.family = Family::attention,
                     .type = d == 64 ? f32 : bf16,
                     .shape = {2, 4, 2, 229, 257, d},
                     .tile = {64, 64},
                     .flag = causal,
                     .strided = d == 64});
  }
}

}  // namespace

std::string Case::name() const {
  std::string s = kNames[static_cast<int>(family)];
  s.append("_").append(to_string(type));
  for (int64_t n : shape) s.append("_").append(std::to_string(n));
  s += "_tile";
  for (int64_t n : tile) s.append("_").append(std::to_string(n));
  if (flag) s += family == Family::gemm ? "_transposed" : "_causal";
  if (strided) s += "_strided";
  return s;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> c;
    add_vectors(c), add_rows(c), add_gemms(c), add_attention(c);
    return c;
  }();
  return all;
}

bool is_asked(const std::string& machine, const Case& c) {
  for (const Limit& l : kLimits)
    if (l.machine == machine)
      return std::find(l.families.begin(), l.families.end(), c.family) != l.families.end() && work(c) <= l.work;
  return true;
}

}  // namespace tilewright::test
