# completion.sh - completion in bash, asked as bash asks it.
. "$(dirname "$0")/lib.sh"

if ! have bash; then
	skip "completion in bash" "bash is not installed"
	finish
fi

# complete_words WORD...: what completes the last one, sorted, in one line.
complete_words()
{
	PATH=$(dirname "$LJPERF"):$PATH bash -c '
		. "$0/completion/ljperf.bash"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_ljperf
		printf "%s\n" "${COMPREPLY[@]}"' "$LJPERF_SOURCE" "$@" | sort | tr '\n' ' '
}

is "commands" "$(complete_words ljperf re)" "record report "
is "commands after help" "$(complete_words ljperf help sc)" "script "
is "no command" "$(complete_words ljperf zz)" " "
is "a long option" "$(complete_words ljperf record --outp)" "--output "
is "a value is no option" "$(complete_words ljperf record --output -)" " "
like "all options" "$(complete_words ljperf record -)" "*--output *-o *"
if have zsh; then
	holds "zsh can read its script" zsh -n "$LJPERF_SOURCE/completion/_ljperf"
else
	skip "completion in zsh" "zsh is not installed"
fi

finish
