// Names of element types.
#include "tilewright/dtype.h"

namespace tilewright {
namespace {

struct Named {
  DType type;
  std::string_view name;
};

constexpr Named kNames[] = {
    {boolean, "bool"}, {i4, "i4"},
    {i8, "i8"},        {i16, "i16"},
    {i32, "i32"},      {i64, "i64"},
    {u4, "u4"},        {u8, "u8"},
    {u16, "u16"},      {u32, "u32"},
    {u64, "u64"},      {f64, "f64"},
    {f32, "f32"},      {tf32, "tf32"},
    {f16, "f16"},      {bf16, "bf16"},
    {e4m3, "e4m3"},    {e4m3fnuz, "e4m3fnuz"},
    {e5m2, "e5m2"},    {e5m2fnuz, "e5m2fnuz"},
    {e8m0, "e8m0"},    {e5m6, "e5m6"},
    {e3m2, "e3m2"},    {e2m3, "e2m3"},
    {e2m1, "e2m1"},
};

struct Lanes {
  uint8_t count;
  std::string_view suffix;
};

constexpr Lanes kLanes[] = {{2, "x2"}, {3, "x3"}, {4, "x4"}, {8, "x8"}, {16, "x16"}};

std::string scalar_name(const DType& type) {
  for (const Named& n : kNames) {
    if (n.type == type) return std::string(n.name);
  }
  // Data that the table does not name: e4m3 with bias 11 is "custom_e4m3b11".
  std::string name = type.is_signed_int() ? "i" : "u";
  if (type.is_int()) return name.append(std::to_string(type.bits));
  name = "custom_e";
  name.append(std::to_string(type.exponent)).append("m").append(std::to_string(type.mantissa));
  return name.append("b").append(std::to_string(type.bias));
}

}  // namespace

std::string to_string(DType type) {
  std::string name = scalar_name(type.scalar());
  if (type.lanes != 1) name.append("x").append(std::to_string(type.lanes));
  return name;
}

bool parse_dtype(std::string_view name, DType& type) {
  int lanes = 1;
  for (const Lanes& l : kLanes) {
    if (name.ends_with(l.suffix)) {
      lanes = l.count;
      name.remove_suffix(l.suffix.size());
      break;
    }
  }
  for (const Named& n : kNames) {
    if (n.name == name) {
      type = n.type.with_lanes(lanes);
      return true;
    }
  }
  return false;
}

}  // namespace tilewright
