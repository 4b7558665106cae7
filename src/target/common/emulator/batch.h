#pragma once
// Compiles the texts of an emulator together: one run of the host's compiler costs much more than one kernel does.
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tilewright {

/// The texts that were loaded and never launched. `Text` is what the emulator compiles, `Code` what it launches.
template <class Text, class Code>
class Batch {
 public:
  using Compile = std::function<std::vector<Code>(const std::vector<Text>&)>;  // one Code a Text, in order
  explicit Batch(Compile compile) : compile_(std::move(compile)) {}

  /// The texts of one artifact. Dropped before a launch, they are never compiled.
  class Member {
   public:
    const std::vector<Code>& code() const { return batch_->code(*this); }

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
  /// Compiles what waits, unless the member is compiled already.
  const std::vector<Code>& code(const Member& member) {
    const std::lock_guard lock(mutex_);
    if (!member.code_.empty() || member.texts_.empty()) return member.code_;
    std::vector<std::shared_ptr<Member>> members;
    std::vector<Text> texts;
    for (const std::weak_ptr<Member>& weak : waiting_)
      if (std::shared_ptr<Member> m = weak.lock()) {
        texts.insert(texts.end(), m->texts_.begin(), m->texts_.end());
        members.push_back(std::move(m));
      }
    waiting_.clear();
    std::vector<Code> codes = compile_(texts);
    auto next = codes.begin();
    for (const std::shared_ptr<Member>& m : members)
      for (size_t i = 0; i < m->texts_.size(); ++i) m->code_.push_back(std::move(*next++));
    return member.code_;
  }

  Compile compile_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Member>> waiting_;
};

}  // namespace tilewright
