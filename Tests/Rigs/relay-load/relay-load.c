// relay-load: RTMP publisher and players for load on a relay at 127.0.0.1. One thread, epoll; OpenSSL for RTMPS.
//
//   relay-load publish PORT APP STREAM SECONDS [tls=1]
//     30 frames a second (60 000 bytes each second, 15 200 bytes between), 47 audio frames of 340 bytes: 4.2 Mbit/s,
//     random bytes. Each video frame ends with "RLAT", u32 number, u64 CLOCK_MONOTONIC when it was sent.
//   relay-load play PORT APP STREAM COUNT SECONDS [tls=1] [pid=PID] [warm=2] [stagger=MS] [starve=KBIT]
//     Joins COUNT times, waits `warm` seconds after the last has its first key frame, then counts for SECONDS.
//     stagger: milliseconds between joins; 0: all at once
//     starve:  the first player reads no more than this, through a receive buffer of 4096 bytes
//     pid:     relay whose CPU (all threads, from /proc/PID/task/*/schedstat) and RSS are read in the same window
//   relay-load churn PORT APP STREAM COUNT SECONDS
//     COUNT players that come and go at random for SECONDS.
//   relay-load mutate PORT APP STREAM PER_SECOND SECONDS [http=1]
//     so many connections a second, each with a broken beginning of RTMP, or a broken request for a key, reset after a
//     moment; from 200 addresses of loopback, so that no limit of one address protects who is asked.
//
// One JSON object on standard output. Build: cc -O2 -o relay-load relay-load.c -lssl -lcrypto
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

enum { HANDSHAKE = 1 + 2 * 1536, BUFFER = 256 << 10, TEXT = 512, STAMP = 16, CHUNK = 4096, STREAMS = 16 };
enum { SET_CHUNK = 1, ACK = 3, USER = 4, WINDOW = 5, AUDIO = 8, VIDEO = 9, DATA = 18, COMMAND = 20 };
enum { KEY_BYTES = 60000, INTER_BYTES = 15200, SOUND_BYTES = 340, RATE = 30 };
static const u64 SECOND = 1000000000ull;

static u64 now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * SECOND + t.tv_nsec;
}
static void die(const char *what) {
  perror(what);
  exit(1);
}
static u32 be24(const u8 *p) { return (u32)p[0] << 16 | p[1] << 8 | p[2]; }
static u32 be32(const u8 *p) { return (u32)p[0] << 24 | be24(p + 1); }
static void put24(u8 *p, u32 v) { p[0] = v >> 16, p[1] = v >> 8, p[2] = v; }
static void put32(u8 *p, u32 v) { p[0] = v >> 24, put24(p + 1, v); }

// ---- one message that is being received, per chunk stream
typedef struct {
  u32 length, got;
  u8 type, extended, tail[STAMP], text[TEXT];
} Incoming;

typedef struct {
  int fd, index, publishes, greeted, started, dead, starved, waits;
  SSL *tls;
  Incoming in[STREAMS];
  u8 header[18], *out;
  int header_got, current, handshake_got;
  size_t out_length, out_room;
  u8 handshake[HANDSHAKE];
  u32 chunk, left, window, stream, last, frames;
  u64 received, acknowledged, budget, connected, played, key, leaves;
} Peer;

static const char *app, *name;
static int port, epoll_fd, measuring;
static SSL_CTX *context;
static u64 bytes, pictures, sounds, lost, resumed_on_key, resumed_on_inter, refusals, joins;
typedef struct {
  u32 *values;
  size_t count, room;
} Samples;
static Samples healthy, starving;

static void add(Samples *s, u64 nanoseconds) {
  if (s->count == s->room && !(s->values = realloc(s->values, (s->room = s->room ? 2 * s->room : 1 << 16) * 4)))
    die("realloc");
  u64 us = nanoseconds / 1000;
  s->values[s->count++] = us > UINT32_MAX ? UINT32_MAX : us;
}

