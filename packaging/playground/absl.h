// The parts of Abseil that RE2 uses, for one thread, by the standard library.
#pragma once
#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace absl {
using std::string_view;
template <class K, class V> using flat_hash_map = std::unordered_map<K, V>;
template <class K, class H = std::hash<K>, class E = std::equal_to<K>> using flat_hash_set = std::unordered_set<K, H, E>;
template <class T> struct Span : std::span<T> {
  using std::span<T>::span;
  friend bool operator==(const Span& a, const Span& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
};
template <class T, size_t N = 0, class A = std::allocator<T>> using InlinedVector = std::vector<T>;
template <class T, size_t N = 0> struct FixedArray : std::vector<T> {
  using std::vector<T>::vector;
};

struct once_flag { bool done = false; };
template <class F, class... A> void call_once(once_flag& flag, F&& f, A&&... a) {
  if (!flag.done) { flag.done = true; std::invoke(std::forward<F>(f), std::forward<A>(a)...); }
}

struct Mutex {
  void lock() {} void unlock() {} void lock_shared() {} void unlock_shared() {}
  void Lock() {} void Unlock() {} void ReaderLock() {} void ReaderUnlock() {} void WriterLock() {} void WriterUnlock() {}
};
struct MutexLock { explicit MutexLock(Mutex*) {} explicit MutexLock(Mutex&) {} };

struct HashState {
  uint64_t sum = 14695981039346656037ull;
  template <class T> static HashState add(HashState h, T v) {
    h.sum = (h.sum ^ static_cast<uint64_t>(v)) * 1099511628211ull; h.sum ^= h.sum >> 29; return h;
  }
  template <class V> static HashState combine(HashState h, uint32_t flag, const V& values) {
    h = add(h, flag);
    for (const auto& one : values) h = add(h, one);
    return add(h, values.size());
  }
};
template <class T> struct Hash {
  size_t operator()(const T& v) const { return static_cast<size_t>(AbslHashValue(HashState(), v).sum); }
};

inline bool ascii_isdigit(unsigned char c) { return c >= '0' && c <= '9'; }
inline bool ascii_isspace(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13); }
inline bool ascii_isalnum(unsigned char c) { return ascii_isdigit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

inline const char* plain(const std::string& s) { return s.c_str(); }
template <class T> T plain(T v) { return v; }
template <class... A> std::string StrFormat(const char* format, const A&... a) {
  char out[512];
  if constexpr (sizeof...(A) == 0) return format;
  else std::snprintf(out, sizeof out, format, plain(a)...);
  return out;
}
template <class... A> void FPrintF(FILE*, const char*, const A&...) {}
}  // namespace absl

struct Silent {
  template <class T> Silent& operator<<(const T&) { return *this; }
};
struct Fatal : Silent { ~Fatal() { abort(); } };
#define SHIM_LOG_INFO Silent()
#define SHIM_LOG_WARNING Silent()
#define SHIM_LOG_ERROR Silent()
#define SHIM_LOG_FATAL Fatal()
#define SHIM_LOG_DFATAL Silent()
#define ABSL_LOG(level) SHIM_LOG_##level
#define ABSL_CHECK(held) if (held) {} else Fatal()
#define ABSL_CHECK_EQ(a, b) ABSL_CHECK((a) == (b))
#define ABSL_DCHECK(held) if (true) {} else Silent()
#define ABSL_DCHECK_EQ(a, b) ABSL_DCHECK((a) == (b))
#define ABSL_DCHECK_NE(a, b) ABSL_DCHECK((a) != (b))
#define ABSL_DCHECK_LE(a, b) ABSL_DCHECK((a) <= (b))
#define ABSL_DCHECK_GE(a, b) ABSL_DCHECK((a) >= (b))
#define ABSL_ARRAYSIZE(array) (sizeof(array) / sizeof((array)[0]))
#define ABSL_NO_THREAD_SAFETY_ANALYSIS
#define ABSL_GUARDED_BY(x)
#define ABSL_EXCLUSIVE_LOCKS_REQUIRED(...)
#define ABSL_LOCKS_EXCLUDED(...)
#define ABSL_FALLTHROUGH_INTENDED [[fallthrough]]
