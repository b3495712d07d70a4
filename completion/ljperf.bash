# ljperf.bash - completion of ljperf in bash.  It knows no option by itself:
# ljperf prints them from the tables it parses with.

# The argument that option $2 of command $1 takes, empty for none.
_ljperf_argument()
{
	"${COMP_WORDS[0]}" --list-opts "$1" 2>/dev/null |
		while IFS= read -r line; do
			if [[ ${line%%$'\t'*} == "$2" ]]; then
				line=${line#*$'\t'}
				printf '%s\n' "${line%%$'\t'*}"
			fi
		done
}

_ljperf_words()
{
	COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_ljperf()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local cmd=${COMP_WORDS[1]} argument=

	COMPREPLY=()
	if ((COMP_CWORD == 1)) || { ((COMP_CWORD == 2)) && [[ $cmd == help ]]; }; then
		_ljperf_words "$("${COMP_WORDS[0]}" --list-cmds 2>/dev/null | cut -f1)" "$cur"
		return
	fi
	# "--name=value" comes as three words.
	if [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $cur == = ]]; then
		cur=
	fi
	[[ $prev == -* ]] && argument=$(_ljperf_argument "$cmd" "$prev")
	if [[ $argument == *'|'* ]]; then
		_ljperf_words "${argument//|/ }" "$cur"
	elif [[ -z $argument && $cur == -* ]]; then
		_ljperf_words "$("${COMP_WORDS[0]}" --list-opts "$cmd" 2>/dev/null | cut -f1)" "$cur"
	fi
	# Everything else is a file: "complete -o default" does that.
}

complete -o default -F _ljperf ljperf
