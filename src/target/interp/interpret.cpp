#include "target/interp/interpret.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/check.h"
#include "base/pointer_map.h"
#include "ir/region.h"
#include "ir/walk.h"
#include "target/interp/storage.h"
#include "target/interp/tape.h"

namespace tilewright::interp {
namespace {

using namespace ir;

constexpr int64_t kLargestTile = int64_t{1} << 30;  // bytes; no machine has such a tile, and filling it takes minutes

/// A region with its numbers filled in.
struct Window {
  Storage* storage;
  std::vector<int64_t> offset, extent;
};

class Machine : ElementSource {
 public:
  Machine(const Ref<Kernel>& kernel, const Options& options) : kernel_(kernel), options_(options) {}

  std::vector<Finding> run(const LaunchPlan& plan, const BoundArguments& arguments) {
    for (size_t i = 0; i < plan.scalars.size(); ++i)
      set(plan.scalars[i].name, unpack(plan.scalars[i].dtype, arguments.scalars[i]));
    for (size_t i = 0; i < kernel_->params.size(); ++i) bind_tensor(*kernel_->params[i], arguments, i);
    execute(kernel_->body);
    if (options_.checked) check_coverage();
    return std::move(findings_);
  }

 private:
  // ---- values --------------------------------------------------------------------------------------------------

  static Scalar unpack(DType type, uint64_t bits) {
    if (!type.is_float()) return {type, bits};
    return {type, type == f64 ? bits : std::bit_cast<uint64_t>(decode(type, bits))};
  }
  void set(const std::string& name, Scalar value) { slots_.values[slots_.slot(name)] = value; }

  Scalar value(const Expr& e) {
    if (const auto* c = as<Const>(e)) return c->value;
    auto& tape = *tapes_.insert(e.get(), nullptr).first.get_or_make(e, slots_);
    return tape.evaluate(slots_, *this);
  }
  int64_t integer(const Expr& e) { return value(e).as_int(); }
  std::vector<int64_t> integers(const Exprs& list) {
    std::vector<int64_t> values;
    for (const Expr& e : list) values.push_back(integer(e));
    return values;
  }

  // ---- memory --------------------------------------------------------------------------------------------------

  void bind_tensor(const Buffer& b, const BoundArguments& arguments, size_t i) {
    Storage s{b.name, b.dtype, integers(b.shape), integers(b.strides), arguments.tensors[i], true, {}, {}};
    if (options_.checked) {
      int64_t span = 1;
      for (size_t d = 0; d < s.shape.size(); ++d) span = s.shape[d] == 0 ? 0 : span + (s.shape[d] - 1) * s.strides[d];
      s.states.resize(static_cast<size_t>(std::max<int64_t>(span, 0)));
      for (ElementState& e : s.states) e.written = true;  // the caller's data
    }
    storages_[b.name] = std::move(s);
  }

  void allocate(const Buffer& b) {
    Storage s{b.name, b.dtype, integers(b.shape), {}, nullptr, false, {}, {}};
    s.strides.assign(s.shape.size(), 1);
    int64_t count = 1;
    for (size_t d = s.shape.size(); d-- > 0;) {
      s.strides[d] = count;
      count *= s.shape[d];
    }
    if (b.dtype.bytes(count) > kLargestTile)
      throw UserError(b.at, fmt::format("interp: {} takes {} bytes; a tile takes at most {} here", b.name,
                                        b.dtype.bytes(count), kLargestTile));
    s.owned.assign(static_cast<size_t>(b.dtype.bytes(count)), 0xCD);  // not 0: a read of what nothing wrote must show
    if (options_.checked) s.states.resize(static_cast<size_t>(count));
    Storage& kept = storages_[b.name] = std::move(s);
    kept.data = kept.owned.data();
  }

  Storage& storage(const Buffer& b) {
    auto found = storages_.find(b.name);
    TW_CHECK(found != storages_.end(), fmt::format("interpreter: {} is not allocated", b.name));
    return found->second;
  }

  Scalar read(const Load& load, const int64_t* indices) override {
    return read_element(storage(*load.buffer), indices);
  }

  Scalar read_element(Storage& s, const int64_t* indices) {
    int64_t offset;
    if (!s.locate(indices, offset)) {
      outside(s, indices, "reads");
      return Scalar::of_int(s.dtype, 0);
    }
    if (options_.checked) note_read(s, indices, offset);
    return load_element(s.dtype, s.data, offset);
  }

