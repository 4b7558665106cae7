#pragma once
// A tensor in device memory between sentinels: before it, after it, and in the gaps of its rows.
#include <random>
#include <string>
#include <vector>

#include "tilewright/runtime.h"

namespace tilewright::test {

class Guarded {
 public:
  /// `strided`: gaps after each row and each matrix, and a start that is aligned to the element only.
  Guarded(Device& device, DType type, std::vector<int64_t> shape, bool strided);
  ~Guarded() { device_.release(address_); }
  Guarded(const Guarded&) = delete;

  /// Normal values, rounded to the type (integers: whole numbers from -1000 to 1000).
  void randomise(std::mt19937_64& random);
  /// Brings host memory to the device, and back.
  void to_device();
  void to_host();
  /// The view for a call, and the view of the host's copy.
  Tensor on_device() const { return view(static_cast<char*>(address_)); }
  Tensor on_host() const { return view(const_cast<char*>(host_.data())); }

  /// Empty when every byte outside the elements is as it was when the device got it; `inside` too for an input.
  std::string damage(bool inside) const;

 private:
  Tensor view(char* base) const { return {base + start_, type_, shape_, strides_}; }
  template <class F>
  void each_offset(F f) const;  // byte offsets of the elements in host_

  Device& device_;
  DType type_;
  std::vector<int64_t> shape_, strides_;
  int64_t start_;  // bytes
  std::vector<char> host_, sent_;
  void* address_;
};

}  // namespace tilewright::test
