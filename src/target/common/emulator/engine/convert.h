#pragma once
// Conversions of Cast, from its documentation: rounding modes, which pairs of types A2/A3 has, saturation.
#include <cstdint>

namespace tilewright::engine {

float half_to_float(uint16_t bits);
/// To nearest even; a finite value beyond f16 becomes +-65504; infinities and NaN stay.
uint16_t float_to_half(float value);

/// One element from type `from` to type `to` (codes of abi.device.h) with a RoundMode. What does not fit saturates; NaN
/// becomes 0 in an integer.
void convert(uint8_t to, uint8_t* dst, uint8_t from, const uint8_t* src, uint8_t mode);

/// Why A2/A3 lacks this Cast, or nullptr.
const char* cast_refusal(uint8_t to, uint8_t from, uint8_t mode);

}  // namespace tilewright::engine
