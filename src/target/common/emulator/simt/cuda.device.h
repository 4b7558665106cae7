// Views of memory and barriers of generated kernels for CUDA C++ (nvcc and NVRTC, sm_70 and above), after
// rules.device.h. No other header is needed.
namespace tw {
/// Elements of device memory. As a kernel parameter it has the ABI of one pointer.
template <class T>
struct global {
  T* p;
  template <class I>
  TW_DEVICE T& operator[](I i) const {
    return p[i];
  }
  /// The view whose element 0 is element n of this one.
  template <class I>
  TW_DEVICE global operator+(I n) const {
    return {p + n};
  }
};

/// A tensor argument of a kernel that reaches its elements through no other argument: reads of what it does not write
/// may be cached and moved.
template <class T>
using argument = T* __restrict__;

/// Elements of the block's shared memory.
template <class T>
struct shared {
  T* p;
  template <class I>
  TW_DEVICE T& operator[](I i) const {
    return p[i];
  }
  template <class I>
  TW_DEVICE shared operator+(I n) const {
    return {p + n};
  }
};

extern __shared__ __align__(1024) unsigned char shared_arena[];

/// The shared buffer of `count` elements that starts `offset` bytes into the block's dynamic shared memory.
template <class T>
TW_DEVICE shared<T> shared_at(int offset, int count, const char* name) {
  (void)count;
  (void)name;
  return {reinterpret_cast<T*>(shared_arena + offset)};
}

/// The value of `v` of the thread whose lane differs in the bits of `mask`; all threads of the warp get here together.
template <class T>
TW_DEVICE T shuffle_xor(T v, int mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}

namespace detail {
/// Two elements of a lane's part as one register.
template <class T>
TW_DEVICE u32 pair(const T* p) {
  return u32(p[0].bits) | u32(p[1].bits) << 16;
}
}  // namespace detail

/// c (16, 8) += a (16, 16) b (16, 8) by the threads of a warp together; each gives and gets its part.
#define TW_MMA_M16N8K16(T)                                                                                       \
  TW_DEVICE void mma_m16n8k16(float* c, const T* a, const T* b) {                                                \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." #T "." #T ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
        "{%0, %1, %2, %3};"                                                                                      \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                         \
        : "r"(detail::pair(a)), "r"(detail::pair(a + 2)), "r"(detail::pair(a + 4)), "r"(detail::pair(a + 6)),    \
          "r"(detail::pair(b)), "r"(detail::pair(b + 2)));                                                       \
  }
TW_MMA_M16N8K16(f16)
TW_MMA_M16N8K16(bf16)
#undef TW_MMA_M16N8K16

/// Waits for all threads of the block; their earlier reads and writes happen before later ones.
TW_DEVICE void barrier() { __syncthreads(); }
}  // namespace tw
