#compdef ranklab ranklab-train ranklab-io ranklab-comm ranklab-data ranklab-doctor ranklab-report ranklab-compare ranklab-predict ranklab-sweep ranklab-campaign ranklab-results
# zsh completion of ranklab: made by `ranklab completion zsh` from the rows that --help shows.
#
# Each command and sub-command has a function that sets REPLY to what may follow, as in driver.bash.

_ranklab() {
  local REPLY='' node=_ranklab_ at
  [[ $service != ranklab-* ]] || node+=_${service#ranklab-}
  for ((at = 2; at < CURRENT; ++at)); do
    (($+functions[${node}_${words[at]}])) || break
    node+=_${words[at]}
  done
  if [[ $PREFIX == --*=* ]]; then
    $node ${PREFIX%%=*}
    compset -P '*='
  elif [[ ${words[CURRENT - 1]} == -* ]]; then
    $node ${words[CURRENT - 1]}
  fi
  if [[ -z $REPLY && $PREFIX == -* ]]; then
    $node options
  elif [[ -z $REPLY ]]; then
    $node words
  fi
  [[ $REPLY != words* ]] || compset -P '*,'
  case $REPLY in
    words*) compadd -- ${=REPLY#words} ;;
    files) _files ;;
    folders) _files -/ ;;
  esac
}