  void write_element(Storage& s, const int64_t* indices, Scalar v) {
    int64_t offset;
    if (!s.locate(indices, offset)) return outside(s, indices, "writes");
    if (options_.checked) note_write(s, indices, offset);
    store_element(s.data, offset, v);
  }

  // ---- checked mode --------------------------------------------------------------------------------------------

  void find(std::string text) {
    if (options_.checked && findings_.size() < options_.max_findings) findings_.push_back({at_, std::move(text)});
  }
  static std::string element(const Storage& s, const int64_t* indices) {
    return fmt::format("{}({})", s.name, fmt::join(indices, indices + s.shape.size(), ", "));
  }
  void outside(const Storage& s, const int64_t* indices, const char* does) {
    find(fmt::format("{} {} outside ({}) {}", does, element(s, indices), fmt::join(s.shape, ", "), to_string(s.dtype)));
  }

  /// Notes an access of one member of an unordered scope; the other member that it conflicts with, or -1.
  static int64_t meet(Mark& mark, uint64_t scope, int64_t member, bool write) {
    if (mark.scope != scope) mark = {scope};
    int64_t other = -1;
    if (mark.writer >= 0 && mark.writer != member) other = mark.writer;
    if (write && (mark.many_readers || (mark.reader >= 0 && mark.reader != member))) other = mark.reader;
    if (write) {
      mark.writer = member;
    } else {
      mark.many_readers |= mark.reader >= 0 && mark.reader != member;
      mark.reader = member;
    }
    return other;
  }
  void meet_all(Storage& s, const int64_t* indices, ElementState& e, bool write) {
    if (parallel_scope_) {
      int64_t other = meet(e.iteration, parallel_scope_, iteration_, write);
      if (other >= 0)
        find(fmt::format("iterations {} and {} of a parallel loop both use {} and one writes it", other, iteration_,
                         element(s, indices)));
    }
    if (s.is_global && grid_scope_) {
      int64_t other = meet(e.block, grid_scope_, block_, write);
      if (other >= 0)
        find(fmt::format("blocks {} and {} both use {} and one writes it", other, block_, element(s, indices)));
    }
  }
  void note_read(Storage& s, const int64_t* indices, int64_t offset) {
    ElementState& e = s.states[static_cast<size_t>(offset)];
    if (!e.written) find(fmt::format("reads {}, which nothing has written", element(s, indices)));
    meet_all(s, indices, e, false);
  }
  void note_write(Storage& s, const int64_t* indices, int64_t offset) {
    ElementState& e = s.states[static_cast<size_t>(offset)];
    e.written = e.by_kernel = true;
    meet_all(s, indices, e, true);
  }

  /// Every element of a buffer that the program says it covers has been written by it.
  void check_coverage() {
    std::map<std::string, Location> claims;
    post_order(kernel_->body, [&](const Node& node) {
      if (const auto* c = as<Covers>(&node)) claims.emplace(c->buffer->name, c->at);
    });
    for (const auto& [name, at] : claims) {
      Storage& s = storages_.at(name);
      int64_t missing = 0;
      std::vector<int64_t> first;
      for_each_element({&s, std::vector<int64_t>(s.shape.size(), 0), s.shape},
                       [&](const std::vector<int64_t>&, const std::vector<int64_t>& index) {
                         int64_t offset = 0;
                         s.locate(index.data(), offset);
                         if (s.states[static_cast<size_t>(offset)].by_kernel || missing++ > 0) return;
                         first = index;
                       });
      at_ = at;
      if (missing)
        find(fmt::format("covers: {} elements of {} are never written; the first is {}", missing, name,
                         element(s, first.data())));
    }
  }

  // ---- statements ----------------------------------------------------------------------------------------------

  void execute(const Stmt& s) {
    Location outer = at_;
    if (s->at) at_ = s->at;
    switch (s->kind) {
      case Kind::Seq:
        for (const Stmt& child : static_cast<const Seq&>(*s).stmts) execute(child);
        break;
      case Kind::Grid:
        grid(static_cast<const Grid&>(*s));
        break;
      case Kind::For:
        loop(static_cast<const For&>(*s));
        break;
      case Kind::When: {
        const auto& n = static_cast<const When&>(*s);
        if (value(n.cond).as_bool())
          execute(n.then);
        else if (n.otherwise)
          execute(n.otherwise);
        break;
      }
      case Kind::Let: {
        const auto& n = static_cast<const Let&>(*s);
        set(n.var->name, value(n.value));
        break;
      }
      case Kind::Alloc:
        allocate(*static_cast<const Alloc&>(*s).buffer);
        break;
      case Kind::Store: {
        const auto& n = static_cast<const Store&>(*s);
        Scalar v = value(n.value);
        std::vector<int64_t> at = integers(n.indices);
        write_element(storage(*n.buffer), at.data(), v);
        break;
      }
      case Kind::Copy:
        copy(static_cast<const Copy&>(*s));
        break;
      case Kind::Fill:
        fill(static_cast<const Fill&>(*s));
        break;
      case Kind::Gemm:
        gemm(static_cast<const Gemm&>(*s));
        break;
      case Kind::Reduce:
        reduce(static_cast<const Reduce&>(*s));
        break;
      case Kind::Covers:
        break;
      default:
        TW_CHECK(false, "interpreter: this statement belongs to a form that it does not run");
    }
    at_ = outer;
  }

