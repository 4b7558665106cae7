// Phases, buffers, statements and loops.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ir/build.h"
#include "ir/region.h"
#include "ir/walk.h"
#include "target/cpu/llvm/emitter.h"
#include "target/cpu/llvm_module.h"

namespace tilewright::cpu {

using ir::as;

namespace {

/// Tiles up to this size get a stack slot: LLVM turns it into registers when the indices become constant.
constexpr int64_t kRegisterTileBytes = 1024;

/// Loops of at most this many iterations are unrolled when asked.
constexpr int64_t kFullUnroll = 64;

bool is_parallel(ir::LoopKind how) {
  return how == ir::LoopKind::parallel || how == ir::LoopKind::vectorized || how == ir::LoopKind::blocks;
}

/// Iterations of the loop when all extents are constant, else -1.
int64_t constant_trip_count(const ir::For& node) {
  int64_t count = 1;
  for (const ir::Expr& e : node.extents) {
    int64_t extent;
    if (!ir::is_constant(e, &extent)) return -1;
    count *= extent;
  }
  return count;
}

/// Whether a loop stays inside `node` after the unrolling that was asked for.
bool contains_loop(const ir::StmtNode& node) {
  if (const auto* seq = as<ir::Seq>(&node))
    return std::any_of(seq->stmts.begin(), seq->stmts.end(), [](const ir::Stmt& s) { return contains_loop(*s); });
  if (const auto* when = as<ir::When>(&node))
    return contains_loop(*when->then) || (when->otherwise && contains_loop(*when->otherwise));
  const auto* loop = as<ir::For>(&node);
  if (!loop) return false;
  int64_t count = constant_trip_count(*loop);
  bool vanishes = count == 1 || (loop->how == ir::LoopKind::unroll && count >= 0 && count <= kFullUnroll);
  return !vanishes || contains_loop(*loop->body);
}

llvm::MDNode* self_referring(llvm::LLVMContext& context, std::vector<llvm::Metadata*> facts) {
  facts.insert(facts.begin(), nullptr);
  llvm::MDNode* node = llvm::MDNode::getDistinct(context, facts);
  node->replaceOperandWith(0, node);
  return node;
}

}  // namespace

Emitter::Emitter(llvm::Module& module, const ir::Kernel& kernel, const LaunchPlan& plan,
                 std::vector<std::pair<std::string, std::string>> attributes)
    : module_(module),
      context_(module.getContext()),
      b_(module.getContext()),
      values_(b_),
      kernel_(kernel),
      plan_(plan),
      attributes_(std::move(attributes)) {}

// ---- phases -------------------------------------------------------------------------------------------------------

void Emitter::emit() {
  TW_CHECK(kernel_.stage == ir::Stage::loops, "cpu: kernel " + kernel_.name + " is not in stage loops");
  TW_CHECK(kernel_.params.size() == plan_.tensors.size() && kernel_.scalars.size() == plan_.scalars.size(),
           "cpu: the launch plan is not that of kernel " + kernel_.name);
  find_loads();
  const ir::Stmts phases = ir::phases(kernel_);
  TW_CHECK(phases.size() == plan_.phases.size(),
           "cpu: kernel " + kernel_.name + " and its launch plan differ in phases");
  for (size_t i = 0; i < phases.size(); ++i) {
    const auto* loop = as<ir::For>(phases[i]);
    TW_CHECK(loop && loop->how == ir::LoopKind::blocks, "cpu: a phase is not a loop over blocks");
    emit_phase(*loop, plan_.phases[i]);
  }
}

void Emitter::emit_phase(const ir::For& loop, const Phase& phase) {
  llvm::Type *word = b_.getInt64Ty(), *pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {word, word, pointer, pointer, pointer}, false);
  const std::string symbol = symbol_of(phase.entry);
  TW_CHECK(!module_.getFunction(symbol), "cpu: two phases are named " + phase.entry);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_);
  function_->setDoesNotThrow();
  function_->setMustProgress();
  for (const auto& [key, value] : attributes_) function_->addFnAttr(key, value);
  const char* names[] = {"first_block", "last_block", "tensors", "scalars", "scratch"};
  for (unsigned i = 0; i < 5; ++i) function_->getArg(i)->setName(names[i]);
  for (unsigned i = 2; i < 5; ++i) {
    function_->addParamAttr(i, llvm::Attribute::NoAlias);
    function_->addParamAttr(i, llvm::Attribute::NoCapture);
  }
  function_->addParamAttr(2, llvm::Attribute::ReadOnly);
  function_->addParamAttr(3, llvm::Attribute::ReadOnly);
  function_->addParamAttr(4, llvm::Attribute::getWithAlignment(context_, llvm::Align(64)));

  // Stack slots go to `entry`, the rest starts in `body`.
  auto* entry = llvm::BasicBlock::Create(context_, "entry", function_);
  auto* body = llvm::BasicBlock::Create(context_, "body", function_);
  b_.SetInsertPoint(entry);
  b_.SetInsertPoint(b_.CreateBr(body));
  b_.SetInsertPoint(body);
  forget(0, 0);
  variables_.clear();
  places_.clear();
  place_order_.clear();
  bind_scalars(function_->getArg(3));
  bind_tensors(function_->getArg(2));
  bind_scratch(loop.body, function_->getArg(4));
  separate();
  run_blocks(loop, function_->getArg(0), function_->getArg(1));
  b_.CreateRetVoid();
}

