# man.sh - the manual pages: mandoc has no complaint, every option stands in
# its page and no page has an option that does not exist, and "help" shows them.
. "$(dirname "$0")/lib.sh"

pages=$(dirname "$LJPERF")/man
commands=$("$LJPERF" --list-cmds | cut -f1)
mandoc=${MANDOC:-mandoc}

if have "$mandoc"; then
	for page in "$pages"/man?/*; do
		run "$mandoc" -Tlint -W warning "$page"
		is "lint $(basename "$page")" "$out$err" ""
	done
else
	skip "lint" "mandoc is not installed"
fi

# Options in a page stand as ".It Fl o , Fl -output".
page_options()
{
	sed -n 's/^\.It \(Fl .*\)/\1/p' "$1" | awk '{
		for (i = 1; i < NF; i++)
			if ($i == "Fl") print "-" $(i + 1)
	}' | sort -u
}

for cmd in $commands; do
	page=$pages/man1/ljperf-$cmd.1
	case $cmd in
	help | version) continue ;; # in ljperf.1
	esac
	page_options "$page" >described
	"$LJPERF" --list-opts "$cmd" | cut -f1 | grep -vx -e '-h' -e '--help' | sort -u >real
	is "options of $cmd that its page lacks" "$(comm -13 described real | tr '\n' ' ')" ""
	is "options in the page of $cmd that do not exist" "$(comm -23 described real | tr '\n' ' ')" ""
	like "ljperf(1) has the line about $cmd" "$(cat "$pages/man1/ljperf.1" | tr '\n' ' ')" \
		"*.It Cm $cmd $("$LJPERF" --list-cmds | sed -n "s/^$cmd	//p"); .Xr ljperf-$cmd 1*"
done
for cmd in $commands; do
	like "ljperf(1) names $cmd" "$(cat "$pages/man1/ljperf.1")" "*.It Cm $cmd*"
done

if have man; then
	run "$LJPERF" help record
	is "help record has status 0" "$status" 0
	like "help record shows the page" "$out" "*LJPERF-RECORD(1)*NAME*ljperf-record*"
	run "$LJPERF" help version
	like "help version shows ljperf(1)" "$out" "*LJPERF(1)*NAME*"
else
	skip "help record" "man is not installed"
fi
# Without man in the path the options are shown.
mkdir empty
run env PATH="$TMPDIR/empty" "$LJPERF" help record
like "help without man" "$status $out" "0 Usage: ljperf record *--output*"

finish