// ---- sending
static void watch(Peer *p) {
  int wants = p->out_length > 0;
  if (p->publishes || wants == p->waits) return;
  p->waits = wants;
  struct epoll_event e = {.events = EPOLLIN | (wants ? EPOLLOUT : 0), .data.ptr = p};
  if (!p->starved || wants) epoll_ctl(epoll_fd, EPOLL_CTL_MOD, p->fd, &e);
}
static void flush(Peer *p) {
  while (p->out_length && !p->dead) {
    ssize_t n;
    if (p->tls) {
      n = SSL_write(p->tls, p->out, p->out_length);
      if (n <= 0) {
        int why = SSL_get_error(p->tls, n);
        if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) n = 0;
        else n = -1;
      }
    } else {
      n = send(p->fd, p->out, p->out_length, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && (errno == EAGAIN || errno == ENOTCONN)) n = 0;
    }
    if (n < 0) p->dead = 1;
    if (n <= 0) break;
    memmove(p->out, p->out + n, p->out_length - n);
    p->out_length -= n;
  }
  watch(p);
}
static void put(Peer *p, const void *data, size_t length) {
  if (p->out_length + length > p->out_room && !(p->out = realloc(p->out, p->out_room = 2 * (p->out_length + length))))
    die("realloc");
  memcpy(p->out + p->out_length, data, length);
  p->out_length += length;
}
// Format 0, then format 3. No time here reaches 2^24 ms (4.6 hours).
static void message(Peer *p, int chunk_stream, int type, u32 stream, u32 time, const u8 *body, u32 length, u32 chunk) {
  u8 h[12] = {chunk_stream};
  put24(h + 1, time), put24(h + 4, length);
  h[7] = type, h[8] = stream, h[9] = stream >> 8, h[10] = stream >> 16, h[11] = stream >> 24;
  put(p, h, 12);
  for (u32 at = 0; at < length; at += chunk) {
    if (at) put(p, (u8[]){0xc0 | chunk_stream}, 1);
    put(p, body + at, length - at < chunk ? length - at : chunk);
  }
}
typedef struct {
  u8 b[TEXT];
  int n;
} Amf;
static void key(Amf *a, const char *s) {
  int l = strlen(s);
  a->b[a->n++] = l >> 8, a->b[a->n++] = l;
  memcpy(a->b + a->n, s, l);
  a->n += l;
}
static void text(Amf *a, const char *s) { a->b[a->n++] = 2, key(a, s); }
static void number(Amf *a, double d) {
  u64 v;
  memcpy(&v, &d, 8);
  a->b[a->n++] = 0;
  for (int i = 56; i >= 0; i -= 8) a->b[a->n++] = v >> i;
}
static Amf call(const char *what, int transaction) {
  Amf a = {.n = 0};
  text(&a, what), number(&a, transaction);
  return a;
}
static void command(Peer *p, u32 stream, Amf *a) { message(p, 3, COMMAND, stream, 0, a->b, a->n, 128); }
static void control(Peer *p, int type, const u8 *body, int length) { message(p, 2, type, 0, 0, body, length, 128); }