void Emitter::bind_scalars(Value* scalars) {
  for (size_t i = 0; i < kernel_.scalars.size(); ++i) {
    const ir::Var& var = *kernel_.scalars[i];
    Value* address = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), scalars, i);
    Value* word = b_.CreateLoad(b_.getInt64Ty(), address);
    Value* v;
    if (var.type.is_float()) {
      llvm::Type* stored = values_.storage_type(var.type);
      Value* code = b_.CreateTrunc(word, b_.getIntNTy(stored->getPrimitiveSizeInBits()));
      v = values_.from_storage(var.type, b_.CreateBitCast(code, stored));
    } else {
      v = b_.CreateTrunc(word, values_.value_type(var.type));
    }
    v->setName(var.name);
    variables_[var.name] = v;
  }
}

/// The blocks first .. end - 1.
void Emitter::run_blocks(const ir::For& node, Value* first, Value* end) {
  TW_CHECK(node.vars.size() == 1, "cpu: a loop over blocks has one variable");
  llvm::MDNode* group = llvm::MDNode::getDistinct(context_, {});
  llvm::MDNode* facts = loop_facts(node, end, false, group);
  under(b_.CreateICmpSLT(first, end), [&] {
    parallel_groups_.push_back(group);
    count_loop(*node.vars[0], first, end, facts, [&] { statement(*node.body); });
    parallel_groups_.pop_back();
  });
}

// ---- buffers ------------------------------------------------------------------------------------------------------

void Emitter::bind_tensors(Value* tensors) {
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const ir::Buffer& buffer = *kernel_.params[i];
    Value* address = b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), tensors, i);
    Place& place = places_[buffer.name];
    place.buffer = &buffer;
    place.base = b_.CreateLoad(b_.getPtrTy(), address, buffer.name);
    place_order_.push_back(buffer.name);
  }
}

/// Places of all tiles of a phase: part of the scratch memory, or a stack slot.
void Emitter::bind_scratch(const ir::Stmt& body, Value* scratch) {
  ir::post_order(body, [&](const ir::Node& node) {
    const auto* alloc = as<ir::Alloc>(&node);
    if (!alloc) return;
    const ir::Buffer& buffer = *alloc->buffer;
    auto [found, is_new] = places_.try_emplace(buffer.name);
    TW_CHECK(is_new, "cpu: two buffers are named " + buffer.name);
    Place& place = found->second;
    place.buffer = &buffer;
    int64_t count = ir::element_count(buffer);
    place.bytes = buffer.dtype.bytes(count);
    place.in_registers = place.bytes <= kRegisterTileBytes;
    if (place.in_registers) {
      llvm::Type* element = buffer.dtype.storage_bits < 8 ? b_.getInt8Ty() : values_.storage_type(buffer.dtype);
      place.base = slot(element, static_cast<uint64_t>(buffer.dtype.storage_bits < 8 ? place.bytes : count));
    } else {
      TW_CHECK(buffer.offset >= 0, "cpu: tile " + buffer.name + " has no place in memory");
      place.base = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch, static_cast<uint64_t>(buffer.offset));
    }
    place.base->setName(buffer.name);
    place_order_.push_back(buffer.name);
  });
}

Value* Emitter::slot(llvm::Type* type, uint64_t count) {
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  llvm::Type* whole = count == 1 ? type : llvm::ArrayType::get(type, count);
  llvm::AllocaInst* memory = b_.CreateAlloca(whole);
  if (count > 1) memory->setAlignment(llvm::Align(64));
  return memory;
}

