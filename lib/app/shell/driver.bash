# bash completion of ranklab: made by `ranklab completion bash` from the rows that --help shows.
#
# Each command and sub-command has a function that sets REPLY to what may follow: "words A B",
# "files", "folders", or nothing. Its argument is `options` for all options, an option for that
# option's values ("" for a flag), or `words` for the other words of the command line.

_ranklab() {
  local IFS=$' \t\n' REPLY='' node=_ranklab_ at head='' program=${COMP_WORDS[0]##*/}
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # bash splits --option=value into three words.
  if [[ $current == = ]]; then
    current=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi

  [[ $program != ranklab-* ]] || node+=_${program#ranklab-}
  for ((at = 1; at < COMP_CWORD; ++at)); do
    declare -F "${node}_${COMP_WORDS[at]}" >/dev/null || break
    node+=_${COMP_WORDS[at]}
  done

  [[ $before != -* ]] || "$node" "$before"
  if [[ -z $REPLY && $current == -* ]]; then
    "$node" options
  elif [[ -z $REPLY ]]; then
    "$node" words
  fi

  [[ $current != *,* ]] || head=${current%,*},
  case $REPLY in
    words*) mapfile -t COMPREPLY < <(compgen -P "$head" -W "${REPLY#words}" -- "${current##*,}") ;;
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folders) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  [[ $REPLY == words* ]] || compopt -o filenames 2>/dev/null || :
}
