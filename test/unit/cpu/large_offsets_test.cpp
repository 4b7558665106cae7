// Tensors whose elements lie more than 2^31 and 2^32 elements apart, in memory that is reserved and hardly touched.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tilewright/jit.h"
#include "tilewright/kernels.h"
#include "unit/cpu/kernels.h"

namespace tilewright::cpu {
namespace {

/// Address space whose pages appear when they are written.
class Sparse {
 public:
  explicit Sparse(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Sparse() {
    if (is_there()) munmap(memory_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  bool is_there() const { return memory_ != MAP_FAILED; }
  template <class T>
  T* data() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_;
  size_t bytes_;
};

constexpr int64_t k32Bits = int64_t{1} << 32;

#define TW_NEEDS(memory) \
  if (!memory.is_there()) GTEST_SKIP() << "this machine does not reserve so much address space"

TEST(CpuLargeOffsets, GemmOnMatricesWithAPitchBeyond32Bits) {
  constexpr int64_t kM = 3, kN = 5, kK = 4, kPitch = k32Bits + 3;
  Sparse a(4 * kPitch * kM), b(4 * kPitch * kK), c(4 * kPitch * kM);
  TW_NEEDS(a);
  TW_NEEDS(b);
  TW_NEEDS(c);
  for (int64_t i = 0; i < kM; ++i)
    for (int64_t k = 0; k < kK; ++k) a.data<float>()[i * kPitch + k] = static_cast<float>(10 * i + k);
  for (int64_t k = 0; k < kK; ++k)
    for (int64_t j = 0; j < kN; ++j) b.data<float>()[k * kPitch + j] = static_cast<float>(k - 2 * j);
  Kernel gemm =
      compile("gemm", [](Buffer x, Buffer y, Buffer z) { gemm_kernel(x, y, z, false, {.m = 16, .n = 16, .k = 16}); },
              gemm_signature(f32, f32, false), "cpu", {.threads = 2});
  gemm(Tensor{a.data<float>(), f32, {kM, kK}, {kPitch, 1}}, Tensor{b.data<float>(), f32, {kK, kN}, {kPitch, 1}},
       Tensor{c.data<float>(), f32, {kM, kN}, {kPitch, 1}});
  for (int64_t i = 0; i < kM; ++i)
    for (int64_t j = 0; j < kN; ++j) {
      float wanted = 0;
      for (int64_t k = 0; k < kK; ++k) wanted += static_cast<float>((10 * i + k) * (k - 2 * j));
      EXPECT_EQ(c.data<float>()[i * kPitch + j], wanted) << i << ", " << j;
    }
  EXPECT_EQ(c.data<float>()[kN], 0.f);
}

TEST(CpuLargeOffsets, TheLastBlockOfATensorOfMoreThan32BitsOfElements) {
  constexpr int64_t kCount = 2 * k32Bits + 77;
  Sparse x(kCount), y(kCount);
  TW_NEEDS(x);
  TW_NEEDS(y);
  // Only the last blocks are run: the loop over blocks starts where they do.
  TestKernel kernel(R"(kernel last stage loops {
    scalar n: i64
    scalar first: i64
    param X: i8[n] strides [1]
    param Y: i8[n] strides [1]
    for blocks b in (ceildiv(n, 128) - first) {
      let at = ((first + b) * 128)
      for parallel i in min(128, (n - at)) {
        store Y[(at + i)] = (X[(at + i)] + 1:i8)
      }
    }
  })");
  for (int64_t i = kCount - 1000; i < kCount; ++i) x.data<int8_t>()[i] = static_cast<int8_t>(i % 100);
  const int64_t first = (kCount - 500) / 128;
  kernel({Tensor{x.data<int8_t>(), i8, {kCount}}, Tensor{y.data<int8_t>(), i8, {kCount}}, first});
  for (int64_t i = kCount - 1000; i < kCount; ++i)
    ASSERT_EQ(y.data<int8_t>()[i], i < first * 128 ? 0 : static_cast<int8_t>(i % 100 + 1)) << i;
}

TEST(CpuLargeOffsets, VectorLoopsWithAStrideBeyond32Bits) {
  constexpr int64_t kCount = 37, kStride = k32Bits / 16 + 1;  // the products pass 2^31 and 2^33 bytes
  Sparse x(4 * kStride * kCount);
  TW_NEEDS(x);
  std::vector<float> y(kCount);
  TestKernel kernel(R"(kernel strided stage loops {
    scalar n: i64
    scalar s: i64
    param X: f32[n] strides [s]
    param Y: f32[n] strides [1]
    for blocks b in 1 {
      for parallel i in n {
        store Y[i] = (X[i] * 2:f32)
      }
      for parallel j in n {
        store X[j] = (Y[j] + 1:f32)
      }
    }
  })");
  for (int64_t i = 0; i < kCount; ++i) x.data<float>()[i * kStride] = static_cast<float>(i);
  kernel({Tensor{x.data<float>(), f32, {kCount}, {kStride}}, tensor(y, f32, {kCount})});
  for (int64_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(y[i], static_cast<float>(2 * i));
    EXPECT_EQ(x.data<float>()[i * kStride], static_cast<float>(2 * i + 1));
  }
}

TEST(CpuLargeOffsets, IndicesOf32BitsAreWidenedBeforeTheProduct) {
  constexpr int64_t kRows = 9, kPitch = k32Bits / 2 + 5;
  Sparse table(kRows * kPitch);
  TW_NEEDS(table);
  std::vector<int32_t> index(kRows);
  std::vector<int8_t> y(kRows);
  TestKernel kernel(R"(kernel gather stage loops {
    scalar n: i64
    scalar pitch: i64
    param T: i8[n, 5] strides [pitch, 1]
    param I: i32[n] strides [1]
    param Y: i8[n] strides [1]
    for blocks b in 1 {
      for parallel i in n {
        store Y[i] = T[I[i], 4]
      }
    }
  })");
  for (int64_t i = 0; i < kRows; ++i) {
    table.data<int8_t>()[i * kPitch + 4] = static_cast<int8_t>(i + 1);
    index[i] = static_cast<int32_t>(kRows - 1 - i);
  }
  kernel(
      {Tensor{table.data<int8_t>(), i8, {kRows, 5}, {kPitch, 1}}, tensor(index, i32, {kRows}), tensor(y, i8, {kRows})});
  for (int64_t i = 0; i < kRows; ++i) EXPECT_EQ(y[i], static_cast<int8_t>(kRows - i));
}

}  // namespace
}  // namespace tilewright::cpu