/// Tells LLVM which buffers cannot share memory: distinct tensors (the launch checks it) and disjoint parts of the
/// scratch.
void Emitter::separate() {
  llvm::MDBuilder facts(context_);
  llvm::MDNode* domain = facts.createAnonymousAliasScopeDomain(function_->getName());
  std::vector<llvm::MDNode*> scopes;
  for (const std::string& name : place_order_) scopes.push_back(facts.createAnonymousAliasScope(domain, name));
  auto overlap = [](const Place& a, const Place& b) {
    if (a.in_registers || b.in_registers || a.bytes == 0 || b.bytes == 0) return false;
    return a.buffer->offset < b.buffer->offset + b.bytes && b.buffer->offset < a.buffer->offset + a.bytes;
  };
  for (size_t i = 0; i < scopes.size(); ++i) {
    Place& place = places_.at(place_order_[i]);
    std::vector<llvm::Metadata*> others;
    for (size_t j = 0; j < scopes.size(); ++j)
      if (i != j && !overlap(place, places_.at(place_order_[j]))) others.push_back(scopes[j]);
    place.scope = llvm::MDNode::get(context_, {scopes[i]});
    place.noalias = others.empty() ? nullptr : llvm::MDNode::get(context_, others);
  }
}

Emitter::Place& Emitter::place_of(const ir::Buffer& buffer) {
  auto found = places_.find(buffer.name);
  TW_CHECK(found != places_.end(), "cpu: buffer " + buffer.name + " is not allocated here");
  return found->second;
}

/// Elements from the buffer's base. In range, so nothing wraps. Without strides a buffer is row-major.
Value* Emitter::element_index(const ir::Buffer& buffer, const ir::Exprs& at) {
  TW_CHECK(at.size() == buffer.shape.size() && (buffer.strides.empty() || buffer.strides.size() == at.size()),
           "cpu: rank of an access to " + buffer.name);
  Value *sum = values_.index(0), *row_major = values_.index(1);
  for (size_t d = at.size(); d-- > 0;) {
    Value* stride = buffer.strides.empty() ? row_major : index_value(buffer.strides[d]);
    sum = b_.CreateNSWAdd(b_.CreateNSWMul(index_value(at[d]), stride), sum);
    if (buffer.strides.empty() && d > 0) row_major = b_.CreateNSWMul(row_major, index_value(buffer.shape[d]));
  }
  return sum;
}

llvm::Instruction* Emitter::annotate(llvm::Instruction* access, const Place& place, bool whole_bytes) {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, place.scope);
  if (place.noalias) access->setMetadata(llvm::LLVMContext::MD_noalias, place.noalias);
  // Iterations of the loops around an alloc share its memory, those of every loop that of a local; 4-bit elements share
  // their bytes.
  const bool is_private = place.buffer->space == ir::Space::local || place.buffer->space == ir::Space::var;
  if (!whole_bytes || is_private || parallel_groups_.size() <= place.parallel_depth) return access;
  std::vector<llvm::Metadata*> groups(parallel_groups_.begin() + static_cast<ptrdiff_t>(place.parallel_depth),
                                      parallel_groups_.end());
  llvm::MDNode* access_group =
      groups.size() == 1 ? llvm::cast<llvm::MDNode>(groups[0]) : llvm::MDNode::get(context_, groups);
  access->setMetadata(llvm::LLVMContext::MD_access_group, access_group);
  return access;
}

/// The element as it is in memory: see Values::from_storage.
Value* Emitter::load_code(const Place& place, Value* index) {
  const DType t = place.buffer->dtype;
  if (t.storage_bits >= 8) {
    llvm::Type* type = values_.storage_type(t);
    Value* address = b_.CreateInBoundsGEP(type, place.base, {index});
    return annotate(b_.CreateAlignedLoad(type, address, llvm::Align(t.storage_bits / 8)), place, true);
  }
  Value* address = b_.CreateInBoundsGEP(b_.getInt8Ty(), place.base, {b_.CreateLShr(index, 1)});
  Value* byte = annotate(b_.CreateAlignedLoad(b_.getInt8Ty(), address, llvm::Align(1)), place, false);
  Value* shift = b_.CreateShl(b_.CreateTrunc(b_.CreateAnd(index, 1), b_.getInt8Ty()), 2);
  return b_.CreateTrunc(b_.CreateLShr(byte, shift), values_.storage_type(t));
}

