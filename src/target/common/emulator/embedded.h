#pragma once
// The device headers of the emulators as text: the build makes one string of each emulator/*/*.device.h.
namespace tilewright {

extern const char* const embedded_engine_abi;      // engine/abi.device.h
extern const char* const embedded_engine_ascendc;  // engine/ascendc.device.h

}  // namespace tilewright
