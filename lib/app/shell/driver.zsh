#compdef ranklab ranklab-train ranklab-io ranklab-data ranklab-doctor ranklab-report ranklab-compare ranklab-results
# zsh completion of ranklab: made by `ranklab completion zsh` from the rows that --help shows.

_ranklab() {
  if [[ $service == ranklab-* ]]; then
    _ranklab__${service#ranklab-}
  else
    _ranklab_
  fi
}

# A command of commands: its function's name, then "command:what it does" of each.
_ranklab_of_commands() {
  local node=$1 line state
  local -a commands=("${@:2}")
  _arguments -C '(- *)--help[what it does]' '(- *)--version[version, revision and build]' \
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest) if (($+functions[${node}_$line[1]])); then ${node}_$line[1]; fi ;;
  esac
}
