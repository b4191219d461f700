/**
 * The completion script of each shell. All of them ask the program itself, so they never go stale. Errors are
 * suppressed, because a Tab key can't show them.
 */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# holdfast: completion for bash
_holdfast() {
  local words line
  words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # A run's step or checkpoint is one word for us, and several for bash.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    local cur prev cword all
    _get_comp_words_by_ref -n ':@=' -w all -i cword cur
    words=("\${all[@]:1:cword}")
  fi
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(holdfast completion __complete -- "\${words[@]}" 2>/dev/null)
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "\${words[-1]}"; fi
}
complete -o default -F _holdfast holdfast`,
  zsh: `#compdef holdfast
# holdfast: completion for zsh
_holdfast() {
  local -a found
  found=("\${(@f)$(holdfast completion __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = "_holdfast" ]; then _holdfast "$@"; else compdef _holdfast holdfast; fi`,
  fish: `# holdfast: completion for fish
function __holdfast_complete
  set -l words (commandline -opc) (commandline -ct)
  holdfast completion __complete -- $words[2..-1] 2>/dev/null
end
complete -c holdfast -a "(__holdfast_complete)"`,
};
