#include "net/lookup.h"

#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>

#include "net/internal.h"

enum {
    ANSWER_MAX_BYTES = 4096,
    ASK_WAIT_S = 2, /* before asking once more */
    ASK_TIMES = 2,
};

static size_t add(struct net_addr *out, size_t count, size_t max, const struct net_addr *addr)
{
    if (count < max)
        out[count++] = *addr;
    return count;
}

static enum err ask_system(const char *host, struct net_addr *out, size_t max, size_t *out_count,
                           struct fault *fault)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int error = getaddrinfo(host, NULL, &hints, &list);
    if (error == EAI_NONAME || error == EAI_NODATA || error == EAI_ADDRFAMILY)
        return fault_set(fault, ERR_NOT_FOUND, "the host name does not exist");
    if (error)
        return fault_set(fault, ERR_IO, "the host name cannot be resolved: %s",
                         gai_strerror(error));
    size_t count = 0;
    for (struct addrinfo *it = list; it; it = it->ai_next) {
        struct net_addr addr;
        net_addr_from_sockaddr((struct sockaddr_storage *)it->ai_addr, &addr);
        addr.port = 0;
        count = add(out, count, max, &addr);
    }
    freeaddrinfo(list);
    *out_count = count;
    return OK;
}

static size_t read_records(const unsigned char *answer, int len, unsigned type,
                           struct net_addr *out, size_t count, size_t max)
{
    ns_msg message;
    if (ns_initparse(answer, len, &message) != 0)
        return count;
    for (int i = 0; i < ns_msg_count(message, ns_s_an); i++) {
        ns_rr record;
        if (ns_parserr(&message, ns_s_an, i, &record) != 0 || (unsigned)ns_rr_type(record) != type)
            continue;
        const uint8_t *ip = ns_rr_rdata(record);
        struct net_addr addr = {0};
        if (type == ns_t_a && ns_rr_rdlen(record) == 4)
            addr = net_addr_ipv4(ip[0], ip[1], ip[2], ip[3], 0);
        else if (type == ns_t_aaaa && ns_rr_rdlen(record) == 16)
            memcpy(addr.ip, ip, 16);
        else
            continue;
        count = add(out, count, max, &addr);
    }
    return count;
}

static enum err ask_server(const struct net_addr *nameserver, const char *host,
                           struct net_addr *out, size_t max, size_t *out_count, struct fault *fault)
{
    static const unsigned types[] = {ns_t_a, ns_t_aaaa};
    struct __res_state state = {0};
    struct sockaddr_storage storage;
    unsigned char answer[ANSWER_MAX_BYTES];
    size_t count = 0;
    bool is_known = false;
    if (res_ninit(&state) != 0)
        return fault_set(fault, ERR_IO, "no resolver");
    net_addr_to_sockaddr(nameserver, false, &storage);
    memcpy(&state.nsaddr_list[0], &storage, sizeof(state.nsaddr_list[0]));
    state.nscount = 1;
    state.retrans = ASK_WAIT_S;
    state.retry = ASK_TIMES;
    state.options &= ~(unsigned long)(RES_DNSRCH | RES_DEFNAMES);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        int len = res_nquery(&state, host, ns_c_in, (int)types[i], answer, sizeof(answer));
        is_known |= len >= 0 || state.res_h_errno == HOST_NOT_FOUND || state.res_h_errno == NO_DATA;
        if (len > 0)
            count = read_records(answer, MIN(len, (int)sizeof(answer)), types[i], out, count, max);
    }
    res_nclose(&state);
    if (!is_known)
        return fault_set(fault, ERR_IO, "the host name cannot be resolved: no answer");
    *out_count = count;
    return OK;
}

enum err net_lookup(const struct net_addr *nameserver, const char *host, struct net_addr *out,
                    size_t max, size_t *out_count, struct fault *fault)
{
    size_t count = 0;
    enum err err = nameserver ? ask_server(nameserver, host, out, max, &count, fault)
                              : ask_system(host, out, max, &count, fault);
    if (!err && count == 0)
        err = fault_set(fault, ERR_NOT_FOUND, "the host name has no address");
    if (!err)
        *out_count = count;
    return err;
}
