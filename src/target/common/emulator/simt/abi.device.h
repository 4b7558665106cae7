#ifndef TW_SIMT_ABI_H
#define TW_SIMT_ABI_H
// What an emulated kernel's object and the SIMT emulator say to each other. The host includes this file; it is also
// embedded at the head of every batch.
namespace tw::emu {
struct Index3 {
  unsigned x;
  unsigned y;
  unsigned z;
};

constexpr int warp_size = 32;
constexpr int largest_exchange = 64;  // bytes of a lane

// A named buffer as one kernel variable sees it. Offsets are bytes from the start of the region, which is the memory of
// one launch argument (or of several that overlap), or the block's shared memory.
struct View {
  void* region;
  long long begin;  // the buffer is [begin, end)
  long long end;
  long long origin;  // of the view's element 0
  const char* name;
};

enum AccessKind { read_access = 0, write_access = 1 };

struct Context {
  Index3 thread;
  Index3 block;
  Index3 block_dim;
  Index3 grid_dim;
  void* runtime;
  // Checks and records an access to `bytes` bytes at element `index`; null when the memory must not be touched.
  char* (*access)(Context*, const View*, long long index, unsigned element_bytes, unsigned bytes, int line, AccessKind);
  void (*barrier)(Context*, int line);
  // Waits for all threads of the warp, each with a value of `bytes`; gives the values of all lanes, until the next call.
  const char* (*exchange)(Context*, const void* value, int bytes, int line);
  long long matrix_calls;  // of warps
  View (*shared_view)(Context*, long long offset, long long bytes, const char* name);
};

// kind: 'b' a buffer, 'i' a signed, 'u' an unsigned integer, 'f' a float, 'o' bool. bytes: of the scalar or element.
struct Parameter {
  char kind;
  unsigned bytes;
};

// Arguments of `run` point at Views for buffers and at values for scalars.
struct Entry {
  int count;
  const Parameter* parameters;
  void (*run)(const void* const* arguments);
};
}  // namespace tw::emu
#endif
