#include "conformance/guarded.h"

#include "tilewright/numerics.h"

namespace tilewright::test {
namespace {

constexpr char kSentinel = static_cast<char>(0xa7);
constexpr int64_t kGuardBytes = 256;

}  // namespace

Guarded::Guarded(Device& device, DType type, std::vector<int64_t> shape, bool strided)
    : device_(device), type_(type), shape_(std::move(shape)), strides_(shape_.size()) {
  int64_t step = 1;
  for (size_t i = shape_.size(); i-- > 0;) {
    strides_[i] = step;
    step = step * shape_[i] + (strided && shape_.size() > 1 ? 3 : 0);
  }
  start_ = kGuardBytes + (strided ? 5 * type_.bytes() : 0);
  host_.assign(static_cast<size_t>(start_ + type_.bytes(step) + kGuardBytes), kSentinel);
  address_ = device_.allocate(static_cast<int64_t>(host_.size()));
}

template <class F>
void Guarded::each_offset(F f) const {
  const int64_t count = element_count(shape_);
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, offset = 0;
    for (size_t i = shape_.size(); i-- > 0; rest /= shape_[i]) offset += rest % shape_[i] * strides_[i];
    f(start_ + offset * type_.bytes());
  }
}

void Guarded::randomise(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> whole(-1000, 1000);
  each_offset([&](int64_t at) {
    write_element(type_, host_.data() + at, 0, type_.is_float() ? normal(random) : static_cast<double>(whole(random)));
  });
}

void Guarded::to_device() {
  sent_ = host_;
  device_.copy_in(address_, host_.data(), static_cast<int64_t>(host_.size()));
}

void Guarded::to_host() { device_.copy_out(host_.data(), address_, static_cast<int64_t>(host_.size())); }

std::string Guarded::damage(bool inside) const {
  std::vector<char> expected = sent_;
  if (!inside)
    each_offset([&](int64_t at) {
      for (int64_t i = at; i < at + type_.bytes(); ++i) expected[i] = host_[i];
    });
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != host_[i])
      return "byte " + std::to_string(static_cast<int64_t>(i) - start_) + " from the first element was overwritten";
  return "";
}

}  // namespace tilewright::test
