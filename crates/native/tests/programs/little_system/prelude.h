#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
void __quotient_observe(long);
static pthread_t t[3];
static int fd[3], sequence[12];
static long result[12];
static FILE *stream;
static long created(const char *path) {
    int new = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (new >= 0) close(new);
    return new >= 0;
}
static long size(const char *path) {
    struct stat s;
    return stat(path, &s) ? 15 : s.st_size;
}
static long open_size(int file) {
    struct stat s;
    return fstat(file, &s) ? 15 : s.st_size;
}
static long in_directory(void) {
    char name[4096];
    return getcwd(name, sizeof name) && !strcmp(name + strlen(name) - 2, "/d");
}
static long next(int file) {
    char c;
    return read(file, &c, 1) == 1 ? c : 15;
}
static long variable(void) {
    char *value = getenv("X");
    return value ? value[0] - '0' : 15;
}
static long drawn(void) {
    int n = rand();
    for (int i = 0; i < 12; i++)
        if (sequence[i] == n) return i;
    return 15;
}
static void start(int duplicate, int streams) {
    fd[0] = open("f", O_CREAT | O_RDWR, 0600);
    write(fd[0], "\1\2\3", 3);
    lseek(fd[0], 0, SEEK_SET);
    fd[1] = duplicate ? dup(fd[0]) : open("f", O_RDWR);
    fd[2] = open("h", O_CREAT | O_RDWR, 0600);
    mkdir("d", 0700);
    if (streams) stream = fopen("s", "w+");
    srand(1);
    for (int i = 0; i < 12; i++) sequence[i] = rand();
    srand(1);
}
static void tell(int threads, int calls) {
    unsigned long all = 0;
    for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
    for (int i = 0; i < calls; i++) all |= (unsigned long)result[i] << (4 * i);
    __quotient_observe(all);
    fprintf(stderr, "outcome %lx\n", all);
}
