#pragma once
// Compiles the texts of an emulator together: one run of the host's compiler costs much more than one kernel does.
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tilewright/error.h"

namespace tilewright {

/// The texts that were loaded and never launched. `Text` is what the emulator compiles, `Code` what it launches.
template <class Text, class Code>
class Batch {
 public:
  using Compile = std::function<std::vector<Code>(const std::vector<Text>&)>;  // one Code a Text, in order
  explicit Batch(Compile compile) : compile_(std::move(compile)) {}

  /// The texts of one artifact. Dropped before a launch, they are never compiled.
  class Member : public std::enable_shared_from_this<Member> {
   public:
    /// The code of each text, compiled now when it is not. DeviceError when a text does not compile.
    const std::vector<Code>& code() const { return batch_->code(this->shared_from_this()); }

   private:
    friend Batch;
    Member(Batch* batch, std::vector<Text> texts) : batch_(batch), texts_(std::move(texts)) {}
    Batch* batch_;
    std::vector<Text> texts_;
    mutable std::vector<Code> code_;
  };

  std::shared_ptr<Member> add(std::vector<Text> texts) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Member> member(new Member(this, std::move(texts)));
    waiting_.push_back(member);
    return member;
  }

 private:
  using Members = std::vector<std::shared_ptr<const Member>>;

  /// Compiles the member, unless it is, and all that waits with it. One that does not compile is no other's fault.
  const std::vector<Code>& code(const std::shared_ptr<const Member>& member) {
    const std::lock_guard lock(mutex_);
    if (!member->code_.empty()) return member->code_;
    Members members{member};
    for (const std::weak_ptr<const Member>& weak : waiting_)
      if (std::shared_ptr<const Member> other = weak.lock(); other && other != member)
        members.push_back(std::move(other));
    waiting_.clear();
    try {
      compile(members);
    } catch (const DeviceError&) {
      if (members.size() == 1) throw;
      waiting_.assign(members.begin() + 1, members.end());
      compile({member});
    }
    return member->code_;
  }

  void compile(const Members& members) {
    std::vector<Text> texts;
    for (const auto& member : members) texts.insert(texts.end(), member->texts_.begin(), member->texts_.end());
    std::vector<Code> codes = compile_(texts);
    auto next = codes.begin();
    for (const auto& member : members)
      for (size_t i = 0; i < member->texts_.size(); ++i) member->code_.push_back(std::move(*next++));
  }

  Compile compile_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<const Member>> waiting_;
};

}  // namespace tilewright
