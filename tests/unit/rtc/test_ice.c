/* rtc/ice_lite against rtc/ice_client on a simulated network. */
#include <stdlib.h>

#include "base/attr.h"
#include "rtc/ice_client.h"
#include "rtc/ice_lite.h"
#include "sim_net.h"
#include "test.h"

/* End 0 is the client, end 1 the lite side. */
struct pair {
    struct sim_net *net;
    struct ice_credentials client_credentials, lite_credentials;
    struct ice_client client;
    struct ice_lite lite;
};

static void set_up(struct pair *pair, uint64_t seed, unsigned loss_percent)
{
    pair->net = sim_net_new(seed, 10000, loss_percent);
    ice_credentials_init(&pair->client_credentials, NULL);
    ice_credentials_init(&pair->lite_credentials, "0001abcd");
    ice_client_init(&pair->client, &pair->client_credentials);
    ice_lite_init(&pair->lite, &pair->lite_credentials);
    CHECK_INT(ice_credentials_set_remote(&pair->client_credentials,
                                         pair->lite_credentials.local_ufrag,
                                         pair->lite_credentials.local_pwd),
              OK);
}

static void deliver(struct pair *pair, const struct sim_datagram *datagram)
{
    struct stun_message message;
    REQUIRE(stun_parse(datagram->data, datagram->len, &message) == OK);
    struct ice_path path = {.local = datagram->local, .remote = datagram->from};
    if (datagram->to == 0)
        ice_client_input(&pair->client, &datagram->from, &message, pair->net->now_us);
    else
        ice_lite_input(&pair->lite, &path, &message);
}

/* Runs until `until_us` of simulated time or until the client has nominated. */
static void run(struct pair *pair, int64_t until_us, bool stop_when_selected)
{
    struct sim_datagram datagram;
    while (pair->net->now_us < until_us) {
        while (sim_net_receive(pair->net, &datagram))
            deliver(pair, &datagram);
        const struct ice_datagram *out;
        while ((out = ice_client_output(&pair->client, pair->net->now_us)))
            if (out->path.remote.port == sim_net_addr(1).port)
                sim_net_send(pair->net, 1, out->data, out->len);
        while ((out = ice_lite_output(&pair->lite)))
            sim_net_send(pair->net, 0, out->data, out->len);
        if (stop_when_selected && ice_client_selected(&pair->client))
            return;
        sim_net_advance(pair->net, MIN(until_us, ice_client_deadline_us(&pair->client)));
    }
}

static void add(struct pair *pair, struct net_addr addr, uint32_t priority)
{
    CHECK_INT(ice_client_add(&pair->client, &addr, priority), OK);
}

TEST(ice_client_reaches_a_lite_peer_in_two_round_trips)
{
    struct pair pair;
    set_up(&pair, 1, 0);
    add(&pair, sim_net_addr(1), ice_host_priority(65535));
    run(&pair, SIM_START_US + 5000000, true);
    CHECK(ice_client_selected(&pair.client) != NULL);
    CHECK(pair.net->now_us <= SIM_START_US + 45000);
    const struct ice_path *selected = ice_lite_selected(&pair.lite);
    struct net_addr client = sim_net_addr(0);
    CHECK(selected && net_addr_equal(&selected->remote, &client));
    CHECK_INT(pair.client.rtt_us, 20000);
    sim_net_free(pair.net);
}

TEST(ice_client_gets_through_heavy_loss)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct pair pair;
        set_up(&pair, seed, 40);
        add(&pair, sim_net_addr(1), ice_host_priority(65535));
        run(&pair, SIM_START_US + 60000000, true);
        CHECK(ice_client_selected(&pair.client) != NULL);
        sim_net_free(pair.net);
    }
}

TEST(ice_client_takes_the_lesser_candidate_when_the_better_is_dead)
{
    struct pair pair;
    set_up(&pair, 1, 0);
    add(&pair, net_addr_ipv4(10, 9, 9, 9, 9), ice_host_priority(65535));
    add(&pair, sim_net_addr(1), ice_host_priority(65534));
    run(&pair, SIM_START_US + 5000000, true);
    struct net_addr want = sim_net_addr(1);
    const struct net_addr *selected = ice_client_selected(&pair.client);
    CHECK(selected && net_addr_equal(selected, &want));
    CHECK(pair.net->now_us < SIM_START_US + 400000);
    sim_net_free(pair.net);
}