// ---- the dialogue
static void on_command(Peer *p, const u8 *b, u32 n) {
  u32 l = n >= 3 && b[0] == 2 ? b[1] << 8 | b[2] : TEXT, at = 3 + l;
  if (at + 9 > n) return;
  u64 v = (u64)be32(b + at + 1) << 32 | be32(b + at + 5);
  double transaction;
  memcpy(&transaction, &v, 8);
  if (l == 7 && !memcmp(b + 3, "_result", 7)) {
    if (transaction == 1) {
      Amf a = call("createStream", 2);
      a.b[a.n++] = 5;
      command(p, 0, &a);
    } else if (transaction == 2) {
      Amf a = call(p->publishes ? "publish" : "play", 3);
      double id = 1;
      at += 9;
      if (at < n && b[at] == 5) at++;
      if (at + 9 <= n && b[at] == 0) v = (u64)be32(b + at + 1) << 32 | be32(b + at + 5), memcpy(&id, &v, 8);
      p->stream = id;
      a.b[a.n++] = 5, text(&a, name);
      if (p->publishes) text(&a, "live");
      else number(&a, -2000);
      p->played = now();
      command(p, p->stream, &a);
    }
  } else if (memmem(b, n, "Publish.Start", 13)) p->started = 1;
  else if (memmem(b, n, "\5error", 6) || (l == 6 && !memcmp(b + 3, "_error", 6))) {
    if (refusals++ < 3) {
      for (u32 i = 0; i < n; i++) fputc(b[i] >= 32 && b[i] < 127 ? b[i] : '.', stderr);
      fputc('\n', stderr);
    }
    p->dead = 1;
  }
}
static void on_picture(Peer *p, Incoming *m) {
  int is_key = m->text[0] >> 4 == 1;
  u64 t = now(), sent;
  u32 number;
  if (m->length < 64 || memcmp(m->tail, "RLAT", 4)) return;
  memcpy(&number, m->tail + 4, 4), memcpy(&sent, m->tail + 8, 8);
  if (is_key && !p->key) p->key = t;
  if (measuring) {
    pictures++;
    if (p->frames && number != p->last + 1) {
      if (!p->starved) lost += number - p->last - 1;
      if (is_key) resumed_on_key++;
      else resumed_on_inter++;
    }
    add(p->starved ? &starving : &healthy, t - sent);
  }
  p->frames++, p->last = number;
}
static void on_message(Peer *p, Incoming *m) {
  u32 kept = m->length < TEXT ? m->length : TEXT;
  switch (m->type) {
  case SET_CHUNK: p->chunk = be32(m->text); break;
  case WINDOW: p->window = be32(m->text); break;
  case USER:
    if (kept >= 6 && m->text[1] == 6) m->text[1] = 7, control(p, USER, m->text, 6);
    break;
  case AUDIO: sounds += measuring; break;
  case VIDEO: on_picture(p, m); break;
  case COMMAND: on_command(p, m->text, kept); break;
  }
}
static int header_length(Peer *p) {
  static const int lengths[4] = {12, 8, 4, 1};
  if (!p->header_got) return 1;
  int format = p->header[0] >> 6, stream = p->header[0] & 63, length = lengths[format];
  if (stream < 2 || stream >= STREAMS) return p->dead = 1, 1;
  if (p->header_got < length) return length;
  return length + 4 * (format < 3 ? be24(p->header + 1) == 0xffffff : p->in[stream].extended);
}
static void parse(Peer *p, const u8 *b, size_t n) {
  while (n && !p->dead) {
    if (!p->left) {
      p->header[p->header_got++] = *b++, n--;
      if (p->header_got < header_length(p)) continue;
      int format = p->header[0] >> 6;
      Incoming *m = &p->in[p->current = p->header[0] & 63];
      if (format < 3) m->extended = be24(p->header + 1) == 0xffffff;
      if (format < 2) m->length = be24(p->header + 4), m->type = p->header[7];
      p->header_got = 0;
      p->left = m->length - m->got < p->chunk ? m->length - m->got : p->chunk;
      continue;
    }
    Incoming *m = &p->in[p->current];
    u32 k = n < p->left ? n : p->left, at = m->got;
    if (at < TEXT) memcpy(m->text + at, b, TEXT - at < k ? TEXT - at : k);
    if (m->length >= STAMP && at + k > m->length - STAMP) {
      u32 first = m->length - STAMP, from = at > first ? at : first;
      memcpy(m->tail + (from - first), b + (from - at), at + k - from);
    }
    m->got += k, p->left -= k, b += k, n -= k;
    if (m->got == m->length) m->got = 0, on_message(p, m);
  }
}
static void greet(Peer *p, const u8 *b, size_t n) {
  if (!p->greeted) {
    size_t k = HANDSHAKE - p->handshake_got < (int)n ? (size_t)(HANDSHAKE - p->handshake_got) : n;
    memcpy(p->handshake + p->handshake_got, b, k);
    p->handshake_got += k, b += k, n -= k;
    if (p->handshake_got < HANDSHAKE) return;
    p->greeted = 1;
    put(p, p->handshake + 1, 1536);
    Amf a = call("connect", 1);
    char url[256];
    snprintf(url, sizeof url, "rtmp://127.0.0.1:%d/%s", port, app);
    a.b[a.n++] = 3;
    key(&a, "app"), text(&a, app), key(&a, "flashVer"), text(&a, "LNX 9,0,124,2"), key(&a, "tcUrl"), text(&a, url);
    key(&a, ""), a.b[a.n++] = 9;
    command(p, 0, &a);
  }
  parse(p, b, n);
}
static void receive(Peer *p) {
  static u8 buffer[BUFFER];
  for (int round = 0; round < 8 && !p->dead; round++) {
    size_t most = p->starved && p->budget < BUFFER ? p->budget : BUFFER;
    if (!most) break;
    ssize_t n;
    if (p->tls) {
      n = SSL_read(p->tls, buffer, most);
      if (n <= 0) {
        int why = SSL_get_error(p->tls, n);
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) p->dead = 1;
        break;
      }
    } else {
      n = recv(p->fd, buffer, most, MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EAGAIN)) p->dead = 1;
      if (n <= 0) break;
    }
    if (p->starved) p->budget -= n;
    p->received += n;
    if (measuring) bytes += n;
    if (p->window && p->received - p->acknowledged >= p->window / 2) {
      u8 total[4];
      put32(total, p->received);
      p->acknowledged = p->received;
      control(p, ACK, total, 4);
    }
    greet(p, buffer, n);
    if (!p->tls && n < BUFFER) break;
  }
  flush(p);
}
static void start(Peer *p, int blocking) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int one = 1, small = 4096;
  u8 hello[1537] = {3};
  Peer fresh = {.index = p->index, .publishes = p->publishes, .starved = p->starved, .out = p->out, .out_room = p->out_room,
                .chunk = 128, .connected = now()};
  *p = fresh;
  p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK), 0);
  if (p->fd < 0) die("socket");
  // Many addresses, as viewers have them: a relay limits what one of them may hold.
  struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + p->index % 250)};
  setsockopt(p->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  if (bind(p->fd, (void *)&from, sizeof from)) die("bind");
  if (p->starved) setsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(p->fd, (void *)&to, sizeof to) && errno != EINPROGRESS) die("connect");
  if (blocking) fcntl(p->fd, F_SETFL, O_NONBLOCK);
  if (context) {
    p->tls = SSL_new(context);
    SSL_set_fd(p->tls, p->fd);
    SSL_set_connect_state(p->tls);
    SSL_set_mode(p->tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  }
  for (int i = 9; i < 1537; i++) hello[i] = rand();
  put(p, hello, sizeof hello);
  if (!p->publishes) {
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT, .data.ptr = p};
    p->waits = 1;
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, p->fd, &e);
  }
  joins++;
}
static void stop(Peer *p) {
  if (p->tls) SSL_free(p->tls);
  close(p->fd);
  p->fd = -1, p->tls = NULL, p->out_length = 0;
}