void Emitter::store_code(const Place& place, Value* index, Value* code) {
  const DType t = place.buffer->dtype;
  if (t.storage_bits >= 8) {
    Value* address = b_.CreateInBoundsGEP(values_.storage_type(t), place.base, {index});
    annotate(b_.CreateAlignedStore(code, address, llvm::Align(t.storage_bits / 8)), place, true);
    return;
  }
  Value* address = b_.CreateInBoundsGEP(b_.getInt8Ty(), place.base, {b_.CreateLShr(index, 1)});
  Value* shift = b_.CreateShl(b_.CreateTrunc(b_.CreateAnd(index, 1), b_.getInt8Ty()), 2);
  Value* mask = b_.CreateNot(b_.CreateShl(b_.getInt8(0xf), shift));
  Value* placed = b_.CreateShl(b_.CreateZExt(code, b_.getInt8Ty()), shift);
  if (place.buffer->space == ir::Space::global) {
    // The other half may be an element of a block that runs at the same time.
    using Rmw = llvm::AtomicRMWInst;
    for (auto [op, operand] : {std::pair(Rmw::And, mask), std::pair(Rmw::Or, placed)})
      annotate(b_.CreateAtomicRMW(op, address, operand, llvm::Align(1), llvm::AtomicOrdering::Monotonic), place, false);
    return;
  }
  Value* byte = annotate(b_.CreateAlignedLoad(b_.getInt8Ty(), address, llvm::Align(1)), place, false);
  Value* kept = b_.CreateAnd(byte, mask);
  annotate(b_.CreateAlignedStore(b_.CreateOr(kept, placed), address, llvm::Align(1)), place, false);
}

Value* Emitter::load(const ir::Load& node) {
  Value* index = element_index(*node.buffer, node.indices);
  return values_.from_storage(node.buffer->dtype, load_code(place_of(*node.buffer), index));
}

void Emitter::store(const ir::Store& node) {
  const DType t = node.buffer->dtype;
  Value* code;
  const auto* cast = as<ir::Cast>(node.value);
  const auto* copied = as<ir::Load>(node.value);
  // Codes with bits that say nothing are written anew, with 0 there.
  if (copied && copied->buffer->dtype == t && !t.is_bool() && t.bits == t.storage_bits) {
    code = load_code(place_of(*copied->buffer), element_index(*copied->buffer, copied->indices));
  } else if (cast && cast->type == t && t.is_narrow_float() && cast->a->dtype != t) {
    Value* operand = value(cast->a);
    code = values_.code_of(cast->a->dtype, t, operand, cast->overflow);
  } else {
    Value* v = values_.cast(node.value->dtype, t, value(node.value), Overflow::saturate);
    code = values_.to_storage(t, v);
  }
  store_code(place_of(*node.buffer), element_index(*node.buffer, node.indices), code);
}

// ---- statements ---------------------------------------------------------------------------------------------------

void Emitter::statement(const ir::StmtNode& node) {
  forget_reads();
  switch (node.kind) {
    case ir::Kind::Seq: {
      Scope scope(*this);
      for (const ir::Stmt& s : static_cast<const ir::Seq&>(node).stmts) statement(*s);
      return;
    }
    case ir::Kind::For:
      return loop(static_cast<const ir::For&>(node));
    case ir::Kind::When:
      return when(static_cast<const ir::When&>(node));
    case ir::Kind::Let: {
      const auto& let = static_cast<const ir::Let&>(node);
      variables_[let.var->name] = values_.cast(let.value->dtype, let.var->type, value(let.value), Overflow::saturate);
      return;
    }
    case ir::Kind::Alloc:
      place_of(*static_cast<const ir::Alloc&>(node).buffer).parallel_depth = parallel_groups_.size();
      return;
    case ir::Kind::Store:
      return store(static_cast<const ir::Store&>(node));
    default:
      break;
  }
  TW_CHECK(false, "cpu: a statement that the loops form does not have");
}

void Emitter::under(Value* condition, Body body) {
  if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (c->isOne()) body();
    return;
  }
  auto* inside = llvm::BasicBlock::Create(context_, "then", function_);
  auto* after = llvm::BasicBlock::Create(context_, "after", function_);
  b_.CreateCondBr(condition, inside, after);
  b_.SetInsertPoint(inside);
  {
    Scope scope(*this);
    body();
  }
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void Emitter::when(const ir::When& node) {
  Value* condition = value(node.cond);
  under(condition, [&] { statement(*node.then); });
  if (node.otherwise) under(b_.CreateNot(condition), [&] { statement(*node.otherwise); });
}