  /// Runs `body` for each point of the box, the axis `fastest` first; `member` counts the points.
  template <class F>
  void for_each_point(const std::vector<Ref<Var>>& vars, const std::vector<int64_t>& extents, bool first_is_fastest,
                      F&& body) {
    int64_t count = 1;
    for (int64_t e : extents) count *= std::max<int64_t>(e, 0);
    for (int64_t point = 0; point < count; ++point) {
      int64_t rest = point;
      for (size_t i = 0; i < vars.size(); ++i) {
        size_t d = first_is_fastest ? i : vars.size() - 1 - i;
        set(vars[d]->name, Scalar::of_int(vars[d]->type, rest % extents[d]));
        rest /= extents[d];
      }
      body(point);
    }
  }

  void run_blocks(const std::vector<Ref<Var>>& vars, const Exprs& extents, bool first_is_fastest, const Stmt& body) {
    grid_scope_ = ++scopes_;
    for_each_point(vars, integers(extents), first_is_fastest, [&](int64_t block) {
      block_ = block;
      execute(body);
    });
    grid_scope_ = 0;
  }
  void grid(const Grid& n) { run_blocks(n.vars, n.extents, true, n.body); }

  void loop(const For& n) {
    if (n.how == LoopKind::blocks) return run_blocks(n.vars, n.extents, false, n.body);
    TW_CHECK(n.how != LoopKind::threads && n.how != LoopKind::cores,
             "interpreter: the threads and engines forms are not run");
    bool unordered = n.how == LoopKind::parallel && !parallel_scope_;
    if (unordered) parallel_scope_ = ++scopes_;
    for_each_point(n.vars, integers(n.extents), false, [&](int64_t point) {
      if (unordered) iteration_ = point;
      execute(n.body);
    });
    if (unordered) parallel_scope_ = 0;
  }

  Window window(const Ref<Region>& r) { return {&storage(*r->buffer), integers(r->offset), integers(r->extent)}; }

  /// Calls body with the index in the buffer of each point of the window.
  template <class F>
  void for_each_element(const Window& w, F&& body) {
    std::vector<int64_t> point(w.extent.size(), 0), at = w.offset;
    for (int64_t e : w.extent)
      if (e <= 0) return;
    while (true) {
      body(point, at);
      size_t d = point.size();
      while (d > 0) {
        --d;
        ++at[d];
        if (++point[d] < w.extent[d]) break;
        at[d] = w.offset[d];
        point[d] = 0;
        if (d == 0) return;
      }
      if (point.empty()) return;
    }
  }

  void copy(const Copy& n) {
    Window src = window(n.src), dst = window(n.dst);
    Scalar fill = n.fill ? cast(value(n.fill), dst.storage->dtype) : Scalar::of_int(dst.storage->dtype, 0);
    std::vector<size_t> src_axes = loop_axes(*n.src), dst_axes = loop_axes(*n.dst);
    TW_CHECK(src_axes.size() == dst_axes.size(), "copy: the regions differ in rank");
    // All reads before all writes, as one statement does.
    std::vector<Scalar> values;
    int64_t offset;
    for_each_element(dst, [&](const std::vector<int64_t>& point, const std::vector<int64_t>& at) {
      if (!dst.storage->locate(at.data(), offset)) return values.push_back(fill);
      std::vector<int64_t> from = src.offset;
      for (size_t i = 0; i < src_axes.size(); ++i) from[src_axes[i]] += point[dst_axes[i]];
      values.push_back(src.storage->locate(from.data(), offset)
                           ? cast(read_element(*src.storage, from.data()), dst.storage->dtype)
                           : fill);
    });
    size_t next = 0;
    for_each_element(dst, [&](const std::vector<int64_t>&, const std::vector<int64_t>& at) {
      const Scalar& v = values[next++];
      if (dst.storage->locate(at.data(), offset)) write_element(*dst.storage, at.data(), v);
    });
  }

