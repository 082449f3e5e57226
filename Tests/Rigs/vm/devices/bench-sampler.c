// What vm-bench measures with, inside the guest. Instants are of CLOCK_MONOTONIC, nanoseconds.
//
//   bench-sampler stamp                          each line of standard input, with the instant when it was there
//   bench-sampler delay                          200 lines with the instant when they were written
//   bench-sampler unit GROUP WARM SECONDS        after WARM seconds: begin, end, microseconds of CPU that the control group used
//   bench-sampler progress GROUP WARM SECONDS    the same, and pictures, from one report of `ffmpeg -progress` to another
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void wait_until(uint64_t instant) {
    struct timespec time = {(time_t)(instant / 1000000000), (long)(instant % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {}
}

static uint64_t usage(const char *group) {
    char path[1024], line[256];
    uint64_t microseconds;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.stat", group);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "usage_usec %" SCNu64, &microseconds) == 1) {
            fclose(file);
            return microseconds;
        }
    }
    fprintf(stderr, "no CPU time in %s\n", path);
    exit(1);
}

static int progress(const char *group, uint64_t warm, uint64_t duration) {
    char line[256];
    uint64_t frame = 0, first = 0, begin = 0, first_frame = 0, first_usage = 0;
    while (fgets(line, sizeof line, stdin)) {
        sscanf(line, "frame=%" SCNu64, &frame);
        if (strncmp(line, "progress=", 9) || !frame) { continue; }
        uint64_t instant = now();
        if (!first) { first = instant; }
        if (!begin && instant - first >= warm) {
            begin = instant, first_frame = frame, first_usage = usage(group);
        } else if (begin && instant - begin >= duration) {
            printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", begin, instant, usage(group) - first_usage,
                frame - first_frame);
            return 0;
        }
    }
    fprintf(stderr, "ffmpeg ended\n");
    return 1;
}

int main(int count, char **words) {
    const char *way = count > 1 ? words[1] : "";
    char line[4096];
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    if (!strcmp(way, "stamp")) {
        while (fgets(line, sizeof line, stdin)) { printf("%" PRIu64 " %s", now(), line); }
        return 0;
    }
    if (!strcmp(way, "delay")) {
        for (int turn = 0; turn < 200; turn++) {
            printf("%" PRIu64 "\n", now());
            wait_until(now() + 20000000);
        }
        return 0;
    }
    if (count != 5) { return 2; }
    uint64_t warm = strtoull(words[3], NULL, 10) * 1000000000, duration = strtoull(words[4], NULL, 10) * 1000000000;
    if (!strcmp(way, "progress")) { return progress(words[2], warm, duration); }
    wait_until(now() + warm);
    uint64_t begin = now(), first_usage = usage(words[2]);
    wait_until(begin + duration);
    uint64_t end = now();
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", begin, end, usage(words[2]) - first_usage);
    return 0;
}
