#include "libcore/ranks/mpi.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "libcore/base/stopwatch.h"

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
/// Takes the place of the C library's function in the whole process, for the sake of UCX. Open MPI 5 links it, so that
/// it begins before main(), and no setenv() comes early enough: each process, of several ranks or not, would get a
/// thread of UCX, and its errors on standard output, in front of a document of --json ("failed to get boot id" where
/// /proc/sys is hidden). Here its log is standard error and that thread off, unless the environment says otherwise.
/// Source: UCX 1.18, `ucx_info -c -f`: UCX_LOG_FILE, UCX_VFS_ENABLE.
extern "C" char* getenv(const char* name) noexcept {
  static char log_file[] = "stderr", vfs_enable[] = "n";
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  if (std::strcmp(name, "UCX_LOG_FILE") == 0) return log_file;
  return std::strcmp(name, "UCX_VFS_ENABLE") == 0 ? vfs_enable : nullptr;
}
#endif

namespace voxshard {
namespace {

constexpr std::size_t kMostBytesOfAPart = std::size_t{1} << 30;  // MPI counts in int
constexpr int kErrorTag = 1;
constexpr std::size_t kMostBytesOfAnError = 8192;
constexpr double kWaitAfterAnError_s = 60;  // a rank polls for errors only when its task ends

void require(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ErrorKind::kInternal, "E_MPI",
              "[mpi] " + what + ": " + std::string(text, static_cast<std::size_t>(length)) +
                  "; check the network between the hosts and that all ranks run");
}

std::string host_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  require(MPI_Get_processor_name(name, &length), "the name of this host");
  return {name, static_cast<std::size_t>(length)};
}

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    // With more ranks than processors Open MPI yields at every poll. We switch that off: Pause sleeps between two
    // polls.
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
    int provided = MPI_THREAD_SINGLE;
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "starting MPI");
    require(MPI_Comm_dup(MPI_COMM_WORLD, &data_), "a communicator");
    require(MPI_Comm_dup(MPI_COMM_WORLD, &errors_), "a communicator");
    for (MPI_Comm comm : {data_, errors_, MPI_COMM_WORLD})
      require(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "its error handler");
    require(MPI_Comm_rank(data_, &rank_), "this rank");
    require(MPI_Comm_size(data_, &ranks_), "the number of ranks");
    gather_hosts();
    if (provided < MPI_THREAD_SERIALIZED) {
      MPI_Finalize();
      throw Error(ErrorKind::kConfig, "[mpi] " + mpi_library() +
                                          " is built without threads (MPI_THREAD_SERIALIZED); use another build of it");
    }
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  ~MpiTransport() override {
    for (MPI_Comm* comm : {&data_, &errors_})
      if (!failed_) MPI_Comm_free(comm);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  int ranks_here() const override { return static_cast<int>(std::count(hosts_.begin(), hosts_.end(), hosts_[rank_])); }
  std::string name(int rank) const override { return Transport::name(rank) + " on " + hosts_[rank]; }

  bool done(MessageId id) override {
    const auto at = under_way_.find(id);
    ensure(at != under_way_.end(), "what is waited for is under way");
    Message& message = at->second;
    while (message.through < message.parts.size()) {
      int through = 0;
      MPI_Status status;
      Part& part = message.parts[message.through];
      require(MPI_Test(&part.request, &through, &status), message.what());
      if (through == 0) {
        listen();
        return false;
      }
      if (message.receives) {
        int bytes = 0;
        require(MPI_Get_count(&status, MPI_BYTE, &bytes), message.what());
        ensure(bytes == part.bytes, "a message has the size that was expected: all ranks run the same program");
      }
      ++message.through;
    }
    under_way_.erase(at);
    return true;
  }

  void drop(MessageId id) override {
    const auto at = under_way_.find(id);
    if (failed_ || at == under_way_.end()) return;
    end_receives(at->second, Stopwatch());
    for (Part& part : at->second.parts)
      if (part.request != MPI_REQUEST_NULL) MPI_Request_free(&part.request);
    under_way_.erase(at);
  }

  void announce_error(const Error& error) override {
    if (failed_) return;  // the other ranks know of this error or of another
    announced_ = serialise_error(error).substr(0, kMostBytesOfAnError);
    for (int to = 0; to < ranks_; ++to) {
      if (to == rank_) continue;
      MPI_Request request;
      if (MPI_Isend(announced_.data(), static_cast<int>(announced_.size()), MPI_BYTE, to, kErrorTag, errors_,
                    &request) == MPI_SUCCESS)
        MPI_Request_free(&request);  // delivery is not awaited: this rank ends
    }
    meet_after_an_error();
  }

 protected:
  MessageId begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    return begin({.peer = name(to), .receives = false}, bytes.size(),
                 [&](std::size_t at, int count, MPI_Request* request) {
                   return MPI_Isend(bytes.data() + at, count, MPI_BYTE, to, tag, data_, request);
                 });
  }
  MessageId begin_receive(int from, int tag, std::span<std::byte> bytes) override {
    return begin({.peer = name(from), .receives = true}, bytes.size(),
                 [&](std::size_t at, int count, MPI_Request* request) {
                   return MPI_Irecv(bytes.data() + at, count, MPI_BYTE, from, tag, data_, request);
                 });
  }

 private:
  struct Part {
    MPI_Request request = MPI_REQUEST_NULL;
    int bytes = 0;
  };
  struct Message {
    std::string peer;
    bool receives = false;
    std::vector<Part> parts;
    std::size_t through = 0;  // parts that have completed
    std::string what() const { return (receives ? "a message from " : "a message to ") + peer; }
  };

  MessageId begin(Message message, std::size_t bytes, const std::function<int(std::size_t, int, MPI_Request*)>& start) {
    for (std::size_t at = 0; at == 0 || at < bytes; at += kMostBytesOfAPart) {
      Part& part = message.parts.emplace_back();
      part.bytes = static_cast<int>(std::min(bytes - at, kMostBytesOfAPart));
      require(start(at, part.bytes, &part.request), message.what());
    }
    under_way_.emplace(++last_, std::move(message));
    return last_;
  }

  /// Throws when another rank has announced an error.
  void listen() {
    int serialise_error = 0;
    MPI_Status status;
    require(MPI_Iprobe(MPI_ANY_SOURCE, kErrorTag, errors_, &serialise_error, &status), "errors of other ranks");
    if (serialise_error == 0) return;
    int bytes = 0;
    require(MPI_Get_count(&status, MPI_BYTE, &bytes), "errors of other ranks");
    ensure(bytes >= 0 && static_cast<std::size_t>(bytes) <= kMostBytesOfAnError, "an error of another rank is short");
    std::string text(static_cast<std::size_t>(bytes), '\0');
    require(MPI_Recv(text.data(), bytes, MPI_BYTE, status.MPI_SOURCE, kErrorTag, errors_, MPI_STATUS_IGNORE),
            "errors of other ranks");
    meet_after_an_error();
    throw parse_error(text, name(status.MPI_SOURCE));
  }

  void gather_hosts() {
    std::string own = host_name();
    own.resize(MPI_MAX_PROCESSOR_NAME, '\0');
    std::string all(static_cast<std::size_t>(ranks_) * MPI_MAX_PROCESSOR_NAME, '\0');
    require(MPI_Allgather(own.data(), MPI_MAX_PROCESSOR_NAME, MPI_BYTE, all.data(), MPI_MAX_PROCESSOR_NAME, MPI_BYTE,
                          data_),
            "the names of the hosts");
    for (int r = 0; r < ranks_; ++r)
      hosts_.emplace_back(all.c_str() + static_cast<std::size_t>(r) * MPI_MAX_PROCESSOR_NAME);
  }

  /// Cancels the receives of a message and waits until nobody writes to its memory: a receive that is already matched
  /// with its send cannot be cancelled.
  static void end_receives(Message& message, const Stopwatch& since) {
    for (Part& part : message.parts) {
      if (!message.receives || part.request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&part.request);
      int ended = 0;
      for (Pause pause; ended == 0 && since.seconds() < kWaitAfterAnError_s; pause())
        if (MPI_Test(&part.request, &ended, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    }
  }

  /// Waits for the other ranks while all memory of messages still exists: messages already matched complete before this
  /// barrier, and none is transferred after it. Each rank does it once.
  void meet_after_an_error() {
    if (failed_) return;
    failed_ = true;
    const Stopwatch watch;
    for (auto& [id, message] : under_way_) end_receives(message, watch);
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Ibarrier(errors_, &request) != MPI_SUCCESS) return;
    int met = 0;
    for (Pause pause; met == 0 && watch.seconds() < kWaitAfterAnError_s; pause())
      if (MPI_Test(&request, &met, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
  }

  MPI_Comm data_ = MPI_COMM_NULL, errors_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  std::vector<std::string> hosts_;  // per rank
  std::map<MessageId, Message> under_way_;
  MessageId last_ = 0;
  bool failed_ = false;
  std::string announced_;
};

}  // namespace

bool built_with_mpi() { return true; }

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  require(MPI_Get_library_version(text, &length), "the version of MPI");
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

std::unique_ptr<Transport> start_mpi() { return std::make_unique<MpiTransport>(); }

}  // namespace voxshard
