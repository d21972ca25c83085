/* Checks of addresses, ports, certificates and the way out. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "cli/doctor.h"
#include "net/addr.h"
#include "net/guard.h"
#include "net/listen.h"
#include "net/tls.h"
#include "net/udp.h"

enum { ADDRESSES_MAX = 16, PORTS_MAX = 64 };

static void refuse(void *arg, int take_fd, const struct net_addr *peer)
{
    (void)arg, (void)peer;
    close(take_fd);
}

void doctor_check_listen(struct doctor *doctor)
{
    const char *text = config_text(doctor->config, SET_LISTEN);
    struct net_addr address;
    struct fault fault = {0};
    if (net_addr_parse(text, &address)) {
        doctor_find(doctor, FINDING_FAULT, "service.listen: '%s' is no address:port", text);
        return;
    }
    if (doctor->has_running_service) {
        doctor_find(doctor, FINDING_GOOD, "%s, in use by the running service", text);
        return;
    }
    AUTO(loop) loop = loop_new("doctor");
    struct listener *listener = NULL;
    if (listener_open(loop, &address, refuse, NULL, &listener, &fault))
        doctor_find(doctor, FINDING_FAULT, "%s", fault.text);
    else
        doctor_find(doctor, FINDING_GOOD, "%s is free%s", text,
                    net_addr_is_loopback(&address) ? "; only this machine can reach it" : "");
    listener_close(listener);
}

void doctor_check_certificate(struct doctor *doctor)
{
    const char *cert = config_text(doctor->config, SET_TLS_CERT);
    const char *key = config_text(doctor->config, SET_TLS_KEY);
    AUTO(tls_context) context = NULL;
    struct fault fault = {0};
    if (!*cert && !*key)
        doctor_find(doctor, FINDING_GOOD,
                    "none given: plain HTTP on this machine, a self-signed one elsewhere");
    else if (!*cert || !*key)
        doctor_find(doctor, FINDING_FAULT, "tls.cert and tls.key are set together or not at all");
    else if (tls_server_new(cert, key, &context, &fault))
        doctor_find(doctor, FINDING_FAULT, "%s", fault.text);
    else
        doctor_find(doctor, FINDING_GOOD, "%s", cert);
}

void doctor_check_public_url(struct doctor *doctor)
{
    const char *url = config_text(doctor->config, SET_PUBLIC_URL);
    bool is_local = strncmp(url, "http://localhost", 16) == 0 ||
                    strncmp(url, "http://127.", 11) == 0 || strncmp(url, "http://[::1]", 12) == 0;
    if (!*url)
        doctor_find(doctor, FINDING_GOOD, "service.public_url is made from service.listen");
    else if (strncmp(url, "http://", 7) == 0 && !is_local)
        doctor_find(doctor, FINDING_WARNING,
                    "%s: browsers give a microphone over https or on localhost only", url);
    else if (strncmp(url, "https://", 8) == 0 || is_local)
        doctor_find(doctor, FINDING_GOOD, "%s", url);
    else
        doctor_find(doctor, FINDING_FAULT, "service.public_url: '%s' is no http(s) URL", url);
    const char *told = config_text(doctor->config, SET_RTC_PUBLIC_ADDRESS);
    struct net_addr address;
    if (*told && net_ip_parse(told, &address))
        doctor_find(doctor, FINDING_FAULT, "rtc.public_address: '%s' is no address", told);
}

/* The addresses of rtc.bind, or those that the service would take; 0: one is wrong. */
static size_t audio_addresses(struct doctor *doctor, struct net_addr *out)
{
    AUTO_MEM char *list = mem_strdup(config_text(doctor->config, SET_RTC_BIND));
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(list, ", ", &rest); word && count < ADDRESSES_MAX;
         word = strtok_r(NULL, ", ", &rest)) {
        if (net_ip_parse(word, &out[count++])) {
            doctor_find(doctor, FINDING_FAULT, "rtc.bind: '%s' is no address", word);
            return 0;
        }
    }
    if (count > 0)
        return count;
    size_t all = net_local_addresses(out, ADDRESSES_MAX);
    while (count < all && !net_addr_is_loopback(&out[count]))
        count++;
    if (count == 0 && all > 0)
        doctor_find(doctor, FINDING_WARNING,
                    "this machine has no address but loopback: only "
                    "callers on it can be heard");
    return count ? count : MIN(all, (size_t)1);
}

static void no_packets(void *arg, const struct udp_packet *packets, size_t count, int64_t now_us)
{
    (void)arg, (void)packets, (void)count, (void)now_us;
}

static bool can_bind(struct doctor *doctor, const struct net_addr *address)
{
    AUTO(loop) loop = loop_new("doctor");
    struct udp *udp = NULL;
    struct fault fault = {0};
    enum err err = udp_open(loop, address, no_packets, NULL, &udp, &fault);
    if (err)
        doctor_find(doctor, FINDING_FAULT, "%s", fault.text);
    udp_close(udp);
    return !err;
}

void doctor_check_audio_ports(struct doctor *doctor)
{
    struct net_addr addresses[ADDRESSES_MAX];
    size_t count = audio_addresses(doctor, addresses);
    int64_t first = config_int(doctor->config, SET_RTC_PORT);
    int64_t loops = config_int(doctor->config, SET_RTC_LOOPS);
    loops = loops ? loops : MIN(sysconf(_SC_NPROCESSORS_ONLN), (long)PORTS_MAX);
    for (size_t i = 0; i < count; i++) {
        char text[NET_IP_SIZE];
        net_ip_print(&addresses[i], text);
        int64_t good = 0;
        for (int64_t k = 0; k < loops && !doctor->has_running_service; k++) {
            addresses[i].port = (uint16_t)(first ? first + k : 0);
            good += can_bind(doctor, &addresses[i]);
        }
        if (first && (good == loops || doctor->has_running_service))
            doctor_find(doctor, FINDING_GOOD, "%s, UDP %d to %d: open these in your firewall", text,
                        (int)first, (int)(first + loops - 1));
        else if (good == loops || doctor->has_running_service)
            doctor_find(doctor, FINDING_GOOD, "%s, UDP, any free port", text);
    }
}

void doctor_check_egress(struct doctor *doctor)
{
    AUTO(guard) guard = NULL;
    AUTO(tls_context) context = NULL;
    struct fault fault = {0};
    const char *ca = config_text(doctor->config, SET_EGRESS_CA);
    const char *allow = config_text(doctor->config, SET_EGRESS_ALLOW);
    if (guard_new(allow, &guard, &fault))
        doctor_find(doctor, FINDING_FAULT, "egress.allow: %s", fault.text);
    else if (tls_client_new(*ca ? ca : NULL, &context, &fault))
        doctor_find(doctor, FINDING_FAULT, "%s", fault.text);
    else
        doctor_find(doctor, FINDING_GOOD, "public addresses%s%s", *allow ? " and " : "", allow);
}
