#pragma once
// The language: kernels written in tiles. What C++ runs is decided now; what a Var touches is decided on the device.
// The rules are in docs/language.md.
#include "tilewright/dsl/loop.h"
#include "tilewright/dsl/math.h"
#include "tilewright/dsl/signature.h"
#include "tilewright/dsl/tile.h"
#include "tilewright/dsl/value.h"
