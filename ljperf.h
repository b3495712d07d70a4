/* ljperf.h - the commands and what they share. */
#ifndef LJPERF_H
#define LJPERF_H

/* A row of the table in ljperf.c. */
struct command {
	const char *name;
	int (*run)(int argc, const char **argv); /* exit status */
	const char *help;
};

/* ljperf's own failures; the other statuses of record are the target's. */
enum { EXIT_LJPERF = 2 };

int cmd_record(int argc, const char **argv);
int cmd_report(int argc, const char **argv);
int cmd_diff(int argc, const char **argv);
int cmd_annotate(int argc, const char **argv);
int cmd_export(int argc, const char **argv);
int cmd_script(int argc, const char **argv);
int cmd_info(int argc, const char **argv);
int cmd_archive(int argc, const char **argv);
int cmd_import(int argc, const char **argv);
int cmd_list(int argc, const char **argv);
int cmd_config(int argc, const char **argv);
int cmd_help(int argc, const char **argv);
int cmd_version(int argc, const char **argv);

#endif