void Emitter::loop(const ir::For& node) {
  TW_CHECK(node.vars.size() == node.extents.size(), "cpu: a loop with as many variables as extents");
  TW_CHECK(node.how <= ir::LoopKind::reduction && node.how != ir::LoopKind::pipelined &&
               node.how != ir::LoopKind::persistent,
           "cpu: a loop kind that the loops form does not have");
  std::vector<Value*> extents;
  for (const ir::Expr& e : node.extents) extents.push_back(index_value(e));
  Scope scope(*this);
  const bool outer = values_.reassociate;
  values_.reassociate = outer || node.how == ir::LoopKind::reduction;
  if (node.how != ir::LoopKind::reduction || !extremum_reduction(node, extents))
    nest(node, extents, 0, [&] { statement(*node.body); });
  values_.reassociate = outer;
}

/// The loops over axis and the axes after it. An axis of one iteration is no loop.
void Emitter::nest(const ir::For& node, const std::vector<Value*>& extents, size_t axis, Body body) {
  if (axis == extents.size()) return body();
  const ir::Var& var = *node.vars[axis];
  Value* count = extents[axis];
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(count);
  if (constant && constant->isOne()) {
    Scope scope(*this);
    variables_[var.name] = llvm::ConstantInt::get(values_.value_type(var.type), 0);
    return nest(node, extents, axis + 1, body);
  }
  auto is_one = [](Value* v) {
    auto* c = llvm::dyn_cast<llvm::ConstantInt>(v);
    return c && c->isOne();
  };
  const bool innermost = std::all_of(extents.begin() + static_cast<ptrdiff_t>(axis) + 1, extents.end(), is_one) &&
                         !contains_loop(*node.body);
  llvm::MDNode* group = is_parallel(node.how) ? llvm::MDNode::getDistinct(context_, {}) : nullptr;
  llvm::MDNode* facts = loop_facts(node, count, innermost, group);
  under(b_.CreateICmpSGT(count, values_.index(0)), [&] {
    if (group) parallel_groups_.push_back(group);
    count_loop(var, values_.index(0), count, facts, [&] { nest(node, extents, axis + 1, body); });
    if (group) parallel_groups_.pop_back();
  });
}

llvm::MDNode* Emitter::loop_facts(const ir::For& node, Value* count, bool innermost, llvm::MDNode* group) {
  auto name = [&](const char* text) { return llvm::MDString::get(context_, text); };
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(count);
  const int64_t trips = constant ? constant->getSExtValue() : -1;
  std::vector<llvm::Metadata*> facts;
  facts.push_back(llvm::MDNode::get(context_, {name("llvm.loop.mustprogress")}));
  if (group) facts.push_back(llvm::MDNode::get(context_, {name("llvm.loop.parallel_accesses"), group}));
  if (innermost && group && (trips < 0 || trips >= 4)) {
    auto* yes = llvm::ConstantAsMetadata::get(b_.getTrue());
    facts.push_back(llvm::MDNode::get(context_, {name("llvm.loop.vectorize.enable"), yes}));
  }
  if (node.how == ir::LoopKind::unroll)
    facts.push_back(llvm::MDNode::get(
        context_, {name(trips >= 0 && trips <= kFullUnroll ? "llvm.loop.unroll.full" : "llvm.loop.unroll.enable")}));
  return self_referring(context_, std::move(facts));
}

/// for (var = first; var != end; ++var) of at least one iteration.
void Emitter::count_loop(const ir::Var& var, Value* first, Value* end, llvm::MDNode* facts, Body body) {
  auto* before = b_.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(context_, "loop", function_);
  auto* after = llvm::BasicBlock::Create(context_, "end", function_);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* counter = b_.CreatePHI(b_.getInt64Ty(), 2, var.name);
  counter->addIncoming(first, before);
  {
    Scope scope(*this);
    variables_[var.name] = var.type.bits == 64 ? counter : b_.CreateTrunc(counter, values_.value_type(var.type));
    body();
  }
  Value* next = b_.CreateAdd(counter, values_.index(1), "", true, true);
  counter->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* branch = b_.CreateCondBr(b_.CreateICmpNE(next, end), head, after);
  branch->setMetadata(llvm::LLVMContext::MD_loop, facts);
  b_.SetInsertPoint(after);
}

// ---- max and min reductions ---------------------------------------------------------------------------------------

