#pragma once
// The one node set of Tilewright, from the traced program to the final forms. See docs/architecture.md for the stages.
#include <string>

#include "ir/node.h"
#include "numeric/scalar.h"

namespace tilewright::ir {

// ---- expressions --------------------------------------------------------------------------------------------------

struct Const : ExprNode {
  using Base = ExprNode;
  Scalar value;
  TW_NODE(Const, "", value)
};

/// A named value: loop variable, let, shape or stride symbol, scalar argument. Names are unique in a kernel.
struct Var : ExprNode {
  using Base = ExprNode;
  std::string name;
  DType type = i64;
  TW_NODE(Var, "", name, type)
};

struct Unary : ExprNode {
  using Base = ExprNode;
  UnaryOp op = UnaryOp::neg;
  Expr a;
  TW_NODE(Unary, "", op, a)
};

/// Operands have one type; narrow floats never appear here (the front end widens them to f32).
struct Binary : ExprNode {
  using Base = ExprNode;
  BinaryOp op = BinaryOp::add;
  Expr a, b;
  TW_NODE(Binary, "", op, a, b)
};

/// cond ? a : b; only the chosen side's memory reads happen.
struct Select : ExprNode {
  using Base = ExprNode;
  Expr cond, a, b;
  TW_NODE(Select, "", cond, a, b)
};

/// a * b + c with one rounding.
struct Fma : ExprNode {
  using Base = ExprNode;
  Expr a, b, c;
  TW_NODE(Fma, "", a, b, c)
};

struct Cast : ExprNode {
  using Base = ExprNode;
  DType type;
  Expr a;
  Overflow overflow = Overflow::saturate;
  TW_NODE(Cast, "", type, a, overflow)
};

// ---- memory -------------------------------------------------------------------------------------------------------

/// Where the program says a buffer lives. Which memory of the chip that becomes is `memory`, set by `place`.
enum class Space : uint8_t { global, shared, fragment, local, var, workspace };
inline constexpr int kSpaces = 6;
inline constexpr std::string_view kSpaceNames[kSpaces] = {"global", "shared", "fragment", "local", "var", "workspace"};

/// A tensor argument or a tile. Element (i, j, ...) of a global buffer is at sum(index * stride) elements; other
/// buffers are row-major and have no strides.
struct Buffer : DeclNode {
  using Base = DeclNode;
  std::string name;
  DType dtype;
  Exprs shape;
  Exprs strides;  // in elements; global only
  Space space = Space::global;
  std::string memory;   // a memory of the machine's Caps; empty before `place`
  int64_t offset = -1;  // bytes from the start of that memory; -1 before `plan_memory`
  /// Of a tile that the threads of a block hold together: the text of the Layout that says which thread holds which
  /// element, and where among its own. Empty: an array in `memory`.
  std::string layout;
  TW_NODE(Buffer, "", name, dtype, shape, strides, space, memory, offset, layout)
};

/// The tile of `buffer` with first element `offset` and size `extent`; both have the buffer's rank.
struct Region : DeclNode {
  using Base = DeclNode;
  Ref<Buffer> buffer;
  Exprs offset, extent;
  TW_NODE(Region, "", buffer, offset, extent)
};

/// One element. A global element outside the tensor reads 0.
struct Load : ExprNode {
  using Base = ExprNode;
  Ref<Buffer> buffer;
  Exprs indices;
  TW_NODE(Load, "", buffer, indices)
};

// ---- statements of the traced program -----------------------------------------------------------------------------

/// Statements in order. Let and Alloc are visible to the statements after them in the same Seq.
struct Seq : StmtNode {
  using Base = StmtNode;
  Stmts stmts;
  TW_NODE(Seq, "", stmts)
};

/// The most compute threads of a block that a program may ask for: what GPUs give one. It is the language's limit, so
/// that machines without threads do not accept what no machine with threads can run. No machine's Caps say more.
inline constexpr int64_t kMostThreadsOfBlock = 1024;

/// One phase of a kernel: the body runs once for each block, blocks are unordered. `threads` counts compute threads.
struct Grid : StmtNode {
  using Base = StmtNode;
  std::vector<Ref<Var>> vars;  // the first varies fastest
  Exprs extents;
  int64_t threads = 1;
  Stmt body;
  TW_NODE(Grid, "grid {vars} in {extents} threads {threads} {body}", vars, extents, threads, body)
};

// What a program asks for: serial to persistent. Made by lowering: reduction, whose iterations may be reassociated and
// contracted (gemm and reduce, nothing else inside). Final forms: blocks (iterations are the launch's blocks), threads
// (threads form: the threads of a block, which synchronise at barriers), cores (engines form: the launch's cores).
enum class LoopKind : uint8_t {
  serial,
  unroll,
  vectorized,
  parallel,
  pipelined,
  persistent,
  reduction,
  blocks,
  threads,
  cores
};
inline constexpr std::string_view kLoopNames[] = {"serial",     "unroll",    "vectorized", "parallel", "pipelined",
                                                  "persistent", "reduction", "blocks",     "threads",  "cores"};

/// A loop over the product of `extents`, the last variable fastest. `stages` is what `pipelined` asks for.
struct For : StmtNode {
  using Base = StmtNode;
  LoopKind how = LoopKind::serial;
  std::vector<Ref<Var>> vars;
  Exprs extents;
  int64_t stages = 0;
  Stmt body;
  TW_NODE(For, "for {how} {vars} in {extents}[ stages {stages}] {body}", how, vars, extents, stages, body)
};

struct When : StmtNode {
  using Base = StmtNode;
  Expr cond;
  Stmt then, otherwise;  // otherwise may be null
  TW_NODE(When, "when {cond} {then}[ otherwise {otherwise}]", cond, then, otherwise)
};

struct Let : StmtNode {
  using Base = StmtNode;
  Ref<Var> var;
  Expr value;
  TW_NODE(Let, "let {var} = {value}", var, value)
};

struct Alloc : StmtNode {
  using Base = StmtNode;
  Ref<Buffer> buffer;
  TW_NODE(Alloc, "alloc {buffer}", buffer)
};

/// One element; the value has the buffer's dtype. A global element outside the tensor is dropped.
struct Store : StmtNode {
  using Base = StmtNode;
  Ref<Buffer> buffer;
  Exprs indices;
  Expr value;
  TW_NODE(Store, "store {buffer}[{indices}] = {value}", buffer, indices, value)
};

/// Tile to tile, converting the dtype. Extents agree after those that are 1 are dropped. Reads outside the source give
/// `fill` (null = 0), writes outside the destination are dropped.
struct Copy : StmtNode {
  using Base = StmtNode;
  Ref<Region> src, dst;
  Expr fill;
  TW_NODE(Copy, "copy {src} -> {dst}[ padding {fill}]", src, dst, fill)
};

struct Fill : StmtNode {
  using Base = StmtNode;
  Ref<Region> dst;
  Expr value;
  TW_NODE(Fill, "fill {dst} = {value}", dst, value)
};

/// What an f32 gemm may use: f32 products, or tf32 matrix units.
enum class Precision : uint8_t { exact, tf32 };
inline constexpr std::string_view kPrecisionNames[] = {"exact", "tf32"};

/// c (m, n) += a b, a (m, k) or (k, m) when transposed, b (k, n) or (n, k); operands are widened to c's type first.
/// `unit`: the matrix unit of the machine's Caps that does it; c then has a layout made of the unit's, and so has a
/// where it has one.
struct Gemm : StmtNode {
  using Base = StmtNode;
  Ref<Region> a, b, c;
  bool transpose_a = false, transpose_b = false;
  Precision precision = Precision::exact;
  std::string unit;
  TW_NODE(Gemm,
          "gemm {a} x {b} -> {c}[ transpose_a {transpose_a}][ transpose_b {transpose_b}][ precision {precision}][ unit "
          "{unit}]",
          a, b, c, transpose_a, transpose_b, precision, unit)
};

enum class ReduceOp : uint8_t { sum, max, min, abs_max };
inline constexpr std::string_view kReduceNames[] = {"sum", "max", "min", "abs_max"};

/// dst = op of src along `axis` (dst has src's shape without it, or with 1 there); with `accumulate`, dst = op(dst,
/// that). `propagate_nan` is nan::propagate of max and min. `scratch`: memory of the block through which the threads
/// that hold parts of one row exchange them.
struct Reduce : StmtNode {
  using Base = StmtNode;
  ReduceOp op = ReduceOp::sum;
  Ref<Region> src, dst;
  int64_t axis = 0;
  bool accumulate = false, propagate_nan = false;
  Ref<Buffer> scratch;
  TW_NODE(Reduce,
          "reduce {op} {src} -> {dst} axis {axis}[ accumulate {accumulate}][ propagate_nan {propagate_nan}][ scratch "
          "{scratch}]",
          op, src, dst, axis, accumulate, propagate_nan, scratch)
};

/// The program claims that the kernel writes every element of `buffer`; checked mode verifies it.
struct Covers : StmtNode {
  using Base = StmtNode;
  Ref<Buffer> buffer;
  TW_NODE(Covers, "covers {buffer}", buffer)
};

// ---- statements of the final forms --------------------------------------------------------------------------------

/// Threads form: all threads of the block.
struct Barrier : StmtNode {
  using Base = StmtNode;
  TW_NODE(Barrier, "barrier")
};

/// Threads form: `var` is `value` of the thread whose lane differs from this one's in the bits of `mask`. All threads
/// of the warp get here together.
struct Shuffle : StmtNode {
  using Base = StmtNode;
  Ref<Var> var;
  Expr value;
  int64_t mask = 1;
  TW_NODE(Shuffle, "shuffle {var} = {value} lanes {mask}", var, value, mask)
};

/// Threads form: one call of a matrix unit, c += a b. Each thread gives its part of the operands: the elements of its
/// own memory from a_at, b_at and c_at on, as many as the unit's layouts say. All threads of the warp get here
/// together.
struct Mma : StmtNode {
  using Base = StmtNode;
  std::string unit;
  Ref<Buffer> a;
  Expr a_at;
  Ref<Buffer> b;
  Expr b_at;
  Ref<Buffer> c;
  Expr c_at;
  TW_NODE(Mma, "mma {unit} {a} at {a_at} x {b} at {b_at} -> {c} at {c_at}", unit, a, a_at, b, b_at, c, c_at)
};

/// Engines form: `body` is issued to the queue of `engine` (a name of the machine's Caps).
struct OnEngine : StmtNode {
  using Base = StmtNode;
  std::string engine;
  Stmt body;
  TW_NODE(OnEngine, "on {engine} {body}", engine, body)
};

/// Engines form: a flag of the ordered pair (from, to): set when `from` has done all that was issued to it before; `to`
/// starts nothing issued later until it has seen it. Set and wait alternate.
struct SetFlag : StmtNode {
  using Base = StmtNode;
  std::string from, to;
  int64_t id = 0;
  TW_NODE(SetFlag, "set_flag {from} -> {to} id {id}", from, to, id)
};
struct WaitFlag : StmtNode {
  using Base = StmtNode;
  std::string from, to;
  int64_t id = 0;
  TW_NODE(WaitFlag, "wait_flag {from} -> {to} id {id}", from, to, id)
};

/// Engines form: operations of one engine issued later start after those issued earlier are done.
struct EngineBarrier : StmtNode {
  using Base = StmtNode;
  std::string engine;
  TW_NODE(EngineBarrier, "engine_barrier {engine}", engine)
};

// ---- the program --------------------------------------------------------------------------------------------------

/// Each stage promises more than the one before; verify() checks what it promises. The last three are the final forms.
enum class Stage : uint8_t { traced, planned, placed, lowered, loops, threads, engines };
inline constexpr std::string_view kStageNames[] = {"traced", "planned", "placed", "lowered",
                                                   "loops",  "threads", "engines"};
constexpr std::string_view name_of(Stage stage) { return kStageNames[static_cast<int>(stage)]; }

/// `scalars` are the integer symbols of shapes and strides and the scalar arguments; `params` the tensors. The body is
/// a sequence of phases: a phase sees all writes of the phases before it.
struct Kernel : DeclNode {
  using Base = DeclNode;
  std::string name;
  Stage stage = Stage::traced;
  std::vector<Ref<Var>> scalars;
  std::vector<Ref<Buffer>> params;
  Stmt body;
  TW_NODE(Kernel, "", name, stage, scalars, params, body)
};

/// Calls f with the node as its own type.
template <class F>
decltype(auto) dispatch(const Node& node, F&& f) {
  switch (node.kind) {
#define TW_X(T) \
  case Kind::T: \
    return f(static_cast<const T&>(node));
    TW_ALL_NODES(TW_X)
#undef TW_X
  }
  __builtin_unreachable();
}

/// Calls f(name, member) for each field, in order.
template <class T, class F>
void each_field(T& node, F&& f) {
  std::apply([&](auto... x) { (f(x.name, node.*(x.member)), ...); }, std::remove_const_t<T>::fields());
}

/// Computes hash and dtype of a node whose fields are set. Part of make().
void finish(Node* node);

/// A node with the given field values, in the order that its TW_NODE lists them; fields at the end may be left out.
template <class T, class... A>
Ref<T> make(A&&... values) {
  auto* node = new T;
  Ref<T> owner(node);
  auto given = std::forward_as_tuple(std::forward<A>(values)...);
  [&]<size_t... I>(std::index_sequence<I...>) {
    ((node->*(std::get<I>(T::fields()).member) = std::get<I>(given)), ...);
  }(std::make_index_sequence<sizeof...(A)>{});
  finish(node);
  return owner;
}
/// The same for a statement, buffer or kernel, with the user's line.
template <class T, class... A>
Ref<T> make_at(Location at, A&&... values) {
  Ref<T> made = make<T>(std::forward<A>(values)...);
  const_cast<T*>(made.get())->at = at;
  return made;
}

}  // namespace tilewright::ir
