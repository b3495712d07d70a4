# any_refused.sh - what cannot be recorded is refused before it starts, or runs
# as ever and the reason is told; never an empty success.
. "$(dirname "$0")/lib_any.sh"

cat >prog.c <<'C'
#include <stdio.h>
int main(void)
{
	puts("ran");
	return 3;
}
C
if ! ${CC:-gcc} -o prog prog.c 2>cc.log; then
	not_ok "a program compiles" "$(cat cc.log)"
	finish
fi

# refused NAME REASON COMMAND...: status 2, the reason, and it has not run.
refused()
{
	what=$1
	reason=$2
	shift 2
	fresh
	run "$LJPERF" record -- "$@"
	like "$what is refused" "$status $out $err" "2  ljperf: $reason"
	is "$what: no file" "$(files)" 0
}

refused "a program that is not there" "cannot run 'no-such-program': No such file or directory" no-such-program
refused "a folder" "cannot run '.': *" .
# Byte 4 of an ELF file says how wide it is, bytes 18 and 19 for what machine.
cp prog narrow
printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc 2>/dev/null
refused "a 32-bit program" "cannot record './narrow': it is a 32-bit program, *" ./narrow
cp prog foreign
printf '\377\376' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null
refused "a program for another machine" "cannot record './foreign': it is made for another *" ./foreign
if ${CC:-gcc} -static -o static prog.c 2>/dev/null; then
	refused "a static program" "cannot record './static': it is linked statically, *" ./static
	printf '#!%s/static\n' "$PWD" >script
	chmod +x script
	refused "a script of a static program" "cannot record '$PWD/static': it is linked statically, *" ./script
else
	skip "a static program" "because there is no static libc"
fi
if [ "$(id -u)" -eq 0 ]; then
	cp prog setuid
	chown 65534 setuid
	chmod 4755 setuid
	refused "a setuid program" "cannot record './setuid': it changes its user or group, *" ./setuid
	chown 0:65534 setuid
	chmod 2755 setuid
	refused "a setgid program" "cannot record './setuid': it changes its user or group, *" ./setuid
	chown 0:0 setuid
	chmod 4755 setuid
	run "$LJPERF" record -- ./setuid
	is "a setuid program of one's own runs" "$out" ran
else
	skip "setuid programs" "because only root can make them"
fi

# No VM: the program's own output, status 2, one line that says why.
run "$LJPERF" record -- ./prog
is "no VM: the program runs" "$out" ran
like "no VM: status and reason" "$status $err" "2 ljperf: nothing was recorded: './prog' made no LuaJIT VM *"
is "no VM: one line" "$(echo "$err" | wc -l)" 1
run "$LJPERF" record -q -- ./prog
like "no VM, -q: the reason all the same" "$status $err" "2 ljperf: nothing was recorded: *"
is "no VM: no file" "$(files)" 0
run env -u LD_PRELOAD "$LJPERF" record -- env -u LD_PRELOAD ./prog
is "an agent that is kept out: the program runs" "$out" ran
like "an agent that is kept out" "$status $err" "2 ljperf: nothing was recorded: *"

# Another Lua with the same functions.
cat >lua.c <<'C'
void *luaL_newstate(void);
void lua_close(void *L);
static int state;
void *luaL_newstate(void) { return &state; }
void lua_close(void *L) { (void)L; }
C
cat >uselua.c <<'C'
#include <stdio.h>
void *luaL_newstate(void);
void lua_close(void *L);
int main(void)
{
	void *L = luaL_newstate();
	puts(L ? "a state" : "none");
	lua_close(L);
	return 0;
}
C
if ${CC:-gcc} -shared -fPIC -o libotherlua.so lua.c 2>cc.log &&
	${CC:-gcc} -o uselua uselua.c -L. -lotherlua -Wl,-rpath,"$PWD" 2>>cc.log; then
	run "$LJPERF" record -- ./uselua
	is "another Lua runs" "$out" "a state"
	like "another Lua: the reason" "$status $err" \
		"2 ljperf: nothing was recorded: '*libotherlua.so' is Lua, but not LuaJIT"
else
	not_ok "another Lua compiles" "$(cat cc.log)"
fi
for lua in lua5.1 lua5.4; do
	have $lua || { skip $lua "because it is not installed"; continue; }
	run "$LJPERF" record -- $lua -e 'print(1 + 1, os.getenv("LUA_INIT"))'
	is "$lua runs" "$out" "2	nil"
	like "$lua: status and reason" "$status $err" "2 ljperf: nothing was recorded: '*lua*' is Lua, but not LuaJIT"
done

run "$LJPERF" record --jit off -- ./prog
like "options of the embedded VM are refused for other programs" "$status $err" "2 ljperf: -joff is an option *"
finish
