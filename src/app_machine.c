/* What the calls are told of the machine: its cores, what a frame costs on it, and once a second
 * how busy it is. The file that says so is read on the pool: on a large machine it is long.
 * Thread: the control loop, except where it says otherwise. */
#include "app.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/machine.h"
#include "base/pool.h"

enum { LOOK_US = 1000000 };

/* Worker. */
static void read_busy(void *arg)
{
    struct app_machine *machine = arg;
    machine->read_us = clock_now_us();
    machine->busy_us = machine_busy_us();
}

static void busy_read(void *arg)
{
    struct app_machine *machine = arg;
    int64_t took_us = machine->read_us - machine->last_read_us;
    int64_t used_us = machine->busy_us - machine->last_busy_us;
    if (machine->last_read_us && took_us > 0)
        atomic_store(&machine->busy_milli, used_us * 1000 / took_us);
    machine->last_read_us = machine->read_us;
    machine->last_busy_us = machine->busy_us;
    timer_set_after(&machine->timer, LOOK_US);
}

static void look(void *arg)
{
    struct app *app = arg;
    struct app_machine *machine = &app->machine;
    if (pool_run(app->pool, read_busy, app->control, busy_read, machine))
        timer_set_after(&machine->timer, LOOK_US);
}

static int64_t busy_milli(void *arg)
{
    return atomic_load(&((struct app_machine *)arg)->busy_milli);
}

void app_machine_open(struct app *app)
{
    struct app_machine *machine = &app->machine;
    machine->told =
        (struct calls_machine){.cores_milli = machine_cores_milli(),
                               .wants_place = config_bool(app->config, SET_RTC_PRIORITY),
                               .busy_milli = busy_milli,
                               .arg = machine};
    for (int i = 0; i < CODEC_PROFILES; i++)
        machine->told.frame_ns[i] = codec_frame_cost_ns((enum codec_profile)i);
    timer_init(&machine->timer, app->control, look, app);
    timer_set_after(&machine->timer, 0);
}

void app_machine_close(struct app *app)
{
    timer_stop(&app->machine.timer);
}
