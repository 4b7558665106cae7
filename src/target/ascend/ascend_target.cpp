#include "target/ascend/ascend_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/build.h"
#include "ir/region.h"
#include "ir/walk.h"
#include "target/ascend/refuse.h"
#include "target/ascend/scalar_rules.h"
#include "target/ascend/transfer.h"
#include "target/common/c_names.h"
#include "target/common/c_text.h"

namespace tilewright::ascend {
namespace {

using namespace ir;

std::string type_name(DType t) {
  if (t.is_bool()) return "bool";
  if (t == f32) return "float";
  if (t == f16) return "half";
  if (t == bf16) return "bfloat16_t";
  TW_CHECK(t.is_int(), fmt::format("Ascend C has no type for {}", to_string(t)));
  return fmt::format("{}int{}_t", t.is_signed_int() ? "" : "u", static_cast<int>(t.bits));
}

std::string read(const Buffer& buffer, const std::string& offset) {
  TW_CHECK(buffer.space != Space::global, fmt::format("an element of global memory, {}, is read", buffer.name));
  return fmt::format("{}.GetValue({})", buffer.name, offset);
}
std::string write(const Buffer& buffer, const std::string& offset, const std::string& value) {
  TW_CHECK(buffer.space != Space::global, fmt::format("an element of global memory, {}, is written", buffer.name));
  return fmt::format("{}.SetValue({}, {});", buffer.name, offset, value);
}
// The scalar unit has conversions between half and float; those of bfloat16_t are functions.
std::string widen(DType from, const std::string& value) {
  return fmt::format("{}({})", from == bf16 ? "AscendC::ToFloat" : "static_cast<float>", value);
}
std::string narrow(DType to, const std::string& value, Overflow) {
  return fmt::format("{}({})", to == bf16 ? "AscendC::ToBfloat16" : "static_cast<half>", value);
}

/// What only the engines form has.
bool statement(const Stmt& s, CText& out) {
  if (const auto* on = as<OnEngine>(s)) {
    if (const auto* copy = as<Copy>(on->body))
      print_copy(*copy, out);
    else
      out.statement(on->body);
  } else if (const auto* set = as<SetFlag>(s)) {
    out.line(fmt::format("AscendC::SetFlag<AscendC::HardEvent::{}_{}>({});", set->from, set->to, set->id));
  } else if (const auto* wait = as<WaitFlag>(s)) {
    out.line(fmt::format("AscendC::WaitFlag<AscendC::HardEvent::{}_{}>({});", wait->from, wait->to, wait->id));
  } else if (const auto* barrier = as<EngineBarrier>(s)) {
    out.line(fmt::format("AscendC::PipeBarrier<PIPE_{}>();", barrier->engine));
  } else if (const auto* alloc = as<Alloc>(s)) {
    const Buffer& b = *alloc->buffer;
    out.line(fmt::format("AscendC::LocalTensor<{}> {}(AscendC::TPosition::VECIN, {}, {});", type_name(b.dtype), b.name,
                         b.offset, element_count(b)));
  } else {
    return false;
  }
  return true;
}

const Dialect kDialect{"tw::", type_name, read, write, widen, narrow, statement};

/// The kernel function of one phase.
void print_phase(const Kernel& kernel, const For& cores, const std::string& entry, CText& out) {
  std::string parameters;
  for (const auto& tensor : kernel.params)
    parameters += fmt::format("{}GM_ADDR {}_", parameters.empty() ? "" : ", ", tensor->name);
  for (const auto& scalar : kernel.scalars)
    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ", type_name(scalar->type), scalar->name);
  out.open(fmt::format("extern \"C\" __global__ __vector__ void {}({})", entry, parameters));
  out.line("AscendC::InitSocState();");
  for (const auto& tensor : kernel.params) {
    const std::string type = type_name(tensor->dtype);
    out.line(fmt::format("AscendC::GlobalTensor<{}> {};", type, tensor->name));
    out.line(fmt::format("{0}.SetGlobalBuffer(reinterpret_cast<__gm__ {1}*>({0}_));", tensor->name, type));
  }
  const Range range{0, std::max<Wide>(1, out.known().range(cores.extents[0]).hi) - 1};
  out.line(
      fmt::format("const {} {} = AscendC::GetBlockIdx();", out.declare(cores.vars[0], range), cores.vars[0]->name));
  out.statement(cores.body);
  out.close();
}

}  // namespace

AscendTarget::AscendTarget(int64_t cores) {
  caps_.target = "ascend";
  caps_.arch = "2201";
  caps_.model = Model::engines;
  // What a kernel may use of the 192 KiB; rows of tiles begin where a transfer may begin.
  caps_.memories = {{.name = "UB", .bytes = 196352, .alignment = kUnit, .row_alignment = kUnit}};
  for (Space space : {Space::shared, Space::fragment, Space::local, Space::var})
    caps_.memory_of[static_cast<int>(space)] = "UB";
  caps_.engines = {{.name = "S", .issues = true, .scalar = true, .self_ordered = true},
                   {.name = "V", .self_ordered = false},
                   {.name = "MTE2", .self_ordered = false},
                   {.name = "MTE3", .self_ordered = false}};
  caps_.paths = {{"", "UB", "MTE2"}, {"UB", "", "MTE3"}};
  caps_.flags_per_pair = 8;
  caps_.cores = cores;
  caps_.storage_types = {f32, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64};
  caps_.arithmetic_types = {boolean, f32, i8, i16, i32, i64, u8, u16, u32, u64};
}

std::optional<std::string> AscendTarget::refuse(const StmtNode& s) const { return refuse_statement(s); }

Artifact AscendTarget::emit(const Ref<Kernel>& final_stage, const LaunchPlan& plan) const {
  Artifact artifact{"ascend", caps_.arch, "Ascend C", "", "", plan};
  std::vector<std::string> reserved{"AscendC", "half", "bfloat16_t"};
  for (Phase& phase : artifact.plan.phases) {
    phase.entry = c_name(phase.entry);
    reserved.push_back(phase.entry);
  }
  const Ref<Kernel> kernel = with_c_names(final_stage, reserved);
  const Stmts phases = ir::phases(*kernel);
  TW_CHECK(phases.size() == plan.phases.size(), "the launch plan has another number of phases than the kernel");
  CText out(kDialect);
  out.known().bind_scalars(*kernel);
  for (size_t i = 0; i < phases.size(); ++i) {
    if (i) out.line("");
    print_phase(*kernel, static_cast<const For&>(*phases[i]), artifact.plan.phases[i].entry, out);
  }
  std::string head = "#include \"kernel_operator.h\"\n\n";
  if (std::string rules = scalar_rules_for(out.text()); !rules.empty()) head += rules + "\n";
  artifact.text = head + out.text();
  artifact.lines.resize(static_cast<size_t>(std::count(head.begin(), head.end(), '\n')));
  artifact.lines.insert(artifact.lines.end(), out.lines().begin(), out.lines().end());
  return artifact;
}

}  // namespace tilewright::ascend
