#pragma once
// What one thread does of the work on distributed tiles. Internal to src/pass.
#include "ir/build.h"
#include "machine/caps.h"
#include "pass/distribution.h"
#include "pass/names.h"

namespace tilewright {

/// Parallel loops under the statement as serial ones: what one thread or engine does of them.
ir::Stmt as_serial(const ir::Stmt& s);

/// The memory of one thread for its slots of a distributed tile.
ir::Ref<ir::Buffer> slots_of(const ir::Buffer& tile);

class Distribute {
 public:
  Distribute(Names& names, ir::Ref<ir::Var> thread, int64_t threads, const Caps& caps)
      : names_(names), thread_(std::move(thread)), threads_(threads), lanes_(caps.lanes), caps_(caps) {}

  /// The iterations of the thread: one for each slot.
  ir::Stmt loop(const ir::For& loop, const Distribution& dealt);
  /// A reduction of slots, then among the lanes of a warp, then among warps through the scratch memory.
  ir::Stmt reduce(const ir::Reduce& r);
  /// The calls of the matrix unit, with the loads of what it takes from memory.
  ir::Stmt gemm(const ir::Gemm& g);

 private:
  /// The digits of one axis as values, and the loops over the slots among them.
  struct Place {
    std::vector<ir::Exprs> digits;  // [axis][digit]
    struct SlotLoop {
      ir::Ref<ir::Var> var;
      int64_t extent, stride;
    };
    std::vector<SlotLoop> loops;
  };
  Place place_of(const Distribution& d);
  ir::Expr thread_digit(const Digit& d) const;
  static ir::Expr coordinate(const Distribution::Axis& axis, const ir::Exprs& digits);
  static ir::Expr slot(const Distribution& d, const std::vector<ir::Exprs>& digits);
  static ir::Stmt around(const Place& place, ir::Stmt body, Location at);

  Names& names_;
  ir::Ref<ir::Var> thread_;
  int64_t threads_, lanes_;
  const Caps& caps_;
};

}  // namespace tilewright
