/* Loaded into a process by LD_PRELOAD: refuses every name look-up and every socket that leaves the machine, and
   appends one line for each to the file named by OUTGOING_LOG. It sees native libraries as well as Python. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void report(const char *what, const char *whom) {
    const char *path = getenv("OUTGOING_LOG");
    int log = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (log < 0) return;
    char line[512];
    int length = snprintf(line, sizeof line, "%s %s\n", what, whom ? whom : "?");
    if (write(log, line, length < (int)sizeof line ? length : (int)sizeof line - 1) < 0) abort();
    close(log);
}

static int is_local_name(const char *name) {
    struct in_addr four;
    struct in6_addr six;
    return !name || !*name || !strcmp(name, "localhost") || inet_pton(AF_INET, name, &four) == 1 ||
           inet_pton(AF_INET6, name, &six) == 1;
}

/* 1 for an address of this machine; its text goes into `shown`. */
static int is_local_address(const struct sockaddr *address, char *shown, socklen_t room) {
    if (!address) return 1;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &four->sin_addr, shown, room);
        return (ntohl(four->sin_addr.s_addr) >> 24) == 127 || four->sin_addr.s_addr == 0;
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, &six->sin6_addr, shown, room);
        if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) return six->sin6_addr.s6_addr[12] == 127;
        return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
    }
    return 1;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!real) real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (is_local_name(name)) return real(name, service, hints, found);
    report("getaddrinfo", name);
    return EAI_FAIL;
}

struct hostent *gethostbyname(const char *name) {
    static struct hostent *(*real)(const char *);
    if (!real) real = dlsym(RTLD_NEXT, "gethostbyname");
    if (is_local_name(name)) return real(name);
    report("gethostbyname", name);
    return NULL;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    static int (*real)(int, const struct sockaddr *, socklen_t);
    char shown[INET6_ADDRSTRLEN] = "";
    if (!real) real = dlsym(RTLD_NEXT, "connect");
    if (is_local_address(address, shown, sizeof shown)) return real(descriptor, address, length);
    report("connect", shown);
    errno = ENETUNREACH;
    return -1;
}

ssize_t sendto(int descriptor, const void *data, size_t size, int flags, const struct sockaddr *address,
               socklen_t length) {
    static ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    char shown[INET6_ADDRSTRLEN] = "";
    if (!real) real = dlsym(RTLD_NEXT, "sendto");
    if (is_local_address(address, shown, sizeof shown)) return real(descriptor, data, size, flags, address, length);
    report("sendto", shown);
    errno = ENETUNREACH;
    return -1;
}
