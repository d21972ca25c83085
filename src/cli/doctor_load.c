/* Does the running service hold as many calls as it can? */
#include <inttypes.h>

#include "base/js.h"
#include "cli/ask.h"
#include "cli/doctor.h"

void doctor_check_load(struct doctor *doctor)
{
    AUTO(js) tree = NULL;
    struct fault fault = {0};
    if (!doctor->has_running_service)
        return;
    if (ask_service(doctor->config, &tree, NULL, &fault)) {
        doctor_find(doctor, FINDING_WARNING, "the service does not say: %s", fault.text);
        return;
    }
    const struct js *service = js_get(tree, "service");
    bool is_full = js_bool(js_get(service, "isFull"), false);
    int64_t lowered = js_int(js_get(service, "callsLowered"), 0);
    int64_t refused = js_int(js_get(service, "callsRefused"), 0);
    doctor_find(doctor, is_full || lowered ? FINDING_WARNING : FINDING_GOOD,
                "%s: %" PRId64 " calls are encoded cheaper, %" PRId64
                " were refused since it began%s",
                is_full ? "full" : "has room", lowered, refused,
                is_full ? "; more calls need more cores, or audio.profile = celt" : "");
}
