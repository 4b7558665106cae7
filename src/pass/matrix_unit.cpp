#include "pass/matrix_unit.h"

#include <limits>

namespace tilewright {
namespace {

int64_t slots_of_atom(const Layout& atom) { return Distribution::of(atom).slots(); }

/// Warps, then tiles of a warp, then the digits of the unit's own layout.
Distribution::Axis axis_of(const Distribution::Axis& atom, Digit warps, Digit tiles) {
  Distribution::Axis axis{warps.extent * tiles.extent * atom.extent, {}};
  for (const Digit& d : {warps, tiles})
    if (d.extent > 1) axis.digits.push_back(d);
  for (const Digit& d : atom.digits) {
    Digit* last = axis.digits.empty() ? nullptr : &axis.digits.back();
    if (last && !last->of_thread() && !d.of_thread() && last->slots == d.slots * d.extent)
      *last = {last->extent * d.extent, 0, d.slots};
    else
      axis.digits.push_back(d);
  }
  return axis;
}

}  // namespace

UnitShape::UnitShape(const MatrixUnit& unit)
    : m(unit.c.axes()[0].extent), n(unit.c.axes()[1].extent), k(unit.a.axes()[1].extent) {}

std::optional<UnitTiling> tile_unit(const MatrixUnit& unit, int64_t m, int64_t n, int64_t k, int64_t warps,
                                    bool whole_rows) {
  const UnitShape shape(unit);
  if (m % shape.m || n % shape.n || k % shape.k) return std::nullopt;
  std::optional<UnitTiling> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t rows = 1; rows <= warps; ++rows) {
    const int64_t columns = warps / rows;
    if (warps % rows || m % (shape.m * rows) || n % (shape.n * columns)) continue;
    const int64_t read = whole_rows ? columns : m / rows + n / columns;
    if (read >= least) continue;
    least = read;
    best = UnitTiling{rows, columns, m / (shape.m * rows), n / (shape.n * columns), k / shape.k};
  }
  return best;
}

Distribution accumulator_of(const MatrixUnit& unit, const UnitTiling& t, int64_t lanes) {
  const Distribution atom = Distribution::of(unit.c);
  const int64_t slots = slots_of_atom(unit.c);
  Distribution d;
  d.axes.push_back(
      axis_of(atom.axes[0], {t.row_warps, lanes * t.column_warps, 0}, {t.row_tiles, 0, slots * t.column_tiles}));
  d.axes.push_back(axis_of(atom.axes[1], {t.column_warps, lanes, 0}, {t.column_tiles, 0, slots}));
  return d;
}

Distribution operand_a_of(const MatrixUnit& unit, const UnitTiling& t, int64_t lanes) {
  const Distribution atom = Distribution::of(unit.a);
  const int64_t slots = slots_of_atom(unit.a);
  Distribution d;
  d.axes.push_back(axis_of(atom.axes[0], {t.row_warps, lanes * t.column_warps, 0}, {t.row_tiles, 0, slots * t.steps}));
  d.axes.push_back(axis_of(atom.axes[1], {}, {t.steps, 0, slots}));
  if (t.column_warps > 1) d.copies.push_back({t.column_warps, lanes, 0});
  return d;
}

}  // namespace tilewright
