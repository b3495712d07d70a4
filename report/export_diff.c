/* export_diff.c - two recordings in one export, the baseline first.  Called by
 * export and by the formats that can hold them.
 *
 * They are two sessions of one aggregate, whose cells are split by session; a
 * cell of the baseline is one of session 0.
 */
#include <errno.h>
#include <string.h>

#include "report/export.h"
#include "report/recording.h"
#include "util/error.h"

int export_diff__setup(struct export_opts *o)
{
	static const char *both[2] = { RECORDING_DEFAULT ".old", RECORDING_DEFAULT };

	if (!o->diff)
		return 0;
	if (!o->ops->diffs)
		return err__set(-EINVAL, "the format %s holds no differences (folded and pprof do)",
				o->ops->name);
	if (o->n_paths > 2)
		return err__set(-EINVAL, "a difference is of two recordings, not of %zu",
				o->n_paths);
	if (o->n_paths == 2 && !strcmp(o->paths[0], "-") && !strcmp(o->paths[1], "-"))
		return err__set(-EINVAL, "standard input can be read only once");
	if (o->n_paths == 2)
		return 0;
	if (o->n_paths == 1)
		both[1] = o->paths[0];
	o->paths = both;
	o->n_paths = 2;
	return 0;
}

bool export__is_baseline(const struct export *e, uint32_t cell)
{
	return e->o->diff && !aggregate__cell(e->a, cell).session;
}
