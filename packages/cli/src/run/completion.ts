/** Prints a script that completes the command line in a shell, generated from the table of commands. */
import { COMMON_OPTIONS } from "./args.ts"
import type { Command, OptionSpecs } from "../command.ts"
import { UsageError } from "../errors.ts"

export const COMPLETION_HELP: readonly string[] = [
  "Usage: sessions completion SHELL",
  "",
  "Prints a script that completes commands, options, ids and names of formats.",
  "SHELL is bash, zsh or fish:",
  "",
  "  bash  add to ~/.bashrc: source <(sessions completion bash)",
  "  zsh   add to ~/.zshrc, after compinit: source <(sessions completion zsh)",
  "  fish  sessions completion fish > ~/.config/fish/completions/sessions.fish",
]

const SHELLS: Readonly<Record<string, (commands: readonly Command[]) => readonly string[]>> = { bash, zsh, fish }

/** What the command knows beside the commands of the table. */
const BUILT_IN = {
  help: "explain a command",
  completion: "print a script that completes the command line in a shell",
}

/** The lines of the script. Throws a {@link UsageError} for a shell without one. */
export function completionScript(shell: string | undefined, commands: readonly Command[]): readonly string[] {
  const script = Object.hasOwn(SHELLS, shell ?? "") ? SHELLS[shell as string] : undefined
  if (script === undefined) {
    throw new UsageError("completion needs a shell, one of bash, zsh, fish: source <(sessions completion bash)")
  }
  return script(commands)
}

function bash(commands: readonly Command[]): readonly string[] {
  return [
    "_sessions() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}" words=""',
    "  COMPREPLY=()",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${[...namesOf(commands), ...Object.keys(BUILT_IN)].join(" ")}"`,
    `  elif [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; then words="${namesOf(commands).join(" ")}"`,
    `  elif [ "$COMP_CWORD" -eq 2 ] && [ "$command" = completion ]; then words="${Object.keys(SHELLS).join(" ")}"`,
    '  elif [[ "$current" == -* ]]; then',
    '    case "$command" in',
    ...commands.map((command) => `      ${command.name}) words="${flagsOf(command).join(" ")}" ;;`),
    "    esac",
    "  else",
    '    case "$command $previous" in',
    ...commands.flatMap((command) =>
      choicesOf(command).map(([name, choices]) => `      "${command.name} --${name}") words="${choices.join(" ")}" ;;`),
    ),
    // Behind the command, its first argument is a session.
    ...withIds(commands).map(({ name }) => `      "${name} ${name}") words="@last $(${IDS})" ;;`),
    "    esac",
    "  fi",
    '  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi',
    "}",
    // Without a match, and for arguments and values, the shell completes paths.
    "complete -o default -F _sessions sessions",
  ]
}

function zsh(commands: readonly Command[]): readonly string[] {
  return [
    "#compdef sessions",
    "_sessions() {",
    "  local -a commands=(",
    ...described(commands).map(([name, summary]) => `    ${quoted(`${name}:${summary}`)}`),
    "  )",
    "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
    "  case $words[2] in",
    "    help) _describe command commands ;;",
    `    completion) compadd ${Object.keys(SHELLS).join(" ")} ;;`,
    ...commands.map((command) => {
      const options = Object.entries(optionsOf(command)).map(([name, { type, value = "", choices, help }]) => {
        const values = choices === undefined ? "_files" : `(${choices.join(" ")})`
        return quoted(
          `--${name}[${help.replace(/[[\]:\\]/g, "\\$&")}]${type === "string" ? `:${value}:${values}` : ""}`,
        )
      })
      const id = takesId(command) ? ` '2:session:{compadd @last $(${IDS.replaceAll("'", "'\\''")})}'` : ""
      return `    ${command.name}) _arguments ${options.join(" ")}${id} '*:argument:_files' ;;`
    }),
    "  esac",
    "}",
    "compdef _sessions sessions",
  ]
}

function fish(commands: readonly Command[]): readonly string[] {
  const after = (name: string): string => `complete -c sessions -n '__fish_seen_subcommand_from ${name}'`
  return [
    ...described(commands).map(
      ([name, summary]) => `complete -c sessions -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ),
    `${after("help")} -f -a '${namesOf(commands).join(" ")}'`,
    `${after("completion")} -f -a '${Object.keys(SHELLS).join(" ")}'`,
    ...commands.flatMap((command) =>
      Object.entries(optionsOf(command)).map(
        ([name, { type, choices, help }]) =>
          `${after(command.name)} -l ${name}${type === "string" ? " -r" : ""}${choices === undefined ? "" : ` -f -a '${choices.join(" ")}'`} -d ${quoted(help)}`,
      ),
    ),
    ...withIds(commands).map(({ name }) => `${after(name)} -a ${quoted(`@last (${IDS})`)}`),
  ]
}

/** Prints the ids of the newest sessions, in each of the three shells: those of the objects two levels deep. */
const IDS = `sessions list --limit 200 --json 2>/dev/null | sed -n 's/^      "id": "\\([^"]*\\)",*$/\\1/p'`

function takesId({ args }: Command): boolean {
  return /^ID\b/.test(args[0] ?? "")
}

function withIds(commands: readonly Command[]): readonly Command[] {
  return commands.filter(takesId)
}

function choicesOf(command: Command): readonly (readonly [option: string, choices: readonly string[]])[] {
  return Object.entries(command.options).flatMap(([name, { choices }]) =>
    choices === undefined ? [] : [[name, choices]],
  )
}

function namesOf(commands: readonly Command[]): readonly string[] {
  return commands.map(({ name }) => name)
}

function described(commands: readonly Command[]): readonly (readonly [name: string, summary: string])[] {
  return [...commands.map(({ name, summary }) => [name, summary] as const), ...Object.entries(BUILT_IN)]
}

function flagsOf(command: Command): readonly string[] {
  return Object.keys(optionsOf(command)).map((name) => `--${name}`)
}

function optionsOf({ options }: Command): OptionSpecs {
  return { ...options, ...COMMON_OPTIONS }
}

/** In single quotes, for all three shells. Fish alone knows a backslash within them, and no text ends with one. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