TEST(ice_client_never_selects_with_a_wrong_password)
{
    struct pair pair;
    set_up(&pair, 1, 0);
    CHECK_INT(ice_credentials_set_remote(&pair.client_credentials,
                                         pair.lite_credentials.local_ufrag,
                                         "0123456789012345678901"),
              OK);
    add(&pair, sim_net_addr(1), 1);
    run(&pair, SIM_START_US + 60000000, true);
    CHECK(ice_client_selected(&pair.client) == NULL);
    CHECK(ice_lite_selected(&pair.lite) == NULL);
    sim_net_free(pair.net);
}

TEST(ice_client_keeps_asking_for_consent)
{
    struct pair pair;
    set_up(&pair, 1, 0);
    add(&pair, sim_net_addr(1), 1);
    run(&pair, SIM_START_US + 1000000, false);
    unsigned before = pair.net->sent;
    run(&pair, SIM_START_US + 61000000, false);
    unsigned checks = (pair.net->sent - before) / 2;
    CHECK(checks >= 19 && checks <= 25); /* one in 2.5 to 3 s */
    pair.net->is_cut = true;
    run(&pair, SIM_START_US + 121000000, false);
    CHECK(ice_client_selected(&pair.client) != NULL); /* and goes on, should the path come back */
    sim_net_free(pair.net);
}

