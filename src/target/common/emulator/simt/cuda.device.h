// Views of memory, barriers and atomics of generated kernels for CUDA C++ (nvcc and NVRTC, sm_70 and above), after
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
  template <int N, class I>
  TW_DEVICE vec<typename unqualified<T>::type, N> load(I i) const {
    return *reinterpret_cast<const vec<typename unqualified<T>::type, N>*>(p + i);
  }
  template <int N, class I>
  TW_DEVICE void store(I i, const vec<T, N>& v) const {
    *reinterpret_cast<vec<T, N>*>(p + i) = v;
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
  template <int N, class I>
  TW_DEVICE vec<typename unqualified<T>::type, N> load(I i) const {
    return *reinterpret_cast<const vec<typename unqualified<T>::type, N>*>(p + i);
  }
  template <int N, class I>
  TW_DEVICE void store(I i, const vec<T, N>& v) const {
    *reinterpret_cast<vec<T, N>*>(p + i) = v;
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
TW_DEVICE void mma_m16n8k16(float* c, const f16* a, const f16* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(detail::pair(a)), "r"(detail::pair(a + 2)), "r"(detail::pair(a + 4)), "r"(detail::pair(a + 6)),
        "r"(detail::pair(b)), "r"(detail::pair(b + 2)));
}
TW_DEVICE void mma_m16n8k16(float* c, const bf16* a, const bf16* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(detail::pair(a)), "r"(detail::pair(a + 2)), "r"(detail::pair(a + 4)), "r"(detail::pair(a + 6)),
        "r"(detail::pair(b)), "r"(detail::pair(b + 2)));
}

/// Waits for all threads of the block; their earlier reads and writes happen before later ones.
TW_DEVICE void barrier() { __syncthreads(); }

namespace detail {
TW_DEVICE int atomic_add(int* p, int v) { return ::atomicAdd(p, v); }
TW_DEVICE u32 atomic_add(u32* p, u32 v) { return ::atomicAdd(p, v); }
TW_DEVICE u64 atomic_add(u64* p, u64 v) { return ::atomicAdd(p, v); }
TW_DEVICE i64 atomic_add(i64* p, i64 v) { return i64(::atomicAdd(reinterpret_cast<u64*>(p), u64(v))); }
TW_DEVICE float atomic_add(float* p, float v) { return ::atomicAdd(p, v); }
TW_DEVICE double atomic_add(double* p, double v) { return ::atomicAdd(p, v); }
template <class T>
TW_DEVICE T atomic_min(T* p, T v) {
  return ::atomicMin(p, v);
}
template <class T>
TW_DEVICE T atomic_max(T* p, T v) {
  return ::atomicMax(p, v);
}
template <class Combine>
TW_DEVICE float atomic_float(float* p, Combine combine) {
  u32* word = reinterpret_cast<u32*>(p);
  u32 old = *reinterpret_cast<volatile u32*>(word), seen;
  do {
    seen = old;
    u32 next = hw::bits_of(combine(hw::f32_of(seen)));
    if (next == seen) break;
    old = ::atomicCAS(word, seen, next);
  } while (old != seen);
  return hw::f32_of(old);
}
TW_DEVICE float atomic_min(float* p, float v) {
  return atomic_float(p, [v](float x) { return min(x, v); });
}
TW_DEVICE float atomic_max(float* p, float v) {
  return atomic_float(p, [v](float x) { return max(x, v); });
}
}  // namespace detail

/// Relaxed atomics of the device's scope on element i of a global or shared view; each returns the old value.
/// Elements: i32 u32 i64 u64 f32; atomic_add also f64.
template <class V, class I, class T>
TW_DEVICE auto atomic_add(V view, I i, T v) {
  return detail::atomic_add(&view[i], v);
}
template <class V, class I, class T>
TW_DEVICE auto atomic_min(V view, I i, T v) {
  return detail::atomic_min(&view[i], v);
}
template <class V, class I, class T>
TW_DEVICE auto atomic_max(V view, I i, T v) {
  return detail::atomic_max(&view[i], v);
}
}  // namespace tw
