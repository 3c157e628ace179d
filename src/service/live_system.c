/* SPDX-License-Identifier: Apache-2.0 */
/* live_system.c - ALTER SYSTEM: defaults of session settings for all, kept with the realm; the superuser's. */
#include "service/live_sql.h"

Status live_alter_system(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    Props all = {0};

    ret->done = 1;
    TRY(live_ask_superuser(r, "alter system", err));
    if (l->alter == ALTER_SYSTEM_SET && !l->setting_reset) {
        Str value = l->setting_value.p ? l->setting_value : S("");
        TRY(setting_check(r->a, l->setting, &value, err));
        return realm_put_setting(r->svc->realm, l->setting, value, err);
    }
    if (!str_eq(l->setting, S("all")))
        return realm_put_setting(r->svc->realm, l->setting, (Str){0}, err);
    realm_settings(r->svc->realm, r->a, &all);
    for vec_each(KeyValue, s, &all)
        TRY(realm_put_setting(r->svc->realm, s->key, (Str){0}, err));
    return OK;
}
