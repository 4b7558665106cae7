#pragma once
// The device headers of the emulators as text: the build makes one string of each emulator/*/*.device.h.
namespace tilewright {

extern const char* const embedded_engine_abi;      // engine/abi.device.h
extern const char* const embedded_engine_ascendc;  // engine/ascendc.device.h
extern const char* const embedded_simt_abi;        // simt/abi.device.h
extern const char* const embedded_simt_cuda;       // simt/cuda.device.h
extern const char* const embedded_simt_emulated;   // simt/emulated.device.h
extern const char* const embedded_simt_rules;      // simt/rules.device.h

}  // namespace tilewright