// ---- what the relay costs
static double cpu_of(int pid) {
  char path[128];
  double total = 0;
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *d = opendir(path);
  if (!d) die(path);
  for (struct dirent *e; (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", pid, e->d_name);
    FILE *f = fopen(path, "r");
    unsigned long long ran = 0;
    if (f && fscanf(f, "%llu", &ran) == 1) total += ran / 1e9;
    if (f) fclose(f);
  }
  closedir(d);
  return total;
}
static double rss_of(int pid) {
  char path[64], line[128];
  long kilobytes = 0;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *f = fopen(path, "r");
  if (!f) die(path);
  while (fgets(line, sizeof line, f)) sscanf(line, "VmRSS: %ld", &kilobytes);
  fclose(f);
  return kilobytes / 1024.0;
}
static int ascending(const void *a, const void *b) {
  u32 x = *(const u32 *)a, y = *(const u32 *)b;
  return (x > y) - (x < y);
}
static void print(const char *what, Samples *s) {
  qsort(s->values, s->count, 4, ascending);
#define AT(q) (s->count ? s->values[(size_t)((s->count - 1) * (q))] / 1000.0 : -1)
  printf(",\"%s\":{\"n\":%zu,\"p50\":%.2f,\"p90\":%.2f,\"p99\":%.2f,\"max\":%.2f}", what, s->count, AT(.5), AT(.9), AT(.99),
         AT(1));
}

static long option(int argc, char **argv, const char *key, long otherwise) {
  size_t l = strlen(key);
  for (int i = 6; i < argc; i++)
    if (!strncmp(argv[i], key, l) && argv[i][l] == '=') return atol(argv[i] + l + 1);
  return otherwise;
}

static int play(int argc, char **argv, int churns) {
  int count = atoi(argv[5]), pid = option(argc, argv, "pid", 0), made = 0;
  u64 seconds = atol(argv[6]), warm = option(argc, argv, "warm", 2), stagger = option(argc, argv, "stagger", 0);
  u64 kbit = option(argc, argv, "starve", 0);
  Peer *peers = calloc(count, sizeof *peers);
  struct epoll_event events[256];
  u64 begin = now(), ready = 0, measured = 0, end = 0, refilled = begin, rss_at = 0;
  double cpu = 0, rss = 0, own = 0;
  if (!peers) die("calloc");
  if (churns) end = begin + seconds * SECOND;
  for (;;) {
    u64 t = now();
    while (made < count && t - begin >= stagger * 1000000 * (u64)made) {
      Peer *p = &peers[made];
      p->index = made, p->starved = kbit && !made;
      made++;
      start(p, 0);
      if (churns) p->leaves = t + SECOND / 10 + rand() % (10 * SECOND);
      if (made % 64 == 0) break; // what has come is read between
    }
    int n = epoll_wait(epoll_fd, events, 256, kbit || churns || made < count ? 2 : 50);
    for (int i = 0; i < n; i++) {
      Peer *p = events[i].data.ptr;
      if (p->fd < 0) continue;
      if (events[i].events & EPOLLOUT) flush(p);
      if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !(p->starved && p->greeted && p->key)) receive(p);
      if (p->dead) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, p->fd, NULL);
      else if (p->starved && p->key && p->budget == 0) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, p->fd, NULL);
    }
    t = now();
    if (kbit && t - refilled >= 10000000) {
      Peer *p = &peers[0];
      u64 more = (t - refilled) / 1000 * kbit / 8000;
      p->budget = p->key ? p->budget + more > 65536 ? 65536 : p->budget + more : 1 << 20;
      if (p->key && p->budget > 65536) p->budget = 0;
      if (!p->dead) receive(p);
      refilled = t;
    }
    if (churns) {
      for (int i = 0; i < made; i++)
        if (peers[i].dead || t >= peers[i].leaves) {
          stop(&peers[i]);
          start(&peers[i], 0);
          peers[i].leaves = t + SECOND / 10 + rand() % (10 * SECOND);
        }
      if (t >= end) break;
      continue;
    }
    if (!ready && made == count) {
      int waiting = 0;
      for (int i = 0; i < count; i++) waiting += !peers[i].key && !peers[i].dead;
      if (!waiting || t - begin > 60 * SECOND + stagger * 1000000 * count) ready = t + warm * SECOND;
    }
    if (ready && !measuring && t >= ready) {
      struct rusage u;
      getrusage(RUSAGE_SELF, &u);
      own = u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
      measuring = 1, measured = now(), end = measured + seconds * SECOND;
      if (pid) cpu = cpu_of(pid);
    }
    if (measuring && pid && t - rss_at > SECOND / 2) {
      double r = rss_of(pid);
      rss_at = t;
      if (r > rss) rss = r;
    }
    if (measuring && t >= end) break;
  }
  double run = (now() - (churns ? begin : measured)) / 1e9;
  if (pid && !churns) cpu = cpu_of(pid) - cpu;
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  own = u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6 - own;
  Samples from_connect = {0}, from_play = {0};
  int dead = 0, without = 0;
  for (int i = 0; i < count; i++) {
    dead += peers[i].dead;
    if (!peers[i].key) {
      without++;
      continue;
    }
    add(&from_connect, peers[i].key - peers[i].connected), add(&from_play, peers[i].key - peers[i].played);
  }
  printf("{\"players\":%d,\"joins\":%llu,\"seconds\":%.3f,\"bytes\":%llu,\"pictures\":%llu,\"sounds\":%llu,\"lost\":%llu,"
         "\"resumed_on_key\":%llu,\"resumed_on_inter\":%llu,\"closed\":%d,\"without_key\":%d,\"refused\":%llu,"
         "\"relay_cpu\":%.4f,\"relay_rss\":%.1f,\"own_cpu\":%.2f",
         count, (unsigned long long)joins, run, (unsigned long long)bytes, (unsigned long long)pictures,
         (unsigned long long)sounds, (unsigned long long)lost, (unsigned long long)resumed_on_key,
         (unsigned long long)resumed_on_inter, dead, without, (unsigned long long)refusals, cpu, rss, own);
  print("latency", &healthy), print("starved", &starving);
  print("connect_to_key", &from_connect), print("play_to_key", &from_play);
  puts("}");
  return 0;
}

