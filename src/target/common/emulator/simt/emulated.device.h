// Views of memory and barriers of generated kernels in the SIMT emulator, after abi.device.h and
// rules.device.h: the names of cuda.device.h, every access checked.
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx (::tw::emu::current->thread)
#define blockIdx (::tw::emu::current->block)
#define blockDim (::tw::emu::current->block_dim)
#define gridDim (::tw::emu::current->grid_dim)
#define __syncthreads() ::tw::barrier()

namespace tw {
namespace emu {
static Context* current = nullptr;

/// An element index and the line where it was written.
struct At {
  i64 index;
  int line;
  template <class I>
  At(I i, int at = __builtin_LINE()) : index(static_cast<i64>(i)), line(at) {}
};

template <class T>
T load(const View& view, At at, unsigned element_bytes) {
  T value{};
  if (const char* p = current->access(current, &view, at.index, element_bytes, sizeof(T), at.line, read_access))
    __builtin_memcpy(static_cast<void*>(&value), p, sizeof(T));
  return value;
}
template <class T>
void store(const View& view, At at, unsigned element_bytes, const T& value) {
  if (char* p = current->access(current, &view, at.index, element_bytes, sizeof(T), at.line, write_access))
    __builtin_memcpy(p, static_cast<const void*>(&value), sizeof(T));
}

template <class T>
struct unqualified {
  using type = T;
};
template <class T>
struct unqualified<const T> {
  using type = T;
};

/// What view[i] gives: reading and assigning it are checked accesses.
template <class T>
struct Element {
  using value_type = typename unqualified<T>::type;
  const View& view;
  At at;
  operator value_type() const { return load<value_type>(view, at, sizeof(T)); }
  const Element& operator=(value_type v) const {
    static_assert(__is_same(T, value_type), "the elements of this view are const");
    store<value_type>(view, at, sizeof(T), v);
    return *this;
  }
  const Element& operator=(const Element& other) const { return *this = value_type(other); }
  template <class U>
  const Element& operator+=(U v) const {
    return *this = value_type(value_type(*this) + v);
  }
  template <class U>
  const Element& operator-=(U v) const {
    return *this = value_type(value_type(*this) - v);
  }
  template <class U>
  const Element& operator*=(U v) const {
    return *this = value_type(value_type(*this) * v);
  }
  template <class U>
  const Element& operator/=(U v) const {
    return *this = value_type(value_type(*this) / v);
  }
  template <class U>
  const Element& operator|=(U v) const {
    return *this = value_type(value_type(*this) | v);
  }
  template <class U>
  const Element& operator&=(U v) const {
    return *this = value_type(value_type(*this) & v);
  }
  template <class U>
  const Element& operator^=(U v) const {
    return *this = value_type(value_type(*this) ^ v);
  }
};

template <class T>
struct Typed {
  View view;
  Element<T> operator[](At at) const { return {view, at}; }
};
}  // namespace emu

namespace emu {
inline int lane() {
  const Index3 &t = current->thread, &d = current->block_dim;
  return static_cast<int>((t.x + d.x * (t.y + d.y * t.z)) % warp_size);
}
}  // namespace emu

template <class T>
struct global : emu::Typed<T> {
  template <class I>
  global operator+(I n) const {
    global moved = *this;
    moved.view.origin += static_cast<i64>(n) * i64(sizeof(T));
    return moved;
  }
};
template <class T>
using argument = global<T>;
template <class T>
struct shared : emu::Typed<T> {
  template <class I>
  shared operator+(I n) const {
    shared moved = *this;
    moved.view.origin += static_cast<i64>(n) * i64(sizeof(T));
    return moved;
  }
};

template <class T>
shared<T> shared_at(int offset, int count, const char* name) {
  return {{emu::current->shared_view(emu::current, offset, i64(count) * i64(sizeof(T)), name)}};
}

/// A value of another lane of the warp.
template <class T>
T shuffle_xor(T v, int mask, int line = __builtin_LINE()) {
  static_assert(sizeof(T) <= emu::largest_exchange, "a shuffled value is too large");
  const char* all = emu::current->exchange(emu::current, &v, sizeof(T), line);
  __builtin_memcpy(&v, all + ((emu::lane() ^ mask) % emu::warp_size) * sizeof(T), sizeof(T));
  return v;
}

/// c (16, 8) += a (16, 16) b (16, 8), from the parts of all lanes: a lane has rows lane / 4 and that + 8, and columns
/// 2 (lane % 4), one more, and 8 further of a; b and c likewise (PTX ISA, "Matrix Fragments for mma.m16n8k16").
template <class T>
void mma_m16n8k16(float* c, const T* a, const T* b, int line = __builtin_LINE()) {
  struct Part {
    T a[8], b[4];
  };
  static_assert(sizeof(Part) <= emu::largest_exchange, "a lane's part of a product is too large");
  Part mine;
  __builtin_memcpy(mine.a, a, sizeof(mine.a));
  __builtin_memcpy(mine.b, b, sizeof(mine.b));
  const char* all = emu::current->exchange(emu::current, &mine, sizeof(mine), line);
  const int lane = emu::lane();
  emu::current->matrix_calls += lane == 0;
  for (int low = 0; low < 2; ++low)
    for (int odd = 0; odd < 2; ++odd) {
      const int row = lane / 4, column = lane % 4 * 2 + odd;
      float sum = c[low * 2 + odd];
      for (int k = 0; k < 16; ++k) {
        Part of_row, of_column;
        __builtin_memcpy(&of_row, all + (row * 4 + k % 8 / 2) * int(sizeof(Part)), sizeof(Part));
        __builtin_memcpy(&of_column, all + (column * 4 + k % 8 / 2) * int(sizeof(Part)), sizeof(Part));
        sum += to_f32(of_row.a[k / 8 * 4 + low * 2 + k % 2]) * to_f32(of_column.b[k / 8 * 2 + k % 2]);
      }
      c[low * 2 + odd] = sum;
    }
}

inline void barrier(int line = __builtin_LINE()) { emu::current->barrier(emu::current, line); }

namespace emu {
template <int N, int... I>
struct Sequence : Sequence<N - 1, N - 1, I...> {};
template <int... I>
struct Sequence<0, I...> {};

/// A kernel parameter: its description, and its value from a launch argument.
template <class P>
struct Argument {
  static_assert(sizeof(P) == 0, "kernel parameters are tw::global views and scalars");
};
template <char Kind, class P>
struct ScalarArgument {
  static constexpr Parameter parameter = {Kind, sizeof(P)};
  static P value(const void* slot) { return *static_cast<const P*>(slot); }
};
template <>
struct Argument<bool> : ScalarArgument<'o', bool> {};
template <>
struct Argument<i8> : ScalarArgument<'i', i8> {};
template <>
struct Argument<i16> : ScalarArgument<'i', i16> {};
template <>
struct Argument<i32> : ScalarArgument<'i', i32> {};
template <>
struct Argument<i64> : ScalarArgument<'i', i64> {};
template <>
struct Argument<u8> : ScalarArgument<'u', u8> {};
template <>
struct Argument<u16> : ScalarArgument<'u', u16> {};
template <>
struct Argument<u32> : ScalarArgument<'u', u32> {};
template <>
struct Argument<u64> : ScalarArgument<'u', u64> {};
template <>
struct Argument<float> : ScalarArgument<'f', float> {};
template <>
struct Argument<double> : ScalarArgument<'f', double> {};
template <class T>
struct Argument<global<T>> {
  static constexpr Parameter parameter = {'b', sizeof(T)};
  static global<T> value(const void* slot) { return {{*static_cast<const View*>(slot)}}; }
};

template <auto Kernel, class Type>
struct Run;
template <auto Kernel, class... P>
struct Run<Kernel, void (*)(P...)> {
  static constexpr Parameter parameters[sizeof...(P) + 1] = {Argument<P>::parameter..., {}};
  template <int... I>
  static void with(const void* const* arguments, const Sequence<0, I...>&) {
    (void)arguments;
    Kernel(Argument<P>::value(arguments[I])...);
  }
  static void run(const void* const* arguments) { with(arguments, Sequence<sizeof...(P)>{}); }
  static constexpr Entry entry = {int(sizeof...(P)), parameters, run};
};
template <auto Kernel>
const Entry* entry_of() {
  return &Run<Kernel, decltype(Kernel)>::entry;
}
}  // namespace emu
}  // namespace tw
extern "C" tw::emu::Context** tw_simt_context() { return &tw::emu::current; }