  void fill(const Fill& n) {
    Window dst = window(n.dst);
    Scalar v = cast(value(n.value), dst.storage->dtype);
    int64_t offset;
    for_each_element(dst, [&](const std::vector<int64_t>&, const std::vector<int64_t>& at) {
      if (dst.storage->locate(at.data(), offset)) write_element(*dst.storage, at.data(), v);
    });
  }

  void gemm(const Gemm& n) {
    Window a = window(n.a), b = window(n.b), c = window(n.c);
    DType type = c.storage->dtype;
    size_t ra = a.extent.size(), rc = c.extent.size();
    int64_t rows = c.extent[rc - 2], columns = c.extent[rc - 1], depth = a.extent[ra - (n.transpose_a ? 2 : 1)];
    auto at = [](const Window& w, int64_t row, int64_t column, bool transposed) {
      std::vector<int64_t> index = w.offset;
      index[index.size() - 2] += transposed ? column : row;
      index[index.size() - 1] += transposed ? row : column;
      return index;
    };
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        std::vector<int64_t> here = at(c, i, j, false);
        Scalar sum = read_element(*c.storage, here.data());
        for (int64_t k = 0; k < depth; ++k) {
          Scalar x = cast(read_element(*a.storage, at(a, i, k, n.transpose_a).data()), type);
          Scalar y = cast(read_element(*b.storage, at(b, k, j, n.transpose_b).data()), type);
          sum = evaluate(BinaryOp::add, sum, evaluate(BinaryOp::mul, x, y));
        }
        write_element(*c.storage, here.data(), sum);
      }
  }

  static Scalar combine(const Reduce& n, Scalar a, Scalar b) {
    switch (n.op) {
      case ReduceOp::sum:
        return evaluate(BinaryOp::add, a, b);
      case ReduceOp::min:
        return evaluate(n.propagate_nan ? BinaryOp::min_nan : BinaryOp::min, a, b);
      default:
        return evaluate(n.propagate_nan ? BinaryOp::max_nan : BinaryOp::max, a, b);
    }
  }

  void reduce(const Reduce& n) {
    Window src = window(n.src), dst = window(n.dst);
    DType type = dst.storage->dtype.is_narrow_float() ? f32 : dst.storage->dtype;  // accumulates in f32, rounds once
    size_t axis = static_cast<size_t>(n.axis);
    std::vector<size_t> kept, dst_axes = loop_axes(*n.dst);
    for (size_t d : loop_axes(*n.src))
      if (d != axis) kept.push_back(d);
    TW_CHECK(kept.size() == dst_axes.size(), "reduce: dst does not have src's shape without the axis");
    for_each_element(dst, [&](const std::vector<int64_t>& point, const std::vector<int64_t>& at) {
      std::vector<int64_t> from = src.offset;
      for (size_t i = 0; i < kept.size(); ++i) from[kept[i]] += point[dst_axes[i]];
      Scalar result;
      if (n.accumulate) result = cast(read_element(*dst.storage, at.data()), type);
      for (int64_t k = 0; k < src.extent[axis]; ++k, ++from[axis]) {
        Scalar v = cast(read_element(*src.storage, from.data()), type);
        if (n.op == ReduceOp::abs_max) v = evaluate(UnaryOp::abs, v);
        result = k == 0 && !n.accumulate ? v : combine(n, result, v);
      }
      write_element(*dst.storage, at.data(), cast(result, dst.storage->dtype));
    });
  }

  /// A tape made on first use.
  struct LazyTape {
    std::unique_ptr<Tape> tape;
    LazyTape() = default;
    LazyTape(std::nullptr_t) {}
    Tape* get_or_make(const Expr& e, Slots& slots) {
      if (!tape) tape = std::make_unique<Tape>(e, slots);
      return tape.get();
    }
  };

  Ref<Kernel> kernel_;
  Options options_;
  Slots slots_;
  PointerMap<LazyTape> tapes_;
  std::map<std::string, Storage> storages_;
  std::vector<Finding> findings_;
  Location at_;
  uint64_t scopes_ = 0, parallel_scope_ = 0, grid_scope_ = 0;
  int64_t iteration_ = 0, block_ = 0;
};

}  // namespace

std::vector<Finding> interpret(const Ref<Kernel>& kernel, const LaunchPlan& plan, const BoundArguments& arguments,
                               const Options& options) {
  return Machine(kernel, options).run(plan, arguments);
}

}  // namespace tilewright::interp