static void until(Peer *p, int *condition) {
  u64 deadline = now() + 10 * SECOND;
  while (!*condition && !p->dead && now() < deadline) {
    flush(p);
    struct pollfd f = {p->fd, POLLIN, 0};
    poll(&f, 1, 20);
    receive(p);
  }
  if (*condition && !p->dead) return;
  fprintf(stderr, "the relay does not take the publisher\n");
  exit(2);
}
static void send_all(Peer *p) {
  for (flush(p); p->out_length && !p->dead; flush(p)) {
    struct pollfd f = {p->fd, POLLOUT, 0};
    poll(&f, 1, 100);
  }
}
static int publish(int argc, char **argv) {
  Peer *p = calloc(1, sizeof *p);
  u64 seconds = atol(argv[5]), picture = 0, sound = 0;
  u8 *body = malloc(KEY_BYTES), size[4];
  (void)argc;
  if (!p || !body) die("malloc");
  p->publishes = 1;
  start(p, 1);
  until(p, &p->greeted);
  until(p, &p->started);
  put32(size, CHUNK);
  control(p, SET_CHUNK, size, 4);
  Amf a = {.n = 0};
  text(&a, "@setDataFrame"), text(&a, "onMetaData");
  a.b[a.n++] = 8, put32(a.b + a.n, 2), a.n += 4;
  key(&a, "width"), number(&a, 1920), key(&a, "height"), number(&a, 1080), key(&a, ""), a.b[a.n++] = 9;
  message(p, 5, DATA, p->stream, 0, a.b, a.n, CHUNK);
  const u8 video[] = {0x17, 0, 0, 0, 0, 1, 0x4d, 0, 0x28, 0xff, 0xe1, 0, 4, 0x67, 0x4d, 0, 0x28, 1, 0, 4, 0x68, 0xee, 0x3c, 0x80};
  message(p, 6, VIDEO, p->stream, 0, video, sizeof video, CHUNK);
  message(p, 4, AUDIO, p->stream, 0, (u8[]){0xaf, 0, 0x11, 0x90}, 4, CHUNK);
  send_all(p);
  for (int i = 0; i < KEY_BYTES; i++) body[i] = rand();
  for (u64 begin = now(), length; !p->dead;) {
    u64 picture_due = picture * SECOND / RATE, sound_due = sound * 1024 * SECOND / 48000;
    int is_picture = picture_due <= sound_due;
    u64 due = is_picture ? picture_due : sound_due;
    if (due >= seconds * SECOND) break;
    struct timespec at = {(begin + due) / SECOND, (begin + due) % SECOND};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    if (is_picture) {
      int is_key = picture % RATE == 0;
      u64 t = now();
      u32 number = picture++;
      length = is_key ? KEY_BYTES : INTER_BYTES;
      // One NAL unit.
      memcpy(body, (u8[]){is_key ? 0x17 : 0x27, 1, 0, 0, 0}, 5), put32(body + 5, length - 9), body[9] = is_key ? 0x65 : 0x41;
      memcpy(body + length - 16, "RLAT", 4), memcpy(body + length - 12, &number, 4), memcpy(body + length - 8, &t, 8);
      message(p, 6, VIDEO, p->stream, due / 1000000, body, length, CHUNK);
    } else {
      sound++;
      body[0] = 0xaf, body[1] = 1;
      message(p, 4, AUDIO, p->stream, due / 1000000, body, SOUND_BYTES, CHUNK);
    }
    send_all(p);
    if (is_picture) receive(p);
  }
  printf("{\"pictures\":%llu,\"sounds\":%llu,\"closed\":%d}\n", (unsigned long long)picture, (unsigned long long)sound, p->dead);
  return p->dead ? 3 : 0;
}

