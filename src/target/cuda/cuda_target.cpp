#include "target/cuda/cuda_target.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ir/build.h"
#include "ir/region.h"
#include "ir/walk.h"
#include "target/common/c_names.h"
#include "target/common/c_text.h"

namespace tilewright::cuda {
namespace {

using namespace ir;

std::string type_name(DType t) {
  if (t.is_bool()) return "bool";
  if (t == f32) return "float";
  if (t == f64) return "double";
  return "tw::" + to_string(t);
}

std::string read(const Buffer& buffer, const std::string& offset) { return fmt::format("{}[{}]", buffer.name, offset); }
std::string write(const Buffer& buffer, const std::string& offset, const std::string& value) {
  return fmt::format("{}[{}] = {};", buffer.name, offset, value);
}
std::string widen(DType, const std::string& value) { return fmt::format("tw::to_f32({})", value); }
std::string narrow(DType to, const std::string& value, Overflow overflow) {
  return fmt::format("tw::narrow<{}{}>({})", type_name(to), overflow == Overflow::saturate ? "" : ", false", value);
}

/// The memory of one thread: tiles made inside `parallel`.
constexpr const char* kLocal = "local";

/// What only the threads form has.
bool statement(const Stmt& s, CText& out) {
  if (s->kind == Kind::Barrier) {
    out.line("tw::barrier();");
    return true;
  }
  if (const auto* mma = as<Mma>(s)) {
    auto part = [&](const Ref<Buffer>& b, const Expr& at) {
      const std::string offset = out.offset(*b, {at});
      return offset == "0" ? b->name : fmt::format("{} + {}", b->name, offset);
    };
    out.line(fmt::format("tw::mma_{}({}, {}, {});", mma->unit, part(mma->c, mma->c_at), part(mma->a, mma->a_at),
                         part(mma->b, mma->b_at)));
    return true;
  }
  if (const auto* alloc = as<Alloc>(s)) {
    const Buffer& b = *alloc->buffer;
    const int64_t count = element_count(b);
    if (b.memory == kLocal)
      out.line(fmt::format("{} {}[{}];", type_name(b.dtype), b.name, std::max<int64_t>(count, 1)));
    else
      out.line(fmt::format("const auto {0} = tw::shared_at<{1}>({2}, {3}, \"{0}\");", b.name, type_name(b.dtype),
                           b.offset, count));
    return true;
  }
  if (const auto* loop = as<For>(s); loop && loop->how == LoopKind::threads) {
    const Range range{0, out.known().range(loop->extents[0]).hi - 1};
    out.line(fmt::format("const {} {} = threadIdx.x;", out.declare(loop->vars[0], range), loop->vars[0]->name));
    out.statement(loop->body);
    return true;
  }
  return false;
}

const Dialect kDialect{"tw::", type_name, read, write, widen, narrow, statement, "int"};

/// Names of CUDA C++, and macros.
const std::vector<std::string> kReserved{"threadIdx", "blockIdx", "blockDim",  "gridDim", "warpSize", "linux",
                                         "unix",      "NULL",     "TW_DEVICE", "TW_F32",  "TW_F64"};

std::string signature(const Kernel& kernel, const LaunchPlan& plan, const Phase& phase) {
  std::string list;
  for (size_t i = 0; i < kernel.params.size(); ++i)
    list += fmt::format("{}tw::argument<{}{}> {}", list.empty() ? "" : ", ",
                        plan.tensors[i].access == Access::in ? "const " : "", type_name(kernel.params[i]->dtype),
                        kernel.params[i]->name);
  for (const auto& s : kernel.scalars)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", type_name(s->type), s->name);
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({})", phase.threads, phase.entry, list);
}

/// What a block may have of a multiprocessor's shared memory.
int64_t shared_bytes(const std::string& arch) {
  constexpr int64_t kKibi = 1024;
  if (arch.starts_with("sm_90") || arch.starts_with("sm_10")) return 227 * kKibi;
  return arch == "sm_80" || arch == "sm_87" ? 163 * kKibi : 99 * kKibi;
}

}  // namespace

CudaTarget::CudaTarget(std::string arch) {
  caps_.target = "cuda";
  caps_.arch = std::move(arch);
  caps_.model = Model::threads;
  caps_.memories = {{.name = "shared", .bytes = shared_bytes(caps_.arch), .alignment = 16},
                    {.name = kLocal, .bytes = 64 * 1024, .alignment = 16}};
  caps_.iteration_memory = kLocal;
  for (Space space : {Space::shared, Space::fragment, Space::local, Space::var})
    caps_.memory_of[static_cast<int>(space)] = "shared";
  caps_.lanes = 32;
  caps_.matrix_units = {
      {"m16n8k16", {f16, bf16}, f32, known::mma_a(16), known::mma_b(16), known::mma_c()},
  };
  caps_.register_bytes = 768;
  caps_.max_threads = 1024;
  caps_.max_blocks = INT32_MAX;
  caps_.arithmetic_types = {boolean, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64};
  caps_.storage_types = caps_.arithmetic_types;
  for (DType t : {f16, bf16, e4m3, e5m2}) caps_.storage_types.push_back(t);
}

Artifact CudaTarget::emit(const Ref<Kernel>& final_stage, const LaunchPlan& plan) const {
  Artifact artifact{"cuda", caps_.arch, "CUDA C++", "", "", plan};
  for (Phase& phase : artifact.plan.phases) phase.entry += "_kernel";  // the name of no built-in function
  const Ref<Kernel> kernel = with_c_names(final_stage, kReserved);
  CText out(kDialect);
  out.known().bind_scalars(*kernel);
  const Stmts phases = ir::phases(*kernel);
  TW_CHECK(phases.size() == plan.phases.size(), "the launch plan has another number of phases than the kernel");
  for (size_t i = 0; i < phases.size(); ++i) {
    const auto& blocks = static_cast<const For&>(*phases[i]);
    if (i) out.line("");
    out.open(signature(*kernel, plan, artifact.plan.phases[i]));
    const Range range{0,
                      std::max<Wide>(1, std::min<Wide>(out.known().range(blocks.extents[0]).hi, caps_.max_blocks)) - 1};
    out.line(fmt::format("const {} {} = blockIdx.x;", out.declare(blocks.vars[0], range), blocks.vars[0]->name));
    out.statement(blocks.body);
    out.close();
  }
  artifact.text = out.text();
  artifact.lines = out.lines();
  return artifact;
}

}  // namespace tilewright::cuda