TEST(ice_client_answers_and_checks_back_a_full_peer)
{
    struct sim_net *net = sim_net_new(1, 1000, 0);
    struct ice_credentials credentials[2];
    struct ice_client ends[2];
    for (unsigned i = 0; i < 2; i++) {
        ice_credentials_init(&credentials[i], NULL);
        ice_client_init(&ends[i], &credentials[i]);
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK_INT(ice_credentials_set_remote(&credentials[i], credentials[1 - i].local_ufrag,
                                             credentials[1 - i].local_pwd),
                  OK);
    struct net_addr second = sim_net_addr(1);
    CHECK_INT(ice_client_add(&ends[0], &second, 5), OK);
    /* Both believe to be controlling: the conflict is resolved, and end 1 learns end 0's address
     * from its check. */
    struct sim_datagram datagram;
    while (net->now_us < SIM_START_US + 3000000) {
        while (sim_net_receive(net, &datagram)) {
            struct stun_message message;
            REQUIRE(stun_parse(datagram.data, datagram.len, &message) == OK);
            ice_client_input(&ends[datagram.to], &datagram.from, &message, net->now_us);
        }
        for (unsigned i = 0; i < 2; i++) {
            const struct ice_datagram *out;
            while ((out = ice_client_output(&ends[i], net->now_us)))
                sim_net_send(net, 1 - i, out->data, out->len);
        }
        sim_net_advance(net,
                        MIN(ice_client_deadline_us(&ends[0]), ice_client_deadline_us(&ends[1])));
    }
    CHECK(ice_client_selected(&ends[0]) != NULL);
    CHECK(ice_client_selected(&ends[1]) != NULL);
    CHECK(ends[0].is_controlling != ends[1].is_controlling);
    sim_net_free(net);
}

/* The lite side alone. */

struct check {
    const char *ufrag, *pwd;
    bool has_use_candidate, is_controlled;
};

static bool feed(struct ice_lite *lite, const struct check *check, uint16_t from_port)
{
    uint8_t data[256];
    struct stun_writer writer;
    stun_begin(&writer, data, sizeof(data), STUN_BINDING_REQUEST, (const uint8_t *)"abcdefghijkl");
    if (check->ufrag)
        stun_put_username(&writer, check->ufrag, "peer");
    stun_put_role(&writer, !check->is_controlled, 1);
    if (check->has_use_candidate)
        stun_put_use_candidate(&writer);
    size_t len = stun_finish(&writer, check->pwd);
    struct stun_message message;
    CHECK_INT(stun_parse(data, len, &message), OK);
    struct ice_path path = {.local = net_addr_ipv4(10, 0, 0, 1, 7),
                            .remote = net_addr_ipv4(10, 0, 0, 2, from_port)};
    return ice_lite_input(lite, &path, &message);
}

static unsigned answer_code(struct ice_lite *lite)
{
    const struct ice_datagram *answer = ice_lite_output(lite);
    struct stun_message message = {0};
    if (!answer || stun_parse(answer->data, answer->len, &message) != OK)
        return 999;
    return message.error_code;
}

TEST(ice_lite_judges_checks)
{
    struct ice_credentials credentials;
    ice_credentials_init(&credentials, "0001abcd");
    const char *pwd = credentials.local_pwd;
    const struct {
        struct check check;
        unsigned code;
    } cases[] = {
        {{"0001abcd", pwd, false, false}, 0},
        {{"0001abcd", "another password", false, false}, STUN_ERROR_UNAUTHENTICATED},
        {{"0001abce", pwd, false, false}, STUN_ERROR_UNAUTHENTICATED},
        {{"0001abcdx", pwd, false, false}, STUN_ERROR_UNAUTHENTICATED},
        {{"0001abc", pwd, false, false}, STUN_ERROR_UNAUTHENTICATED},
        {{NULL, pwd, false, false}, STUN_ERROR_BAD_REQUEST},
        {{"0001abcd", NULL, false, false}, STUN_ERROR_BAD_REQUEST},
        {{"0001abcd", pwd, false, true}, STUN_ERROR_ROLE_CONFLICT},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ice_lite lite;
        ice_lite_init(&lite, &credentials);
        CHECK_INT(feed(&lite, &cases[i].check, 1), cases[i].code == 0);
        CHECK_INT(answer_code(&lite), cases[i].code);
        CHECK_INT(ice_lite_selected(&lite) != NULL, cases[i].code == 0);
    }
}

TEST(ice_lite_follows_the_last_nomination)
{
    struct ice_credentials credentials;
    ice_credentials_init(&credentials, "0001abcd");
    struct ice_lite lite;
    ice_lite_init(&lite, &credentials);
    const struct check plain = {"0001abcd", credentials.local_pwd, false, false};
    const struct check nominating = {"0001abcd", credentials.local_pwd, true, false};

    feed(&lite, &plain, 1);
    CHECK_INT(ice_lite_selected(&lite)->remote.port, 1); /* better than nowhere */
    feed(&lite, &plain, 2);
    CHECK_INT(ice_lite_selected(&lite)->remote.port, 1);
    feed(&lite, &nominating, 2);
    CHECK_INT(ice_lite_selected(&lite)->remote.port, 2);
    feed(&lite, &plain, 1);
    CHECK_INT(ice_lite_selected(&lite)->remote.port, 2);
    while (ice_lite_output(&lite))
        ;
    feed(&lite, &nominating, 1); /* the browser moved */
    CHECK_INT(ice_lite_selected(&lite)->remote.port, 1);
}

TEST(ice_lite_remembers_a_bounded_number_of_paths)
{
    struct ice_credentials credentials;
    ice_credentials_init(&credentials, "0001abcd");
    struct ice_lite lite;
    ice_lite_init(&lite, &credentials);
    const struct check plain = {"0001abcd", credentials.local_pwd, false, false};
    for (uint16_t port = 1; port <= 100; port++) {
        feed(&lite, &plain, port);
        ice_lite_output(&lite);
    }
    struct ice_path path = {.local = net_addr_ipv4(10, 0, 0, 1, 7),
                            .remote = net_addr_ipv4(10, 0, 0, 2, 1)};
    CHECK(ice_lite_has_path(&lite, &path)); /* the selected one stays */
    path.remote.port = 50;
    CHECK(!ice_lite_has_path(&lite, &path));
    path.remote.port = 100;
    CHECK(ice_lite_has_path(&lite, &path));
    CHECK_INT(lite.path_count, ICE_PATHS);
}

TEST(ice_credentials_refuse_what_the_grammar_does_not_allow)
{
    struct ice_credentials credentials;
    ice_credentials_init(&credentials, NULL);
    const char *pwd = "0123456789012345678901";
    static const char *const bad_ufrags[] = {"", "abc", "ab cd", "ab:cd", "abc\n"};
    for (size_t i = 0; i < ARRAY_LEN(bad_ufrags); i++)
        CHECK_INT(ice_credentials_set_remote(&credentials, bad_ufrags[i], pwd), ERR_INVALID);
    CHECK_INT(ice_credentials_set_remote(&credentials, "abcd", "short"), ERR_INVALID);
    char longest[ICE_CREDENTIAL_SIZE + 1] = {0};
    memset(longest, 'a', ICE_CREDENTIAL_SIZE);
    CHECK_INT(ice_credentials_set_remote(&credentials, longest, pwd), ERR_INVALID);
    longest[ICE_CREDENTIAL_SIZE - 1] = 0;
    CHECK_INT(ice_credentials_set_remote(&credentials, longest, longest), OK);
}