// Each connection sends up to 4 KiB that begin like RTMP, with random bytes changed, and is reset 50 ms later.
// What the KAS is asked by viewers, with an invalid token.
static void ask_for_key(Peer *p) {
  static const char body[] =
      "{\"signedRequestToken\":\"eyJhbGciOiJFUzI1NiJ9.eyJyZXF1ZXN0Qm9keSI6InsgfSJ9.c2lnbmF0dXJl\",\"clientPublicKey\":\"-----BEGIN\"}";
  char text[1024];
  int n = snprintf(text, sizeof text,
                   "POST /kas/v2/rewrap HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer eyJhbGciOiJFUzI1NiJ9.e30.c2ln\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                   strlen(body), body);
  put(p, (u8 *)text, n);
}

static int mutate(int argc, char **argv) {
  enum { OPEN = 4096 };
  int http = option(argc, argv, "http", 0);
  u64 rate = atol(argv[5]), seconds = atol(argv[6]), begin = now(), made = 0, failed = 0;
  struct {
    int fd;
    u64 until;
  } *open = calloc(OPEN, sizeof *open);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct linger reset = {1, 0};
  u64 oldest = 0;
  Peer model = {.chunk = 128};
  u8 zeros[2 * 1536] = {0}, copy[8192];
  if (http)
    ask_for_key(&model);
  else
    put(&model, (u8[]){3}, 1), put(&model, zeros, sizeof zeros);
  Amf a = call("connect", 1), c = call("createStream", 2), q = call("play", 3);
  a.b[a.n++] = 3, key(&a, "app"), text(&a, app), key(&a, ""), a.b[a.n++] = 9;
  c.b[c.n++] = 5, q.b[q.n++] = 5, text(&q, name);
  if (!http) command(&model, 0, &a), command(&model, 0, &c), command(&model, 1, &q);
  if (!open || model.out_length > sizeof copy) die("calloc");
  while (now() - begin < seconds * SECOND) {
    u64 t = now();
    while (oldest < made && (open[oldest % OPEN].until <= t || made - oldest == OPEN)) {
      if (open[oldest % OPEN].fd >= 0) close(open[oldest % OPEN].fd);
      oldest++;
    }
    if (made >= (t - begin) * rate / SECOND) {
      usleep(500);
      continue;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) die("socket");
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7F030001 + made % 200)};
    if (bind(fd, (void *)&from, sizeof from)) die("bind");
    if (connect(fd, (void *)&to, sizeof to) && errno != EINPROGRESS) failed++;
    memcpy(copy, model.out, model.out_length);
    for (int i = 0; i < 8; i++)
      copy[http ? rand() % (int)model.out_length : i ? 3073 + rand() % ((int)model.out_length - 3073) : 1 + rand() % 3072] =
          rand();
    struct pollfd f = {fd, POLLOUT, 0};
    poll(&f, 1, 5);
    if (send(fd, copy, model.out_length - rand() % 64, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) failed++;
    open[made % OPEN].fd = fd, open[made % OPEN].until = t + SECOND / 20;
    made++;
  }
  printf("{\"connections\":%llu,\"per_second\":%.0f,\"failed\":%llu}\n", (unsigned long long)made,
         made / ((now() - begin) / 1e9), (unsigned long long)failed);
  return 0;
}

int main(int argc, char **argv) {
  struct rlimit files;
  int wanted = argc > 1 && !strcmp(argv[1], "publish") ? 6 : 7;
  if (argc < wanted) return fputs("usage: relay-load publish|play|churn|mutate PORT APP STREAM … (see the source)\n", stderr), 2;
  port = atoi(argv[2]), app = argv[3], name = argv[4];
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (option(argc, argv, "tls", 0) && !(context = SSL_CTX_new(TLS_client_method()))) die("TLS");
  if (!strcmp(argv[1], "publish")) return publish(argc, argv);
  if (!strcmp(argv[1], "mutate")) return mutate(argc, argv);
  return play(argc, argv, !strcmp(argv[1], "churn"));
}
