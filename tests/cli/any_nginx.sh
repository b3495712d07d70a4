# any_nginx.sh - nginx with the Lua module and OpenResty's LuaJIT: a master that
# makes the VM, and workers that inherit it, without rights, and clear their
# environment.
#
# The module needs a LuaJIT that cannot be installed beside Debian's own, so the
# packages are unpacked here.
. "$(dirname "$0")/lib_any.sh"

packages="nginx libnginx-mod-http-lua libnginx-mod-http-ndk libluajit2-5.1-2 lua-resty-core lua-resty-lrucache"
if ! have apt-get || ! have dpkg; then
	skip nginx "because packages of Debian are needed"
	finish
fi
# The workers are nobody, and the folder of the test is not theirs.
work=$(mktemp -d /tmp/ljperf-nginx.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work" || exit 1
mkdir debs
# shellcheck disable=SC2086
if ! (cd debs && apt-get download $packages) >apt.log 2>&1; then
	skip nginx "because its packages cannot be had: $(grep '^E:' apt.log | head -1)"
	finish
fi
for deb in debs/*.deb; do
	dpkg -x "$deb" root || exit 1
done
libs=$(dirname "$(find "$PWD/root" -name 'libluajit-5.1.so.2' | head -1)")
nginx=$PWD/root/usr/sbin/nginx
if ! LD_LIBRARY_PATH=$libs "$nginx" -V >/dev/null 2>nginx.log; then
	skip nginx "because it does not run: $(head -1 nginx.log)"
	finish
fi

cat >handler.lua <<'L'
jit.off()
local t
for i = 1, 100 do
	t = { i }
end
ngx.say(ngx.worker.pid())
L
port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
write_conf()
{
	cat >nginx.conf <<N
load_module $PWD/root/usr/lib/nginx/modules/ndk_http_module.so;
load_module $PWD/root/usr/lib/nginx/modules/ngx_http_lua_module.so;
worker_processes 2;
daemon $1;
$([ "$(id -u)" -ne 0 ] || echo 'user nobody nogroup;')
pid $PWD/nginx.pid;
error_log $PWD/error.log info;
events { worker_connections 64; }
http {
	lua_package_path '$PWD/root/usr/share/lua/5.1/?.lua;;';
	access_log off;
	client_body_temp_path $PWD/tmp; proxy_temp_path $PWD/tmp; fastcgi_temp_path $PWD/tmp;
	uwsgi_temp_path $PWD/tmp; scgi_temp_path $PWD/tmp;
	server {
		listen 127.0.0.1:$port reuseport;
		location / { content_by_lua_file $PWD/handler.lua; }
	}
}
N
}

# Asks until both workers have answered; prints how often each did.
ask()
{
	python3 - "$port" <<'P'
import collections, sys, time, urllib.request
seen = collections.Counter()
for n in range(300):
    try:
        pid = urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1], timeout=5).read().strip()
    except OSError:
        time.sleep(0.05)
        continue
    seen[pid.decode()] += 1
    if len(seen) == 2 and n > 20:
        break
for pid, n in seen.items():
    print(pid, n)
P
}

# serve NAME OPTION...: nginx under ljperf, asked, and ended gracefully.
serve()
{
	what=$1
	shift
	fresh
	LD_LIBRARY_PATH=$libs "$LJPERF" record "$@" -- "$nginx" -p "$PWD" -c "$PWD/nginx.conf" >out 2>err &
	job=$!
	ask >asked
	kill -QUIT "$(cat nginx.pid)"
	wait "$job"
	is "$what: status" "$?" 0
	is "$what: two workers have answered" "$(wc -l <asked)" 2
}

check_workers()
{
	while read -r pid n; do
		file=ljperf.$pid.ljm.zst
		whole "$1: a worker" "$file"
		# 100 tables for each request on line 4 of the handler.
		is "$1: a worker's lines" "$(allocs "$file" handler.lua:4)" $((n * 100))
	done <asked
}

mkdir -p tmp
write_conf off
serve "nginx"
check_workers "nginx"
is "nginx: the master and two workers" "$(files)" 3
is "nginx: nothing of the workers in the master's file" "$(allocs ljperf.ljm.zst handler.lua:4)" 0
like "nginx: its LuaJIT" "$("$LJPERF" info)" "*vm file : $libs/libluajit-5.1.so.2*"

serve "nginx, --no-inherit" --no-inherit
is "nginx, --no-inherit: the master only" "$(files)" 1

write_conf on
serve "nginx as a daemon"
check_workers "nginx as a daemon"
is "nginx as a daemon: its first process and two workers" "$(files)" 3
finish