namespace {

/// store c = max(c, x) at an element that the loop does not move, after lets. Parts are null when it is something else.
struct Extremum {
  const ir::Store* store = nullptr;
  bool is_max = false;
  ir::Expr x;
};

bool uses(const ir::Expr& e, const std::vector<std::string>& variables, const std::string& buffer) {
  bool found = false;
  ir::post_order(e, [&](const ir::Node& node) {
    if (const auto* v = as<ir::Var>(&node))
      found = found || std::find(variables.begin(), variables.end(), v->name) != variables.end();
    if (const auto* l = as<ir::Load>(&node)) found = found || l->buffer->name == buffer;
  });
  return found;
}

Extremum match_extremum(const ir::For& node, std::vector<const ir::Let*>& lets) {
  ir::Stmts body{node.body};
  if (const auto* seq = as<ir::Seq>(node.body)) body = seq->stmts;
  std::vector<std::string> moving;
  for (const auto& v : node.vars) moving.push_back(v->name);
  if (body.empty()) return {};
  for (size_t i = 0; i + 1 < body.size(); ++i) {
    const auto* let = as<ir::Let>(body[i]);
    if (!let) return {};
    lets.push_back(let);
    moving.push_back(let->var->name);
  }
  const auto* store = as<ir::Store>(body.back());
  const auto* op = store ? as<ir::Binary>(store->value) : nullptr;
  if (!op || !op->dtype.is_float() || (op->op != BinaryOp::max && op->op != BinaryOp::min)) return {};
  auto is_target = [&](const ir::Expr& e) {
    const auto* load = as<ir::Load>(e);
    if (!load || load->buffer->name != store->buffer->name) return false;
    for (size_t d = 0; d < load->indices.size(); ++d)
      if (!ir::equal(load->indices[d], store->indices[d])) return false;
    return true;
  };
  ir::Expr x = is_target(op->a) ? op->b : is_target(op->b) ? op->a : nullptr;
  if (!x || uses(x, {}, store->buffer->name)) return {};
  for (const ir::Let* let : lets)
    if (uses(let->value, {}, store->buffer->name)) return {};
  for (const ir::Expr& e : store->indices)
    if (uses(e, moving, store->buffer->name)) return {};
  return {store, op->op == BinaryOp::max, x};
}

}  // namespace

/// A max (min) over numbers in a form that LLVM vectorises: NaN is replaced by the neutral infinity, and whether any
/// number was seen is kept aside for the case that the target was NaN. False when `node` is something else.
bool Emitter::extremum_reduction(const ir::For& node, const std::vector<Value*>& extents) {
  std::vector<const ir::Let*> lets;
  Extremum found = match_extremum(node, lets);
  if (!found.store) return false;
  Value* any_trip = b_.getTrue();
  for (Value* e : extents) any_trip = b_.CreateAnd(any_trip, b_.CreateICmpSGT(e, values_.index(0)));
  under(any_trip, [&] {
    const Place& place = place_of(*found.store->buffer);
    const DType t = place.buffer->dtype;
    llvm::Type* type = values_.value_type(t);
    Value* neutral = llvm::ConstantFP::getInfinity(type, found.is_max);
    Value* index = element_index(*place.buffer, found.store->indices);
    Value* old = values_.from_storage(t, load_code(place, index));
    Value *best = slot(type), *seen = slot(b_.getInt1Ty());
    b_.CreateStore(neutral, best);
    b_.CreateStore(b_.getFalse(), seen);
    nest(node, extents, 0, [&] {
      for (const ir::Let* let : lets) statement(*let);
      Value* x = value(found.x);
      Value* is_number = b_.CreateFCmpORD(x, x);
      Value* candidate = b_.CreateSelect(is_number, x, neutral);
      llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
      llvm::FastMathFlags flags;
      flags.setNoNaNs();
      flags.setNoSignedZeros();
      b_.setFastMathFlags(flags);
      Value* current = b_.CreateLoad(type, best);
      auto id = found.is_max ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum;
      b_.CreateStore(b_.CreateBinaryIntrinsic(id, current, candidate), best);
      b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt1Ty(), seen), is_number), seen);
    });
    Value* merged = values_.binary(found.is_max ? BinaryOp::max : BinaryOp::min, t, old, b_.CreateLoad(type, best));
    Value* result = b_.CreateSelect(b_.CreateLoad(b_.getInt1Ty(), seen), merged, old);
    store_code(place, index, values_.to_storage(t, result));
  });
  return true;
}

}  // namespace tilewright::cpu
